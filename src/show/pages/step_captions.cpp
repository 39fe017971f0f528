// The small print of a step.
#include "show/pages/step_captions.hpp"

#include <algorithm>

#include "show/words/notation.hpp"
#include "show/words/number_text.hpp"
#include "show/words/phrases.hpp"
#include "show/words/series_text.hpp"

namespace mha::show {
namespace {

constexpr Index most_told = 4;

// "a, b, c, …, z"; item(i) is the text of the i-th.
template <typename Item>
std::string listed(Language language, Index count, Item item) {
  return series_text(count, most_told, item, say(language, phrase::comma));
}

// "1/√d_k = 1/√2 = 0.707"; nothing where the factor is no single number.
Words factor_text(const Scene& scene, const Step& step) {
  const Value& factor = scene.plan.value(step.in[1]);
  if (factor.role != Value::Role::constant || factor.shape.size() != 1) return {};
  const NumberStyle style(scene.options.precision, NumberStyle::Origin::given);
  const std::string number = style.text(factor.constant->data()[0]);
  if (factor.symbol == "scale") return say(scene.options.language, phrase::own_scale, number);
  if (factor.symbol == "1/√d_k") return fmt::format("1/√d_k = 1/√{} = {}", scene.problem.d_k(), number);
  return factor.symbol + " = " + number;
}

// "positions 0, 1, 2; columns 1 and 3, 2 and 4 turn together"
std::string rotation_text(const Scene& scene, const Step& step) {
  const Language language = scene.options.language;
  const Index pairs = scene.plan.value(step.in[1]).shape.cols;
  const std::string positions = listed(language, scene.plan.value(step.out).shape.rows, [&](Index row) {
    return fmt::format("{}", position_of_row(scene.problem, step, row));
  });
  const std::string columns = listed(language, pairs, [&](Index t) {
    const Columns pair = columns_of_pair(step.pairing, t, pairs);
    return say(language, phrase::pair, scene.counted(pair.first), scene.counted(pair.second));
  });
  return say(language, phrase::turns, positions, columns);
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
  captions.emplace_back(listed(language, shape.heads, [&](Index own) {
    const std::string columns =
        say(language, shape.cols == 1 ? phrase::column_goes : phrase::columns_go, split_columns(scene, split, own * group));
    return say(language, group == 1 ? phrase::split_to : phrase::split_to_kv, columns, scene.counted(own));
  }));
}

std::string shared_text(const Scene& scene, Place place) {
  const Index group = scene.problem.heads / scene.problem.kv_heads, own = kv_head(scene.problem, place.head);
  return say(scene.options.language, phrase::shared_by, scene.counted(own),
             range_text(own * group, (own + 1) * group - 1, scene.options.index_base));
}

}  // namespace

std::vector<Words> captions_of(const Scene& scene, const Step& step, Place place) {
  std::vector<Words> captions{std::string(name_of(step.id).meaning.in(scene.options.language))};
  const Value& result = scene.plan.value(step.out);
  if (step.op == Op::multiply) captions.push_back(factor_text(scene, step));
  if (step.op == Op::rotate) captions.emplace_back(rotation_text(scene, step));
  if (step.op == Op::copy && scene.problem.output_is_concat && step.id == StepId::output)
    captions = {say(scene.options.language, phrase::identity_output)};
  if (result.per_head && result.shape.heads < scene.problem.heads) captions.emplace_back(shared_text(scene, place));
  if (is_packed(step.id))
    for (const Step& later : scene.plan.steps)
      if (later.op == Op::split && later.in[0] == step.out) add_split(scene, later, captions);
  return captions;
}

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
      list += say(language, phrase::left_out_rows, range(matrix->rows), matrix->symbol);
    else if (matrix->rows.all())
      list += say(language, phrase::left_out_columns, range(matrix->columns), matrix->symbol);
    else
      list += say(language, phrase::left_out_both, range(matrix->rows), range(matrix->columns), matrix->symbol);
  }
  return list.empty() ? Words() : Words(say(language, phrase::left_out, list));
}

}  // namespace mha::show
