// One step of the page.
#include "show/pages/step_blocks.hpp"

#include <fmt/format.h>

#include "show/pages/keyless.hpp"
#include "show/words/notation.hpp"
#include "show/words/phrases.hpp"
#include "show/pages/spelling.hpp"
#include "show/pages/step_captions.hpp"
#include "show/pages/step_equation.hpp"

namespace mha::show {
namespace {

void add_caption(Words text, std::vector<Block>& blocks) {
  if (!text.empty()) blocks.emplace_back(Note{Note::Kind::caption, std::move(text)});
}

void add_equation(const Scene& scene, std::optional<Equation> equation, std::vector<Block>& blocks) {
  if (!equation) return;
  Words left_out = left_out_caption(scene, *equation);
  blocks.emplace_back(std::move(*equation));
  add_caption(std::move(left_out), blocks);
}

void add_every_entry(const Spelling& spelling, std::vector<Block>& blocks) {
  const Shown rows = spelling.result().shown_rows(), columns = spelling.result().shown_columns();
  for (Index row = 0; row < rows.count(); ++row)
    for (Index column = 0; column < columns.count(); ++column)
      blocks.emplace_back(spelling.spell({rows.place(row), columns.place(column)}));
}

void add_matrices_and_work(const Scene& scene, const Step& step, Place place, std::vector<Block>& blocks) {
  const std::optional<Spelling> spelling = Spelling::of(scene, step, place);
  const bool one_entry = spelling && scene.options.work == PageOptions::Work::first;
  const std::optional<EntryAt> worked = one_entry ? std::optional(spelling->telling_entry()) : std::nullopt;
  add_equation(scene, equation_of(scene, step, place, worked), blocks);
  if (one_entry) blocks.emplace_back(spelling->spell(*worked));
  if (spelling && scene.options.work == PageOptions::Work::all) add_every_entry(*spelling, blocks);
}

// Query heads that share a key/value head show it once: in the first of them on the page.
std::optional<Index> earlier_head(const Scene& scene, ValueId id, Index head) {
  for (Index earlier = 0; earlier < head; ++earlier)
    if (own_head(scene, id, earlier) == own_head(scene, id, head) && scene.options.selection.has_head(earlier))
      return earlier;
  return std::nullopt;
}

void add_input(const Scene& scene, ValueId id, const StepName& name, const Text& meaning, Place place,
               std::vector<Block>& blocks) {
  const Language language = scene.options.language;
  const Value& value = scene.plan.value(id);
  blocks.emplace_back(StepHeading{std::nullopt, std::string(name.title.in(language)), value.symbol,
                                  fmt::format("{}×{}", value.shape.rows, value.shape.cols)});
  add_caption(std::string(meaning.in(language)), blocks);
  if (std::optional<Matrix> matrix = labelled_matrix(scene, id, place))
    add_equation(scene, Equation{{std::move(*matrix)}}, blocks);
}

}  // namespace

void add_inputs(const Scene& scene, Place place, std::vector<Block>& blocks) {
  const StepName& name = name_of(StepId::X);
  for (std::size_t i = 0; i < scene.plan.values.size(); ++i) {
    const Value& value = scene.plan.values[i];
    if (value.role != Value::Role::input) continue;
    add_input(scene, static_cast<ValueId>(i), name, value.step ? name.meaning : phrase::keys_and_values_from, place,
              blocks);
  }
}

void add_step(const Scene& scene, const Step& step, int number, Place place, std::vector<Block>& blocks) {
  const Language language = scene.options.language;
  const std::string title(name_of(step.id).title.in(language));
  blocks.emplace_back(StepHeading{number, title, formula(scene, step, place), shape_arithmetic(scene, step)});
  if (const std::optional<Index> earlier = earlier_head(scene, step.out, place.head)) {
    add_caption(say(language, phrase::same_as_in_head, scene.counted(*earlier)), blocks);
    return;
  }
  for (Words& caption : captions_of(scene, step, place)) add_caption(std::move(caption), blocks);
  add_matrices_and_work(scene, step, place, blocks);
  if (step.id != StepId::weights) return;
  if (Words warning = keyless_warning(scene, place); !warning.empty())
    blocks.emplace_back(Note{Note::Kind::warning, std::move(warning)});
}

}  // namespace mha::show
