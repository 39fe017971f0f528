// One step of the page.
#include "show/pages/page_parts.hpp"

#include "show/pages/numpy_code.hpp"
#include "show/pages/spelling.hpp"
#include "show/words/notation.hpp"

namespace mha::show {
namespace {

// "a, b, c, …, z"; item(i) is the text of the i-th.
template <typename Item>
std::string enumerated(Language language, Index count, Item item, const Text& between = phrase::comma) {
  return series_text(count, 4, item, say(language, between));
}

// "√d_k = √2 = 1.414"; nothing where the factor is no single number.
Words factor_text(const Scene& scene, const Step& step) {
  const std::optional<Scaling> scaling = scaling_of(scene, step);
  if (!scaling) return {};
  if (scaling->name == "scale") return say(scene.options.language, phrase::own_scale, scaling->number);
  std::string text = scaling->name + " = " + scaling->number;
  if (scaling->number.rfind("√", 0) != 0) return text;
  const NumberStyle style(scene.options.precision, NumberStyle::Origin::given);
  return text + " = " + style.text(1 / scene.plan.value(step.in[1]).constant->data()[0]);
}

// "positions 0, 1, 2; columns 1 and 3, 2 and 4 turn together"
std::string rotation_text(const Scene& scene, const Step& step) {
  const Language language = scene.options.language;
  const Index pairs = scene.plan.value(step.in[1]).shape.cols;
  const std::string positions = enumerated(language, scene.plan.value(step.out).shape.rows,
                                           [&](Index row) { return fmt::format("{}", position_of_row(scene, step, row)); });
  const std::string columns = enumerated(language, pairs, [&](Index t) {
    const Columns pair = columns_of_pair(step.pairing, t, pairs);
    return say(language, {"{} and {}", "{} 与 {}"}, scene.counted(pair.first), scene.counted(pair.second));
  });
  return say(language, {"position{2} {0}; columns {1} turn together", "位置 {0}；第 {1} 列成对旋转"}, positions, columns,
             scene.plan.value(step.out).shape.rows == 1 ? "" : "s");
}

// The split that follows a packed product, told where all its columns stand.
void add_split(const Scene& scene, const Step& split, std::vector<Words>& captions) {
  const Shape& shape = scene.plan.value(split.out).shape;
  const Language language = scene.options.language;
  if (shape.heads == 1) return;
  captions.emplace_back(say(language, phrase::split_first, fmt::format("{}×{}", shape.rows, shape.heads * shape.cols),
                            fmt::format("{}×{}×{}", shape.rows, shape.heads, shape.cols),
                            fmt::format("{}×{}×{}", shape.heads, shape.rows, shape.cols)));
  const Index group = scene.problem.heads / shape.heads;
  captions.emplace_back(enumerated(
      language, shape.heads,
      [&](Index own) {
        const std::string columns = say(language, shape.cols == 1 ? phrase::column_goes : phrase::columns_go,
                                        split_columns(scene, split, own * group));
        return say(language, group == 1 ? phrase::split_to : phrase::split_to_kv, columns, scene.counted(own));
      },
      phrase::clause));
}

std::string shared_text(const Scene& scene, Place place) {
  const Index group = scene.problem.heads / scene.problem.kv_heads, own = kv_head(scene.problem, place.head);
  return say(scene.options.language, {"key/value head {}, shared by heads {}", "键值头 {}，由头 {} 共用"},
             scene.counted(own), range_text(own * group, (own + 1) * group - 1, scene.options.index_base));
}

// "left out, unless --full: rows 4–997 of X"; empty where every matrix is shown whole.
Words left_out_caption(const Scene& scene, const Equation& equation) {
  const Language language = scene.options.language;
  const auto range = [&](const Shown& shown) {
    return range_text(shown.before, shown.size - shown.after - 1, scene.options.index_base);
  };
  std::string list;
  for (const Equation::Part& part : equation.parts) {
    const auto* matrix = std::get_if<Matrix>(&part);
    if (matrix == nullptr || (matrix->rows.all() && matrix->columns.all())) continue;
    if (!list.empty()) list += say(language, phrase::semicolon);
    if (matrix->columns.all())
      list += say(language, {"rows {} of {}", "{1} 的第 {0} 行"}, range(matrix->rows), matrix->symbol);
    else if (matrix->rows.all())
      list += say(language, {"columns {} of {}", "{1} 的第 {0} 列"}, range(matrix->columns), matrix->symbol);
    else
      list += say(language, phrase::left_out_both, range(matrix->rows), range(matrix->columns), matrix->symbol);
  }
  return list.empty() ? Words() : Words(say(language, phrase::left_out, list));
}

void add_equation(const Scene& scene, std::optional<Equation> equation, PageBuilder& page) {
  if (!equation) return;
  Words left_out = left_out_caption(scene, *equation);
  page.add(std::move(*equation));
  page.caption(std::move(left_out));
}

void add_every_entry(const Spelling& spelling, PageBuilder& page) {
  const Shown rows = spelling.result().shown_rows(), columns = spelling.result().shown_columns();
  for (Index row = 0; row < rows.count(); ++row)
    for (Index column = 0; column < columns.count(); ++column)
      page.add(spelling.spell({rows.place(row), columns.place(column)}));
}

// Of every shown entry of the result how it is computed, from which entries.
void add_sources(const Scene& scene, const Step& step, Place place, const Spelling& spelling, Sources& sources) {
  sources.code = numpy_code(scene, step, place);
  const Shown rows = spelling.result().shown_rows(), columns = spelling.result().shown_columns();
  for (Index row = 0; row < rows.count(); ++row)
    for (Index column = 0; column < columns.count(); ++column) {
      const EntryAt at{rows.place(row), columns.place(column)};
      if (scene.options.sources == PageOptions::Sources::formulas)
        sources.formulas.push_back(cell_formula(scene, step, spelling, at));
      if (scene.options.sources != PageOptions::Sources::works) continue;
      sources.works.push_back(spelling.spell_in_full(at));
      std::vector<EntryName>& reads = sources.reads.emplace_back();
      for (const ReadEntry& read : spelling.shown_entries_read(at))
        reads.push_back({typed_name(scene, step.in[read.operand], read.place), scene.counted(read.at.row),
                         scene.counted(read.at.column)});
    }
}

void add_matrices_and_work(const Scene& scene, const Step& step, Place place, PageBuilder& page) {
  const std::optional<Spelling> spelling = Spelling::of(scene, step, place);
  const bool one_entry = spelling && scene.options.work == PageOptions::Work::first;
  const std::optional<EntryAt> worked = one_entry ? std::optional(spelling->telling_entry()) : std::nullopt;
  add_matrices(scene, step, place, worked, page);
  if (one_entry) page.add(spelling->spell(*worked));
  if (spelling && scene.options.work == PageOptions::Work::all) add_every_entry(*spelling, page);
}

// Query heads that share a key/value head show it once: in the first of them on the page.
std::optional<Index> earlier_head(const Scene& scene, ValueId id, Index head) {
  for (Index earlier = 0; earlier < head && scene.plan.value(id).gradient == Value::Gradient::none; ++earlier)
    if (own_head(scene, id, earlier) == own_head(scene, id, head) && scene.options.selection.has_head(earlier))
      return earlier;
  return std::nullopt;
}

void add_input(const Scene& scene, ValueId id, const StepName& name, const Text& meaning, Place place, PageBuilder& page) {
  const Value& value = scene.plan.value(id);
  page.add(StepHeading{std::nullopt, page.say(name.title), value.symbol,
                       fmt::format("{}×{}", value.shape.rows, value.shape.cols)});
  page.caption(meaning);
  if (std::optional<Matrix> matrix = labelled_matrix(scene, id, place))
    add_equation(scene, Equation{{std::move(*matrix)}}, page);
}

// Whether the next layer reads it.
bool is_layers_result(const Scene& scene, const Step& step) {
  return std::any_of(scene.plan.steps.begin(), scene.plan.steps.end(), [&](const Step& later) {
    return later.layer > step.layer && std::count(later.in.begin(), later.in.end(), step.out) > 0;
  });
}

}  // namespace

void add_matrices(const Scene& scene, const Step& step, Place place, std::optional<EntryAt> worked, PageBuilder& page) {
  const std::optional<Spelling> spelling = Spelling::of(scene, step, place);
  std::optional<Equation> equation = equation_of(scene, step, place, worked);
  if (spelling && scene.options.sources != PageOptions::Sources::none && equation)
    add_sources(scene, step, place, *spelling, *std::get<Matrix>(equation->parts.back()).sources);
  add_equation(scene, std::move(equation), page);
}

std::vector<Words> captions_of(const Scene& scene, const Step& step, Place place) {
  if (scene.plan.is_backward(step)) return {Words(backward_meaning(scene, step, place))};
  std::vector<Words> captions{std::string(name_of(step.id).meaning.in(scene.options.language))};
  const Value& result = scene.plan.value(step.out);
  if (step.op == Op::multiply) captions.push_back(factor_text(scene, step));
  if (step.op == Op::rotate) captions.emplace_back(rotation_text(scene, step));
  if (step.op == Op::copy && scene.problem.output_is_concat && step.id == StepId::output)
    captions = {say(scene.options.language, phrase::identity_output)};
  if (result.per_head && result.shape.heads < scene.problem.heads) captions.emplace_back(shared_text(scene, place));
  if (scene.is_stack() && is_layers_result(scene, step))
    captions.emplace_back(say(scene.options.language, {"this is {}, which layer {} reads", "这就是 {}，由第 {} 层读取"},
                              result_symbol(scene), scene.counted(scene.layer + 1)));
  if (is_packed(step.id))
    for (const Step& later : scene.plan.steps)
      if (later.op == Op::split && later.in[0] == step.out) add_split(scene, later, captions);
  return captions;
}

void add_inputs(const Scene& scene, Place place, PageBuilder& page) {
  const StepName& name = name_of(StepId::X);
  for (std::size_t i = 0; i < scene.plan.values.size(); ++i) {
    const Value& value = scene.plan.values[i];
    if (value.role != Value::Role::input) continue;
    add_input(scene, static_cast<ValueId>(i), name, value.step ? name.meaning : phrase::keys_and_values_from, place, page);
  }
}

void add_cache(const Scene& scene, Place place, PageBuilder& page) {
  StepHeading heading{std::nullopt, page.say({"Cache", "缓存"}), "", ""};
  Equation equation;
  for (std::size_t i = 0; i < scene.plan.values.size(); ++i) {
    const Value& value = scene.plan.values[i];
    const ValueId id = static_cast<ValueId>(i);
    if (value.role != Value::Role::cache || value.layer != scene.layer) continue;
    if (const std::optional<Index> earlier = earlier_head(scene, id, place.head))
      return page.caption(phrase::same_cache, scene.counted(own_head(scene, id, place.head)), scene.counted(*earlier));
    const std::string comma = equation.parts.empty() ? "" : ", ";
    heading.formula += comma + symbol(scene, id, place);
    heading.shapes += comma + fmt::format("{}×{}", value.shape.rows, value.shape.cols);
    if (!equation.parts.empty()) equation.parts.emplace_back(",");
    equation.parts.emplace_back(*labelled_matrix(scene, id, place));
  }
  page.add(std::move(heading));
  const Past past = scene.past();
  const Index base = scene.options.index_base, rows = scene.plan.values.front().shape.rows;
  page.caption(past.tokens == past.dropped ? phrase::cache_new : phrase::cache_grows,
               range_text(past.tokens, past.tokens + rows - 1, base), range_text(past.dropped, past.tokens - 1, base));
  add_equation(scene, std::move(equation), page);
}

void add_step(const Scene& scene, const Step& step, int number, Place place, PageBuilder& page) {
  page.add(StepHeading{number, title_of(scene, step, place), formula(scene, step, place), shape_arithmetic(scene, step)});
  if (const std::optional<Index> earlier = earlier_head(scene, step.out, place.head)) {
    page.caption(phrase::same_as_in_head, scene.counted(*earlier));
    return;
  }
  for (Words& caption : captions_of(scene, step, place)) page.caption(std::move(caption));
  add_matrices_and_work(scene, step, place, page);
  if (step.id != StepId::weights || scene.plan.is_backward(step)) return;
  if (Words warning = keyless_warning(scene, place); !warning.empty()) page.warning(std::move(warning));
}

}  // namespace mha::show
