// The costs of a layer with their formulas and numbers, of all layers, and what does not stay equal with more heads.
#include "study/cost/cost.hpp"

#include <fmt/ranges.h>

#include "compute/cost.hpp"
#include "show/pages/page.hpp"
#include "study/cost/formula.hpp"

namespace mha::study {
namespace {

constexpr Text how_counted{
    "Counted from the shapes alone. A multiply-add is one product that is added to a sum; those of matrix products are "
    "counted, hidden entries among them. Exponentials are those of the softmax. n tokens, m keys, h heads, g key/value "
    "heads, f hidden units, b items.",
    "只按形状计数。一次乘加是把一个乘积加进和里；只计矩阵乘法，被遮住的元素也算在内。指数运算只计 softmax 中的。"
    "n 个词元，m 个键，h 个头，g 个键值头，f 个隐藏单元，b 个样本。"};
constexpr Text parameters_name{"parameters", "参数"};
constexpr Text layer_line{"layer {}", "第 {} 层"};
constexpr Text cache_total{"The cache of {} keys in all layers: {} bytes{}.", "{} 个键在所有层中的缓存：{} 字节{}。"};
constexpr Text shared_width{
    "Parameters and multiply-adds do not grow with h, for h·d_k = {0}·{1} = d_model = {2}. One head of width {2} has {3} "
    "parameters and {4} multiply-adds as well.",
    "参数和乘加不随 h 增加，因为 h·d_k = {0}·{1} = d_model = {2}。宽度为 {2} 的一个头同样有 {3} 个参数和 {4} 次乘加。"};
constexpr Text own_width{
    "h·d_k = {}·{} = {} is not d_model = {}: parameters and multiply-adds follow h·d_k, and more heads of this width mean "
    "more of both.",
    "h·d_k = {}·{} = {} 不等于 d_model = {}：参数和乘加取决于 h·d_k，头的宽度不变时，头越多两者越多。"};
constexpr Text grouped_width{"{} share {}: W_K, W_V and the cache are {} times smaller than without groups.",
                             "{}共用 {}：W_K、W_V 和缓存是不分组时的 1/{}。"};
constexpr Text grows_with_heads{
    "Exponentials and attention weights grow with h: {} exponentials against {} with one head, and {} bytes of weights "
    "against {}.",
    "指数运算和注意力权重随 h 增加：指数运算 {} 次，只有一个头时为 {} 次；注意力权重 {} 字节，只有一个头时为 {} 字节。"};
constexpr Text only_one_head{
    "More heads of width d_model/h have as many parameters and multiply-adds, and h times the exponentials and attention "
    "weights.",
    "改用更多宽度为 d_model/h 的头，参数和乘加不变，指数运算和注意力权重则为 h 倍。"};
constexpr Text rank_of_scores{"A head's scores Q·Kᵀ have rank d_k = {} at most.{}",
                              "每个头的注意力分数 Q·Kᵀ 的秩至多为 d_k = {}。{}"};
constexpr Text not_always_better{" More heads of less width are not always better.", "头更多而更窄，未必更好。"};
constexpr Text model_column{"name", "名称"};

class CostPage {
 public:
  CostPage(const Cost& cost, Language language)
      : cost_(cost), layer_(cost.problem.layer(0)), names_(layer_, cost.plan), page_(language) {
    page_.title({"What attention costs", "注意力的开销"}, cost.problem.title);
    add_sizes();
    page_.paragraph(how_counted);
  }

  show::Document write() {
    add_parameters();
    add_multiply_adds();
    add_kept();
    if (cost_.layer_count > 1) add_all_layers();
    add_heads(layer_.heads * layer_.d_k() == layer_.d_model());
    return page_.take();
  }

  show::Document compare(const std::vector<OtherCost>& others) {
    std::vector<Line> lines;
    const std::size_t equals = others.front().change.find('=');
    bool other_heads = false, other_widths = false;
    for (const OtherCost& other : others) {
      other_heads = other_heads || other.cost->problem.layer(0).heads != layer_.heads;
      other_widths = other_widths || other.cost->problem.layer(0).d_k() != layer_.d_k();
    }
    const auto add = [&](const std::string& name, const Cost& cost) {
      const std::string width = page_.say(show::phrase::clause) + fmt::format("d_k {}", cost.problem.layer(0).d_k());
      lines.push_back({others.size() > 3 ? name.substr(equals + 1) : other_heads ? name + width : name, cost.first()});
    };
    if (cost_.layer_count > 1) page_.section({page_.say(cost_.is_alike() ? Text{"Each layer", "每一层"} : layer_line, 1)});
    if (others.size() == 1) add(page_.say({"as it is", "原样"}), cost_);
    for (const OtherCost& other : others) add(other.change, *other.cost);
    add_lines(others.front().change.substr(0, equals), lines);
    add_heads(other_heads && other_widths);
    return page_.take();
  }

 private:
  void add_sizes() {
    show::Facts facts;
    const auto count = [&](Index number, const Text& one, const Text& many) {
      facts.parts.emplace_back(number == 1 ? page_.say(one) : page_.say(many, number));
    };
    if (layer_.batch() > 1) facts.parts.emplace_back(page_.say(show::phrase::batch, layer_.batch()));
    count(layer_.queries(), show::phrase::one_token, show::phrase::tokens);
    if (layer_.X_kv) count(layer_.keys(), show::phrase::one_key, show::phrase::keys);
    facts.parts.emplace_back(fmt::format("d_model {}", layer_.d_model()));
    count(layer_.heads, show::phrase::one_head, show::phrase::heads);
    if (layer_.kv_heads != layer_.heads) count(layer_.kv_heads, show::phrase::one_kv_head, show::phrase::kv_heads);
    facts.parts.emplace_back(fmt::format("d_k {}", layer_.d_k()));
    facts.parts.emplace_back(fmt::format("d_v {}", layer_.d_v()));
    if (cost_.layer_count > 1) facts.parts.emplace_back(page_.say(show::phrase::layers, cost_.layer_count));
    facts.parts.emplace_back(page_.say({"{}, {} bytes a number", "{}，每个数 {} 字节"}, cost_.type.name, cost_.type.bytes));
    page_.add(std::move(facts));
  }

  void section(const Text& text) {
    std::vector<show::Words> parts{page_.say(text)};
    if (!cost_.is_alike()) parts.emplace_back(page_.say(layer_line, 1));
    page_.section(std::move(parts));
  }

  // "4·d_model²", "4·512²", and what follows, where it says something new.
  void add_work(std::string what, const Formula& formula, const std::vector<show::Work::Line>& results) {
    show::Work work{std::move(what), {}};
    std::vector<show::Work::Line> lines{{"=", formula.symbols, {}}, {"=", formula.numbers, {}}};
    lines.insert(lines.end(), results.begin(), results.end());
    for (show::Work::Line& line : lines) {
      if (line.expression.empty()) continue;
      if (work.lines.empty() || work.lines.back().expression != line.expression)
        work.lines.push_back(std::move(line));
      else
        work.lines.back().remark = std::move(line.remark);
    }
    page_.add(std::move(work));
  }

  void add_count(std::string what, const Formula& formula, Index number, show::Words remark = {}) {
    add_work(std::move(what), formula, {{"=", grouped_digits(number), std::move(remark)}});
  }

  // "= 1,048,576 bytes = 1 MiB"; the formula counts numbers.
  void add_bytes(std::string what, Formula formula, Index bytes) {
    for (std::string* side : {&formula.symbols, &formula.numbers})
      if (!side->empty()) *side += fmt::format("·{}", cost_.type.bytes);
    add_work(std::move(what), formula,
             {{"=", page_.say({"{} bytes", "{} 字节"}, grouped_digits(bytes)), {}}, {"=", bytes_text(bytes), {}}});
  }

  // A row for each product with its size; the sum of all, as they are without their heads.
  Formula add_products(const Text& what, bool only_weights, Product (SizesByName::*factors)(const Step&) const) {
    show::Table table{page_.header(what, Text{"formula", "公式"}, Text{"in numbers", "代入数值"}, Text{"count", "个数"}),
                      {},
                      {false, false, false, true}};
    std::vector<Product> sum;
    for (const StepCost& cost : cost_.first().steps) {
      if (cost.step->op != Op::product) continue;
      const Value& second = cost_.plan.value(cost.step->in[1]);
      if (only_weights && second.role != Value::Role::weight) continue;
      const Product product = (names_.*factors)(*cost.step);
      const auto [symbols, numbers] = formula_of(product);
      table.rows.push_back({only_weights ? second.symbol : std::string(name_of(cost.step->id).id), symbols, numbers,
                            grouped_digits(only_weights ? second.shape.size() : cost.multiply_adds)});
      sum.push_back(names_.without_heads(product));
    }
    page_.add(std::move(table));
    return formula_of(sum);
  }

  void add_parameters() {
    section({"Parameters", "参数"});
    const Parameters& parameters = cost_.first().parameters;
    const Formula formula = add_products(Text{"matrix", "矩阵"}, true, &SizesByName::parameters);
    Index first = 0;
    for (const auto& [name, count] : parameters.matrices)
      if (name == "W_Q" || name == "W_K" || name == "W_V") first += count;
    const Index all = parameters.total - parameters.biases - parameters.norms;
    const std::string parts = first < all ? grouped_digits(first) + " + " + grouped_digits(all - first) : "";
    const std::string named = page_.say(layer_.mlp ? Text{"W_Q, W_K, W_V and the others", "W_Q、W_K、W_V 与其余"}
                                                   : Text{"W_Q, W_K, W_V and W_O", "W_Q、W_K、W_V 与 W_O"});
    std::vector<std::string> more;
    if (parameters.biases > 0)
      more.push_back(page_.say({"biases {} more", "偏置另有 {}"}, grouped_digits(parameters.biases)));
    if (parameters.norms > 0)
      more.push_back(page_.say({"norms {} more", "归一化另有 {}"}, grouped_digits(parameters.norms)));
    add_work(page_.say(parameters_name), formula,
             {{"=", parts, named},
              {"=", grouped_digits(all), fmt::to_string(fmt::join(more, page_.say(show::phrase::clause)))}});
  }

  void add_multiply_adds() {
    section({"Multiply-adds", "乘加"});
    const Formula sum = add_products(show::phrase::step, false, &SizesByName::multiply_adds);
    add_count(page_.say(figures[0].title), sum, cost_.first().totals.multiply_adds);
  }

  void add_kept() {
    section({"What is kept", "要保存的数"});
    show::Table table{page_.header(show::phrase::step, Text{"batch × heads × rows × columns", "批次 × 头 × 行 × 列"},
                                   Text{"bytes", "字节"}, figures[1].title),
                      {},
                      {}};
    table.numeric = {false, false, true, true};
    Formula entries;
    for (const StepCost& cost : cost_.first().steps) {
      const Shape& shape = cost.shape;
      if (cost.step->id == StepId::weights) entries = formula_of(names_.entries(cost.step->out));
      table.rows.push_back({std::string(name_of(cost.step->id).id),
                            fmt::format("{}×{}×{}×{}", shape.batch, shape.heads, shape.rows, shape.cols),
                            grouped_digits(cost.bytes), cost.exponentials > 0 ? grouped_digits(cost.exponentials) : ""});
    }
    page_.add(std::move(table));
    const Totals& totals = cost_.first().totals;
    const Index numbers = totals.cache_bytes_per_token / cost_.type.bytes;
    add_count(page_.say(figures[1].title), entries, totals.exponentials);
    add_bytes(page_.say(figures[2].title), entries, totals.weights_bytes);
    add_bytes(page_.say(figures[3].title), {}, totals.all_steps_bytes);
    add_count(page_.say(figures[4].title), formula_of(names_.cache()), numbers,
              page_.say({"keys and values in a layer", "每层的键和值"}));
    add_bytes(page_.say({"in bytes", "按字节计"}), {grouped_digits(numbers), grouped_digits(numbers)},
              totals.cache_bytes_per_token);
  }

  struct Line {
    std::string name;
    LayerCost cost;
  };

  // In a narrow column, what has more than 12 digits is told by its first four.
  static std::string figure_text(const Figure& figure, const LayerCost& cost, bool narrow) {
    const Index number = cost.totals.*figure.number;
    const std::string unit = figure.in_bytes ? bytes_text(number) : "";
    if (!unit.empty()) return unit;
    return narrow && number >= Index(1e12) ? fmt::format("{:.4g}·10¹²", static_cast<double>(number) / 1e12)
                                           : grouped_digits(number);
  }

  // Of few, the figures stand below each other; of many, beside each other, and what is equal in all is told below.
  void add_lines(const std::string& header, const std::vector<Line>& lines) {
    const bool few = lines.size() <= 3;
    show::Table table{{few ? "" : header}, {}, {!few}};
    std::string equal;
    for (const Line& line : lines) few ? table.header.push_back(line.name) : table.rows.push_back({line.name});
    const auto figure = [&](const std::string& name, const auto& text) {
      std::vector<show::Words> cells{name};
      for (const Line& line : lines) cells.emplace_back(text(line.cost));
      const auto is_first = [&](const Line& line) { return text(line.cost) == text(lines.front().cost); };
      if (few) return table.rows.push_back(std::move(cells));
      if (std::all_of(lines.begin(), lines.end(), is_first)) {
        equal += (equal.empty() ? "" : page_.say(show::phrase::semicolon)) + name + " " + text(lines.front().cost);
        return;
      }
      table.header.push_back(name);
      for (std::size_t i = 0; i < lines.size(); ++i) table.rows[i].push_back(cells[i + 1]);
    };
    figure(page_.say(parameters_name), [](const LayerCost& cost) { return grouped_digits(cost.parameters.total); });
    for (const Figure& row : figures)
      if (few || row.number != &Totals::all_steps_bytes)
        figure(page_.say(row.title), [&](const LayerCost& cost) { return figure_text(row, cost, !few); });
    table.numeric.resize(table.header.size(), true);
    page_.add(std::move(table));
    if (!equal.empty()) page_.paragraph({"Equal in all lines: {}.", "各行都相同：{}。"}, equal);
  }

  void add_all_layers() {
    page_.section({page_.say({"All layers", "所有层"})});
    std::vector<Line> lines;
    for (const LayerCost& layer : cost_.layers) lines.push_back({fmt::format("{}", lines.size() + 1), layer});
    if (lines.size() <= 2)
      for (Line& line : lines) line.name = page_.say(cost_.is_alike() ? Text{"a layer", "每层"} : layer_line, line.name);
    lines.push_back({page_.say({"all {}", "全部 {} 层"}, cost_.layer_count), {}});
    lines.back().cost.parameters.total = cost_.all_parameters;
    lines.back().cost.totals = cost_.all;
    add_lines(page_.say(Text{"layer", "层"}), lines);
    const Index cache = compute::exact_product({cost_.all.cache_bytes_per_token, layer_.keys(), layer_.batch()});
    const std::string unit = bytes_text(cache);
    const std::string items = layer_.batch() > 1 ? grouped_digits(layer_.batch()) + " × " : "";
    page_.paragraph(cache_total, items + grouped_digits(layer_.keys()), grouped_digits(cache),
                    unit.empty() ? "" : " = " + unit);
  }

  // `share_width`: more heads are narrower ones.
  void add_heads(bool share_width) {
    page_.section({page_.say({"What stays equal with more heads, and what does not", "头数增加时，什么不变，什么会变"})});
    const Index h = layer_.heads, g = layer_.kv_heads, d_k = layer_.d_k(), d = layer_.d_model();
    const Totals& totals = cost_.first().totals;
    if (h * d_k != d)
      page_.paragraph(own_width, h, d_k, grouped_digits(h * d_k), grouped_digits(d));
    else if (h == 1)
      page_.paragraph(only_one_head);
    else if (g == h && layer_.d_v() == d_k && cost_.is_alike())
      add_one_head();
    if (g != h)
      page_.paragraph(grouped_width, page_.say(show::phrase::heads, h),
                      g == 1 ? page_.say(show::phrase::one_kv_head) : page_.say(show::phrase::kv_heads, g), h / g);
    if (h > 1)
      page_.paragraph(grows_with_heads, grouped_digits(totals.exponentials), grouped_digits(totals.exponentials / h),
                      grouped_digits(totals.weights_bytes), grouped_digits(totals.weights_bytes / h));
    page_.paragraph(rank_of_scores, d_k, share_width ? not_always_better : Text{});
  }

  void add_one_head() {
    Sizes sizes;
    sizes.heads = 1;
    const auto one = cost_of(shaped(cost_.problem, sizes), cost_.type);
    page_.paragraph(shared_width, layer_.heads, layer_.d_k(), layer_.d_model(),
                    grouped_digits(one->first().parameters.total), grouped_digits(one->first().totals.multiply_adds));
  }

  const Cost& cost_;
  const Problem& layer_;  // the first
  SizesByName names_;
  show::PageBuilder page_;
};

}  // namespace

show::Document cost_page(const Cost& cost, Language language) {
  return CostPage(cost, language).write();
}

show::Document cost_comparison(const Cost& cost, const std::vector<OtherCost>& others, Language language) {
  return CostPage(cost, language).compare(others);
}

show::Document models_page(Language language) {
  show::PageBuilder page(language);
  page.title({"Published shapes of attention", "已发表模型的注意力形状"});
  show::Table table{{page.say(model_column), page.say(Text{"layers", "层数"}), "d_model", "h", "g", "d_k", "h·d_k",
                     page.say(Text{"parameters a layer", "每层参数"})},
                    {},
                    {false, true, true, true, true, true, true, true}};
  show::Table sources{page.header(model_column, Text{"source", "来源"}), {}};
  Sizes sizes;
  sizes.tokens = 1;
  for (const PublishedModel& model : models) {
    const auto cost = cost_of(problem_of(model, false, sizes), number_types.front());
    const Index width = model.heads * model.d_k;
    std::vector<show::Words> row{std::string(model.name)};
    for (const Index number : {model.layers, model.d_model, model.heads, model.kv_heads, model.d_k})
      row.emplace_back(fmt::format("{}", number));
    row.emplace_back(fmt::format("{}{}", width, width == model.d_model ? " " : "*"));
    row.emplace_back(grouped_digits(cost->first().parameters.total));
    table.rows.push_back(std::move(row));
    sources.rows.push_back({std::string(model.name), std::string(model.source)});
  }
  page.add(std::move(table));
  page.paragraph({"* h·d_k is not d_model: the heads are wider or narrower than d_model/h.",
                  "* h·d_k 不等于 d_model：头比 d_model/h 更宽或更窄。"});
  page.paragraph(
      {"Parameters of the four projections, biases among them; `mha cost --model NAME --tokens N` tells the rest.",
       "只计四个投影的参数，偏置也算在内；其余见 `mha cost --model NAME --tokens N`。"});
  page.add(std::move(sources));
  return page.take();
}

}  // namespace mha::study
