// Decoding as a page: a section for each step, and at the end what the cache has saved.

#include "show/pages/page_parts.hpp"
#include "study/cost/formula.hpp"
#include "study/decode/decode.hpp"

namespace mha::study {
namespace {

constexpr Text one_after_another{
    "Each step has the new rows of X alone and reads the keys and values of earlier tokens from a cache. Within a step all "
    "heads are computed at once, but step t+1 needs the token that step t wrote; here its row of X is given.",
    "每一步只计算 X 的新行，前面词元的键和值从缓存读取。在同一步里，各个头是同时计算的；但第 t+1 步要用到第 t "
    "步写出的词元，这里由题目给出它在 X 中的行。"};
constexpr Text token{"token {0}", "词元 {0}"};
constexpr Text prompt_tokens{"the prompt, tokens {0}", "提示，词元 {0}"};
constexpr Text leaving{"window: leaving the cache, since no later query can see {}: {} {}",
                       "窗口：离开缓存，因为后面的查询都看不到：键 {2}"};
constexpr Text projected{"rows projected to Q, K and V", "投影成 Q、K、V 的行"};
constexpr Text multiply_adds_name{"multiply-adds", "乘加"};
constexpr Text without_means{"Without the cache each step would compute all rows up to its own again: {}.",
                             "没有缓存，每一步都要把到自己为止的所有行重新计算：{}。"};
constexpr Text cache_size{"Cache at the end: {} numbers, of each kept token d_k + d_v for each key/value head{}.",
                          "缓存最后有 {} 个数：每个保留的词元，每个键值头 d_k + d_v 个{}。"};
constexpr Text in_each_layer{" of each layer", "，每层都有"};
constexpr Text differs{"Largest difference to the rows that `mha run` computes at once: {}.",
                       "与 `mha run` 一次算出的各行的最大差：{}。"};
constexpr Text not_comparable{"Not comparable, since they hold NaN here and in `mha run`: rows {}.",
                              "第 {} 行中有 NaN，在 `mha run` 中也是，因此无法比较。"};

void add_step(const DecodedStep& step, const show::Scenes& layers, const show::Words& heading, show::PageBuilder& page) {
  const show::Scene& scene = layers.front();
  const Index next = step.first + step.count, base = scene.options.index_base;
  show::Words tokens(page.say(step.count == 1 ? token : prompt_tokens, show::range_text(step.first, next - 1, base)));
  if (const auto& labels = show::labels_of(scene.problem, show::Axis::queries, 0); step.count == 1 && !labels.empty())
    tokens.append(show::say_words(page.language(), show::phrase::in_parentheses,
                                  {show::Words().quote(labels[static_cast<std::size_t>(step.first)])}));
  page.section({heading, tokens}, show::Section::Level::item);
  show::add_item(layers, 0, page);
  for (const show::Scene& layer : layers) {
    const Index from = layer.past().dropped, to = dropped_before(layer.problem, next);
    const std::string where = layer.is_stack() ? page.say(show::phrase::in_layer, layer.counted(layer.layer)) : "";
    if (from < to)
      page.paragraph(where + page.say(leaving, to - from == 1 ? "it" : "them", to - from == 1 ? "key" : "keys",
                                      show::range_text(from, to - 1, base)));
  }
}

void add_savings(const Problem& problem, const Decoding& decoding, show::PageBuilder& page) {
  page.section({page.say({"What the cache saves", "缓存省了什么"})}, show::Section::Level::item);
  const auto row = [&](const Text& name, const Multiplied& pair) {
    return std::vector<show::Words>{page.say(name), grouped_digits(pair.cached), grouped_digits(pair.anew)};
  };
  page.add(show::Table{page.header(Text{}, Text{"with the cache", "有缓存"}, Text{"without", "无缓存"}),
                       {row(projected, decoding.projected_tokens), row(multiply_adds_name, decoding.multiply_adds)},
                       {false, true, true}});
  const auto lengths = [&](Index i) {
    const DecodedStep& step = decoding.steps[static_cast<std::size_t>(i)];
    return grouped_digits(step.first + step.count);
  };
  if (decoding.steps.size() > 1)
    page.paragraph(without_means, show::series_text(static_cast<Index>(decoding.steps.size()), 6, lengths) + " = " +
                                      grouped_digits(decoding.projected_tokens.anew));
  page.paragraph(cache_size, grouped_digits(decoding.cache_numbers), problem.layers.empty() ? "" : page.say(in_each_layer));
  page.paragraph(differs, show::full_text(decoding.difference));
  if (!decoding.rows_of_NaN.empty())
    page.warning(
        not_comparable,
        show::ranges_text(page.language(), {decoding.rows_of_NaN.begin(), decoding.rows_of_NaN.end()}, page.counted(0)));
}

}  // namespace

show::Document decoding_page(const Problem& problem, const Decoding& decoding, const show::PageOptions& options) {
  show::PageBuilder page(options.language, options.index_base);
  page.title({"Multi-head attention, token by token", "多头注意力，逐个词元"}, problem.title);
  show::add_facts(show::scenes_of(problem, decoding.whole, decoding.run, options), page);
  page.paragraph(one_after_another);
  show::add_description(problem.description, page);
  if (const auto& item = options.chosen_item)
    page.section({page.say(show::phrase::item_of, page.counted(item->item), item->count)}, show::Section::Level::item);
  show::PageOptions of_step = options;
  if (options.sources != show::PageOptions::Sources::works) of_step.sources = show::PageOptions::Sources::none;
  for (std::size_t i = 0; i < decoding.steps.size(); ++i) {
    const DecodedStep& step = decoding.steps[i];
    of_step.parts.push_back(step.first);
    add_step(step, show::scenes_of(problem, step.plan, step.trace, of_step),
             page.say({"Step {} of {}", "第 {} 步（共 {} 步）"}, i + 1, decoding.steps.size()), page);
  }
  add_savings(problem, decoding, page);
  return page.take();
}

}  // namespace mha::study
