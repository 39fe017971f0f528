// What was seen in layers as a page and as JSON: structure first, then what may be read from it.

#include "io/json/writer.hpp"
#include "io/problem/problem_writer.hpp"
#include "show/pages/page.hpp"
#include "show/pages/page_parts.hpp"
#include "study/inspect/inspect.hpp"

namespace mha::study {
namespace {

constexpr Text inspect_title{"An attention layer, looked at from outside", "从外面看一个注意力层"};
constexpr Text structure_section{"Structure", "结构"};
constexpr Text reading_section{"What may be read from it", "可以怎样解读"};
constexpr Text table_section{"The heads", "各头"};
constexpr Text what_is_meant{
    "Means over all rows that have a key{0}: the entropy of a row (in nats; 0 where one key has all the weight), its "
    "largest weight, and the weights on the token itself, the previous and the first one. {1}",
    "对所有有可看的键的行{0}取平均：一行的熵（单位奈特；全部权重在一个键上时为 0）、最大的权重、"
    "对词元自己、前一个词元和第一个词元的权重。{1}"};
constexpr Text what_is_lost{
    "Then what is lost without the head: how far an entry of Y changes at most, and ‖Y − Y without it‖ / ‖Y‖.",
    "然后是去掉这个头的损失：Y 的元素的最大改变，以及 ‖Y − 去掉后的 Y‖ / ‖Y‖。"};
constexpr Text nothing_left{"It is the only head: none can be left out.", "只有这一个头，去掉后什么也不剩。"};
constexpr Text of_all_items{", of all {} items", "（共 {} 个样本）"};
constexpr Text without_head{"Y without head {}", "去掉头 {} 的 Y"};
constexpr Text largest_of_pairs{"largest difference of the weights of two heads", "两个头的注意力权重的最大差"};
constexpr Text in_all_layers{"In all {} layers", "所有 {} 层都如此"};
constexpr Index small_enough = 6;  // rows of Y without each head that stand before the findings

class InspectPage {
 public:
  explicit InspectPage(const show::PageOptions& options) : options_(options), page_(options.language, options.index_base) {}

  show::Document write(const Inspection& inspection, const std::vector<Problem>& problems) {
    std::size_t count = 0;
    page_.title(inspect_title);
    for (std::size_t i = 0; i < problems.size(); ++i) {
      page_.section({show::Words().quote(problems[i].title.in(options_.language))}, show::Section::Level::item);
      const Plan plan = make_plan(problems[i]);
      const Trace none;
      for (const LayerLook& look : inspection.problems[i])
        add({problems[i], plan, none, options_, static_cast<int>(&look - inspection.problems[i].data())}, look), ++count;
    }
    if (count > 1) page_.section({page_.say(in_all_layers, count)}, show::Section::Level::item);
    for (const bool structure : {true, false})
      if (count > 1) add_findings(inspection.all, structure);
    return page_.take();
  }

 private:
  void add(const show::Scene& scene, const LayerLook& look) {
    section(scene, structure_section);
    add_layer_facts(scene, page_);
    add_findings(look, true);
    section(scene, table_section);
    add_heads(look);
    section(scene, reading_section);
    add_findings(look, false);
  }

  void section(const show::Scene& scene, const Text& title) {
    std::vector<show::Words> parts{page_.say(title)};
    if (scene.is_stack())
      parts.emplace_back(page_.say(show::phrase::layer_of, page_.counted(scene.layer), scene.whole.layer_count()));
    page_.section(std::move(parts));
  }

  void add_findings(const LayerLook& look, bool structure) {
    for (const LayerFinding& finding : look.findings)
      if (finding.kind->structure == structure) page_.paragraph(show::Words(sentence_of(finding, options_)));
  }

  void add_heads(const LayerLook& look) {
    const Index batch = look.layer->batch(), heads = look.layer->heads;
    const std::string meaning = page_.say(what_is_meant, batch > 1 ? page_.say(of_all_items, batch) : std::string(),
                                          heads > 1 ? what_is_lost : nothing_left);
    if (meaning != std::exchange(meaning_told_, meaning)) page_.paragraph(show::Words(meaning));
    show::Table table{page_.header(Text{"head", "头"}), {}, {true}};
    const std::size_t measures = heads > 1 ? head_measures.size() : largest_change;
    for (std::size_t i = 0; i < measures; ++i) table.header.push_back(page_.say(head_measures[i].title));
    table.numeric.resize(table.header.size(), true);
    for (Index head = 0; head < heads; ++head) {
      table.rows.push_back({fmt::format("{}", page_.counted(head))});
      for (std::size_t i = 0; i < measures; ++i) {
        const Measured& number = look.heads[static_cast<std::size_t>(head)].measured[i];
        table.rows.back().emplace_back(number ? style_.text(*number) : "—");
      }
    }
    page_.add(std::move(table));
    Tensor differences({1, 1, heads, heads});
    differences.fill(0);
    for (const auto& [a, b, difference, same] : look.pairs)
      differences.at(0, 0, a, b) = differences.at(0, 0, b, a) = difference.value_or(0);
    const auto matrix_of = [&](const Tensor& numbers, Index item, std::string symbol) {
      if (numbers.shape().batch > 1) symbol += page_.say({", item {}", "，样本 {}"}, page_.counted(item));
      return show::View(numbers, item, 0, style_, options_.full).matrix(std::move(symbol));
    };
    if (heads > 2) page_.add(show::Equation{{matrix_of(differences, 0, page_.say(largest_of_pairs))}});
    if (heads == 1 || (look.layer->queries() > small_enough && !options_.full)) return;
    for (Index head = 0; head < heads; ++head)
      for (Index item = 0; item < batch; ++item) {
        const Tensor& without = look.heads[static_cast<std::size_t>(head)].without;
        show::Matrix matrix = matrix_of(without, item, page_.say(without_head, page_.counted(head)));
        show::add_labels(matrix, *look.layer, StepId::output, item);
        page_.add(show::Equation{{std::move(matrix)}});
      }
  }

  const show::PageOptions& options_;
  show::PageBuilder page_;
  std::string meaning_told_;
  show::NumberStyle style_{options_.precision, show::NumberStyle::Origin::computed};
};

// Null where it is NaN.
void write_measure(io::JsonWriter& json, std::string_view key, Measured number) {
  json.number(key, number && std::isnan(*number) ? Measured() : number);
}

void write_pairs_and_findings(io::JsonWriter& json, const LayerLook& look, const show::PageOptions& options) {
  json.begin_array("pairs");
  for (const PairLook& pair : look.pairs) {
    json.begin_object(io::Spread::line);
    json.integers("heads", std::array{pair.first + 1, pair.second + 1});
    write_measure(json, "weights_difference", pair.weights_difference);
    json.begin_array("same_projections", io::Spread::line);
    for (const std::string_view name : pair.same_projections) json.text(name);
    json.end();
    json.end();
  }
  json.end();
  json.begin_array("findings");
  for (const LayerFinding& finding : look.findings) {
    json.begin_object(io::Spread::line);
    json.text("id", finding.kind->id);
    json.text("text", sentence_of(finding, options));
    json.end();
  }
  json.end();
}

void write_layer(io::JsonWriter& json, Index layer, const LayerLook& look, const show::PageOptions& options) {
  json.begin_object();
  json.integer("layer", layer);
  json.begin_array("heads");
  for (std::size_t head = 0; head < look.heads.size(); ++head) {
    json.begin_object(io::Spread::line);
    json.integer("head", static_cast<Index>(head) + 1);
    for (std::size_t i = 0; i < head_measures.size(); ++i) {
      if (i == largest_change) json.begin_object("ablation", io::Spread::line);
      write_measure(json, head_measures[i].key, look.heads[head].measured[i]);
    }
    json.end();
    json.end();
  }
  json.end();
  write_pairs_and_findings(json, look, options);
  json.end();
}

}  // namespace

show::Document describe(const Inspection& inspection, const std::vector<Problem>& problems,
                        const show::PageOptions& options) {
  return InspectPage(options).write(inspection, problems);
}

void write_inspection(io::Sink& sink, const Inspection& inspection, const std::vector<Problem>& problems,
                      const show::PageOptions& options) {
  io::JsonWriter json(sink);
  json.begin_file("mha-inspect");
  json.begin_array("problems");
  for (std::size_t i = 0; i < problems.size(); ++i) {
    json.begin_object();
    json.key("title");
    io::write_caption(json, problems[i].title);
    json.begin_array("layers");
    Index number = 0;
    for (const LayerLook& look : inspection.problems[i]) write_layer(json, ++number, look, options);
    json.end();
    json.end();
  }
  json.end();
  json.begin_object("over_all");
  write_pairs_and_findings(json, inspection.all, options);
  json.finish();
}

}  // namespace mha::study
