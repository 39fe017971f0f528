// The costs of a layer with their formulas and numbers, of all layers, and what does not stay equal with more heads.
#include "study/cost/cost_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "compute/cost.hpp"
#include "show/pages/page.hpp"
#include "study/cost/formula.hpp"

namespace mha::study {
namespace {

using show::Table;
using show::Words;

constexpr Text cost_title{"What attention costs", "注意力的开销"};
constexpr Text tokens_n{"tokens n = {}", "词元 n = {}"};
constexpr Text keys_m{"keys m = {}", "键 m = {}"};
constexpr Text heads_h{"heads h = {}", "头数 h = {}"};
constexpr Text groups_g{"key/value heads g = {}", "键值头 g = {}"};
constexpr Text batch_b{"batch b = {}", "批次 b = {}"};
constexpr Text layers_l{"layers {}", "层数 {}"};
constexpr Text hidden_f{"MLP f = {}", "MLP f = {}"};
constexpr Text number_size{"{}, {} bytes a number", "{}，每个数 {} 字节"};
constexpr Text how_counted{
    "Counted from the shapes alone. A multiply-add is one product that is added to a sum; those of matrix products are "
    "counted, hidden entries among them. Exponentials are those of the softmax.",
    "只按形状计数。一次乘加是把一个乘积加进和里；只计矩阵乘法，被遮住的元素也算在内。指数运算只计 softmax 中的。"};
constexpr Text parameters_section{"Parameters", "参数"};
constexpr Text multiply_section{"Multiply-adds", "乘加"};
constexpr Text kept_section{"What is kept", "要保存的数"};
constexpr Text layers_section{"All {} layers", "全部 {} 层"};
constexpr Text heads_section{"What stays equal with more heads, and what does not", "头数增加时，什么不变，什么会变"};
constexpr Text first_of_layers{"layer 1 of {}", "第 1 层（共 {} 层）"};
constexpr Text matrix_head{"matrix", "矩阵"};
constexpr Text formula_head{"formula", "公式"};
constexpr Text in_numbers{"in numbers", "代入数值"};
constexpr Text count_head{"count", "个数"};
constexpr Text bytes_head{"bytes", "字节"};
constexpr Text shape_head{"heads × rows × columns", "头 × 行 × 列"};
constexpr Text batch_shape_head{"batch × heads × rows × columns", "批次 × 头 × 行 × 列"};
constexpr Text exponentials_head{"exponentials", "指数运算"};
constexpr Text three_matrices{"W_Q, W_K, W_V", "W_Q、W_K、W_V"};
constexpr Text and_output{"{} and W_O", "{} 和 W_O"};
constexpr Text and_mlp{", MLP", "，以及 MLP"};
constexpr Text biases_line{"biases {} more", "偏置另有 {}"};
constexpr Text norms_line{"norms {} more", "归一化另有 {}"};
constexpr Text all_parameters_line{"parameters", "参数"};
constexpr Text cache_numbers{"numbers in a layer: keys and values", "每层的个数：键和值"};
constexpr Text in_bytes{"in bytes", "按字节计"};
constexpr Text some_bytes{"{} bytes", "{} 字节"};
constexpr Text equal_in_all{"Equal in all lines: {}.", "各行都相同：{}。"};
constexpr Text layer_of_head{"layer", "层"};
constexpr Text one_layer_head{"one layer", "一层"};
constexpr Text all_layers_head{"all layers", "所有层"};
constexpr Text cache_total{"The cache of {} tokens in all layers: {} bytes{}.", "{} 个词元在所有层中的缓存：{} 字节{}。"};
constexpr Text shared_width{
    "Parameters and multiply-adds do not grow with h, for h·d_k = {}·{} = d_model = {}. One head of width {} has {} "
    "parameters and {} multiply-adds as well.",
    "参数和乘加不随 h 增加，因为 h·d_k = {}·{} = d_model = {}。宽度为 {} 的一个头同样有 {} 个参数和 {} 次乘加。"};
constexpr Text own_width{
    "h·d_k = {}·{} = {} is not d_model = {}: parameters and multiply-adds follow h·d_k, and more heads of this width mean "
    "more of both.",
    "h·d_k = {}·{} = {} 不等于 d_model = {}：参数和乘加取决于 h·d_k，头的宽度不变时，头越多两者越多。"};
constexpr Text grouped_width{"{} share {}: W_K, W_V and the cache are {} times smaller than without groups.",
                             "{}共用 {}：W_K、W_V 和缓存是不分组时的 1/{}。"};
constexpr Text grows{
    "Exponentials and attention weights grow with h: {} exponentials against {} with one head, and {} bytes of weights "
    "against {}.",
    "指数运算和注意力权重随 h 增加：指数运算 {} 次，只有一个头时为 {} 次；注意力权重 {} 字节，只有一个头时为 {} 字节。"};
constexpr Text rank{"A head's scores Q·Kᵀ have rank d_k = {} at most. More heads of less width are not always better.",
                    "每个头的注意力分数 Q·Kᵀ 的秩至多为 d_k = {}。头更多而更窄，未必更好。"};
constexpr Text no_own_width{
    "With one head there is one attention for each query. More heads of width d_model/h cost as many "
    "parameters and multiply-adds, but h times the exponentials and attention weights.",
    "只有一个头时，每个查询只有一组权重。改用更多宽度为 d_model/h 的头，参数和乘加不变，"
    "指数运算和注意力权重则为 h 倍。"};
constexpr Text figure_head{"", ""};
constexpr Text this_head{"as it is", "原样"};
constexpr Text ratio_head{"ratio", "比"};
constexpr Text equal_ratio{"equal", "相同"};

class CostPage {
 public:
  CostPage(const Cost& cost, Language language)
      : cost_(cost), layer_(cost.problem.layer(0)), names_(layer_, cost.plan), page_(language) {
    page_.title(cost_title, cost.problem.title);
    add_facts();
    page_.paragraph(how_counted);
  }

  show::Document write() {
    add_parameters();
    add_multiply_adds();
    add_kept();
    if (cost_.layer_count > 1) add_all_layers();
    add_heads();
    return page_.take();
  }

  show::Document compare(const std::vector<OtherCost>& others) {
    others.size() == 1 ? add_pair(others.front()) : add_sweep(others);
    add_heads();
    return page_.take();
  }

 private:
  void add_facts() {
    show::Facts facts;
    const auto fact = [&](const Text& text, const auto&... parts) { facts.parts.emplace_back(page_.say(text, parts...)); };
    if (layer_.batch() > 1) fact(batch_b, layer_.batch());
    fact(tokens_n, layer_.queries());
    if (layer_.X_kv) fact(keys_m, layer_.keys());
    facts.parts.emplace_back(fmt::format("d_model = {}", layer_.d_model()));
    fact(heads_h, layer_.heads);
    if (layer_.kv_heads != layer_.heads) fact(groups_g, layer_.kv_heads);
    facts.parts.emplace_back(fmt::format("d_k = {}", layer_.d_k()));
    facts.parts.emplace_back(fmt::format("d_v = {}", layer_.d_v()));
    if (layer_.mlp) fact(hidden_f, layer_.mlp_width());
    if (cost_.layer_count > 1) fact(layers_l, cost_.layer_count);
    fact(number_size, cost_.type.name, cost_.type.bytes);
    page_.add(std::move(facts));
  }

  void section(const Text& text) {
    std::vector<Words> parts{page_.say(text)};
    if (!cost_.is_alike()) parts.emplace_back(page_.say(first_of_layers, cost_.layer_count));
    page_.section(std::move(parts));
  }

  // "4·d_model²", "4·512²", and what follows.
  static show::Work work_of(std::string what, const std::string& symbols, const std::string& numbers) {
    show::Work work{std::move(what), {{"=", symbols, {}}}};
    if (numbers != symbols) work.lines.push_back({"=", numbers, {}});
    return work;
  }

  void add_count(show::Work work, Index number, Words remark = {}) {
    const std::string text = grouped_digits(number);
    if (work.lines.back().expression != text) work.lines.push_back({"=", text, {}});
    work.lines.back().remark = std::move(remark);
    page_.add(std::move(work));
  }

  // "= 1,048,576 bytes = 1 MiB"
  void add_bytes(show::Work work, Index bytes) {
    work.lines.push_back({"=", page_.say(some_bytes, grouped_digits(bytes)), {}});
    if (const std::string unit = bytes_text(bytes); !unit.empty()) work.lines.push_back({"=", unit, {}});
    page_.add(std::move(work));
  }

  // A row for each product of which `factors` are the sizes; the sum of all as they are without their heads.
  template <typename Take>
  SumOfProducts add_products(const Text& what, Take take) {
    Table table{page_.header(what, formula_head, in_numbers, count_head), {}, {false, false, false, true}};
    SumOfProducts sum;
    for (const StepCost& step : cost_.first().steps)
      if (step.multiply_adds > 0) take(step, table, sum);
    page_.add(std::move(table));
    return sum;
  }

  static void add_row(Table& table, std::string name, const Factors& factors, Index number) {
    table.rows.push_back({std::move(name), symbols_of(factors), numbers_of(factors), grouped_digits(number)});
  }

  void add_parameters() {
    section(parameters_section);
    const Parameters& parameters = cost_.first().parameters;
    std::size_t i = 0;
    const SumOfProducts sum = add_products(matrix_head, [&](const StepCost& step, Table& table, SumOfProducts& all) {
      if (cost_.plan.value(step.step->in[1]).role != Value::Role::weight) return;
      const Factors factors = names_.parameters(*step.step);
      add_row(table, parameters.matrices[i].first, factors, parameters.matrices[i].second);
      all.add(names_.without_heads(factors));
      ++i;
    });
    show::Work work = work_of(page_.say(all_parameters_line), sum.symbols(), sum.numbers());
    add_parts(work, parameters);
    std::string more = parameters.biases > 0 ? page_.say(biases_line, grouped_digits(parameters.biases)) : "";
    if (!more.empty() && parameters.norms > 0) more += page_.say(show::phrase::clause);
    if (parameters.norms > 0) more += page_.say(norms_line, grouped_digits(parameters.norms));
    add_count(std::move(work), parameters.total - parameters.biases - parameters.norms, std::move(more));
  }

  // "= 1,769,472 + 589,824   W_Q, W_K, W_V and W_O"
  void add_parts(show::Work& work, const Parameters& parameters) {
    Index attention = 0, output = 0, mlp = 0;
    for (const auto& [name, count] : parameters.matrices)
      (name == "W_O" ? output : name == "W_Q" || name == "W_K" || name == "W_V" ? attention : mlp) += count;
    std::string text = grouped_digits(attention), names = page_.say(three_matrices);
    if (output > 0) text += " + " + grouped_digits(output), names = page_.say(and_output, names);
    if (mlp > 0) text += " + " + grouped_digits(mlp), names += page_.say(and_mlp);
    if (output > 0 || mlp > 0) work.lines.push_back({"=", text, std::move(names)});
  }

  void add_multiply_adds() {
    section(multiply_section);
    const SumOfProducts sum = add_products(show::phrase::step, [&](const StepCost& step, Table& table, SumOfProducts& all) {
      const Factors factors = names_.multiply_adds(*step.step);
      add_row(table, std::string(name_of(step.step->id).id), factors, step.multiply_adds);
      all.add(names_.without_heads(factors));
    });
    add_count(work_of(page_.say(figures[0].title), sum.symbols(), sum.numbers()), cost_.first().totals.multiply_adds);
  }

  std::string shape_text(const Shape& shape) const {
    const std::string matrix = fmt::format("{}×{}×{}", shape.heads, shape.rows, shape.cols);
    return layer_.batch() > 1 ? fmt::format("{}×{}", shape.batch, matrix) : matrix;
  }

  void add_kept() {
    section(kept_section);
    Table table{
        page_.header(show::phrase::step, layer_.batch() > 1 ? batch_shape_head : shape_head, bytes_head, exponentials_head),
        {},
        {false, false, true, true}};
    const StepCost* weights = nullptr;
    for (const StepCost& step : cost_.first().steps) {
      if (step.step->id == StepId::weights) weights = &step;
      table.rows.push_back({std::string(name_of(step.step->id).id), shape_text(step.shape), grouped_digits(step.bytes),
                            step.exponentials > 0 ? grouped_digits(step.exponentials) : ""});
    }
    page_.add(std::move(table));
    const Factors entries = names_.entries(weights->step->out), cache = names_.cache();
    const Totals& totals = cost_.first().totals;
    add_count(work_of(page_.say(exponentials_head), symbols_of(entries), numbers_of(entries)), totals.exponentials);
    add_bytes(bytes_of(page_.say(figures[2].title), symbols_of(entries), numbers_of(entries)), totals.weights_bytes);
    add_bytes(show::Work{page_.say(figures[3].title), {}}, totals.all_steps_bytes);
    const Index numbers = totals.cache_bytes_per_token / cost_.type.bytes;
    add_count(work_of(page_.say(figures[4].title), symbols_of(cache), numbers_of(cache)), numbers,
              page_.say(cache_numbers));
    const std::string text = grouped_digits(numbers);
    add_bytes(bytes_of(page_.say(in_bytes), text, text), totals.cache_bytes_per_token);
  }

  show::Work bytes_of(std::string what, const std::string& symbols, const std::string& numbers) const {
    const auto times = [&](const std::string& text) { return fmt::format("{}·{}", text, cost_.type.bytes); };
    return work_of(std::move(what), times(symbols), times(numbers));
  }

  std::string figure_text(const Figure& figure, const Totals& totals) const {
    const Index number = totals.*figure.number;
    const std::string unit = figure.in_bytes ? bytes_text(number) : "";
    return unit.empty() ? grouped_digits(number) : unit;
  }

  // Layers that are alike are told once, others line by line.
  void add_all_layers() {
    page_.section({page_.say(layers_section, cost_.layer_count)});
    Table table{page_.header(figure_head), {}, {false, true, true}};
    if (cost_.is_alike()) {
      table.header.push_back(page_.say(one_layer_head));
    } else {
      std::vector<Line> lines;
      for (std::size_t i = 0; i < cost_.layers.size(); ++i)
        lines.push_back({fmt::format("{}", i + 1), cost_.problem.layer(static_cast<int>(i)), cost_.layers[i]});
      add_lines(page_.say(layer_of_head), lines);
    }
    table.header.push_back(page_.say(all_layers_head));
    const auto row = [&](std::string name, std::string one, std::string all) {
      table.rows.push_back({std::move(name)});
      if (cost_.is_alike()) table.rows.back().emplace_back(std::move(one));
      table.rows.back().emplace_back(std::move(all));
    };
    row(page_.say(all_parameters_line), grouped_digits(cost_.first().parameters.total),
        grouped_digits(cost_.all_parameters));
    for (const Figure& figure : figures)
      row(page_.say(figure.title), figure_text(figure, cost_.first().totals), figure_text(figure, cost_.all));
    page_.add(std::move(table));
    const Index cache = compute::exact_product({cost_.all.cache_bytes_per_token, layer_.keys()});
    const std::string unit = bytes_text(cache);
    page_.paragraph(cache_total, grouped_digits(layer_.keys()), grouped_digits(cache), unit.empty() ? "" : " = " + unit);
  }

  void add_heads() {
    page_.section({page_.say(heads_section)});
    const Index h = layer_.heads, d_k = layer_.d_k(), d = layer_.d_model();
    const Totals& totals = cost_.first().totals;
    if (h * d_k != d)
      page_.paragraph(own_width, h, d_k, grouped_digits(h * d_k), grouped_digits(d));
    else if (h == 1)
      page_.paragraph(no_own_width);
    else if (layer_.kv_heads == h && layer_.d_v() == d_k && cost_.is_alike())
      add_one_head();
    if (layer_.kv_heads != h) {
      const Index g = layer_.kv_heads;
      page_.paragraph(grouped_width, page_.say(show::phrase::heads, h),
                      g == 1 ? page_.say(show::phrase::one_kv_head) : page_.say(show::phrase::kv_heads, g), h / g);
    }
    if (h > 1)
      page_.paragraph(grows, grouped_digits(totals.exponentials), grouped_digits(totals.exponentials / h),
                      grouped_digits(totals.weights_bytes), grouped_digits(totals.weights_bytes / h));
    page_.paragraph(rank, d_k);
  }

  void add_one_head() {
    Sizes sizes;
    sizes.heads = 1;
    const auto one = cost_of(shaped(cost_.problem, sizes), cost_.type);
    page_.paragraph(shared_width, layer_.heads, layer_.d_k(), layer_.d_model(), layer_.d_model(),
                    grouped_digits(one->first().parameters.total), grouped_digits(one->first().totals.multiply_adds));
  }

  std::string ratio(Index left, Index right) const {
    if (left == right) return page_.say(equal_ratio);
    if (left == 0 || right == 0) return "";
    const double quotient = static_cast<double>(right) / static_cast<double>(left);
    return quotient < 1 ? fmt::format("1/{:.4g}", 1 / quotient) : fmt::format("{:.4g}", quotient);
  }

  // Of one layer, as figures one below the other.
  void add_pair(const OtherCost& other) {
    Table table{page_.header(figure_head, this_head), {}, {false, true, true, true}};
    table.header.push_back(other.change);
    table.header.push_back(page_.say(ratio_head));
    const LayerCost &left = cost_.first(), &right = other.cost->first();
    const auto row = [&](std::string name, Index a, Index b) {
      table.rows.push_back({std::move(name), grouped_digits(a), grouped_digits(b), ratio(a, b)});
    };
    row(page_.say(all_parameters_line), left.parameters.total, right.parameters.total);
    for (const Figure& figure : figures)
      row(page_.say(figure.title) + (figure.in_bytes ? page_.say(show::phrase::clause) + page_.say(bytes_head) : ""),
          left.totals.*figure.number, right.totals.*figure.number);
    page_.add(std::move(table));
  }

  void add_sweep(const std::vector<OtherCost>& others) {
    std::vector<Line> lines;
    const std::size_t equals = others.front().change.find('=');
    for (const OtherCost& other : others)
      lines.push_back({other.change.substr(equals + 1), other.cost->problem.layer(0), other.cost->first()});
    add_lines(others.front().change.substr(0, equals), lines);
  }

  struct Line {
    std::string name;
    const Problem& problem;
    const LayerCost& cost;
  };

  // What is equal in all lines is told below them.
  void add_lines(std::string header, const std::vector<Line>& lines) {
    Table table{{std::move(header)}, {}, {true}};
    for (const Line& line : lines) table.rows.push_back({line.name});
    std::string equal;
    const auto column = [&](std::string name, const auto& text) {
      std::vector<std::string> cells;
      for (const Line& line : lines) cells.push_back(text(line));
      if (std::count(cells.begin(), cells.end(), cells.front()) == std::ssize(cells)) {
        equal += (equal.empty() ? "" : page_.say(show::phrase::semicolon)) + name + " " + cells.front();
        return;
      }
      table.header.push_back(std::move(name));
      table.numeric.push_back(true);
      for (std::size_t i = 0; i < cells.size(); ++i) table.rows[i].emplace_back(cells[i]);
    };
    column("d_k", [](const Line& line) { return fmt::format("{}", line.problem.d_k()); });
    column(page_.say(all_parameters_line), [](const Line& line) { return grouped_digits(line.cost.parameters.total); });
    for (const Figure& figure : figures)
      if (figure.number != &Totals::all_steps_bytes)
        column(page_.say(figure.title), [&](const Line& line) { return figure_text(figure, line.cost.totals); });
    page_.add(std::move(table));
    if (!equal.empty()) page_.paragraph(equal_in_all, equal);
  }

  const Cost& cost_;
  const Problem& layer_;  // the first
  SizesByName names_;
  show::PageBuilder page_;
};

constexpr Text models_title{"Published shapes of attention", "已发表模型的注意力形状"};
constexpr Text model_head{"name", "名称"};
constexpr Text layers_head{"layers", "层数"};
constexpr Text parameters_head{"parameters a layer", "每层参数"};
constexpr Text source_head{"source", "来源"};
constexpr Text not_d_model{"* h·d_k is not d_model: the heads are wider or narrower than d_model/h.",
                           "* h·d_k 不等于 d_model：头比 d_model/h 更宽或更窄。"};
constexpr Text counted_parameters{
    "Parameters of the attention alone, biases among them; `mha cost --model NAME --tokens N` "
    "tells the rest.",
    "只计注意力的参数，偏置也算在内；其余见 `mha cost --model NAME --tokens N`。"};

Sizes one_token() {
  Sizes sizes;
  sizes.tokens = 1;
  return sizes;
}

}  // namespace

show::Document cost_page(const Cost& cost, Language language) {
  return CostPage(cost, language).write();
}

show::Document cost_comparison(const Cost& cost, const std::vector<OtherCost>& others, Language language) {
  return CostPage(cost, language).compare(others);
}

show::Document models_page(Language language) {
  show::PageBuilder page(language);
  page.title(models_title);
  Table table{page.header(model_head, layers_head), {}, {false, true, true, true, true, true, true, true}};
  table.header.insert(table.header.end(), {"d_model", "h", "g", "d_k", "h·d_k", page.say(parameters_head)});
  Table sources{page.header(model_head, source_head), {}};
  for (const PublishedModel& model : models) {
    const auto cost = cost_of(problem_of(model, false, one_token()), number_types.front());
    const auto text = [](Index number) { return fmt::format("{}", number); };
    const Index width = model.heads * model.d_k;
    table.rows.push_back({std::string(model.name), text(model.layers), text(model.d_model), text(model.heads),
                          text(model.kv_heads), text(model.d_k), text(width) + (width == model.d_model ? " " : "*"),
                          grouped_digits(cost->first().parameters.total)});
    sources.rows.push_back({std::string(model.name), std::string(model.source)});
  }
  page.add(std::move(table));
  page.paragraph(not_d_model);
  page.paragraph(counted_parameters);
  page.add(std::move(sources));
  return page.take();
}

}  // namespace mha::study
