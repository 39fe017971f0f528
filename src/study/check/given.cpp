// The matrices of an answer, placed: by head, by item of the batch, and by group where heads share keys and values.
#include "study/check/given.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace mha::study {
namespace {

// Of numbers that do not stand in a text.
constexpr io::Writing as_exact_as_numbers_are = {17, 17, false};

// `count` matrices of the file, every `stride`-th from `first` on, as one with a batch.
GivenMatrix taken(const io::AnswerMatrix& matrix, Index first, Index count, Index stride) {
  const Index rows = matrix.axes[matrix.axes.size() - 2], cols = matrix.axes.back(), size = rows * cols;
  GivenMatrix result{Tensor({count, 1, rows, cols}), {}, false};
  if (matrix.writing.empty()) result.writing = as_exact_as_numbers_are;
  if (!matrix.blank.empty()) result.blank.assign(static_cast<std::size_t>(count * size), false);
  for (Index item = 0; item < count; ++item) {
    const Index place = first + item * stride, from = place * size;
    if (!matrix.writing.empty()) result.writing.see(matrix.writing[static_cast<std::size_t>(place)]);
    std::copy_n(matrix.numbers.data() + from, size, result.numbers.matrix(item, 0));
    for (const std::size_t blank : matrix.blank) {
      const Index entry = static_cast<Index>(blank) - from;
      if (entry >= 0 && entry < size) result.blank[static_cast<std::size_t>(item * size + entry)] = true;
    }
  }
  return result;
}

// How many matrices the file has in front of rows and columns.
Index matrices_in(const io::AnswerMatrix& matrix) {
  Index count = 1;
  for (std::size_t axis = 0; axis + 2 < matrix.axes.size(); ++axis) count *= matrix.axes[axis];
  return count;
}

StepId packed_form_of(StepId step) {
  if (step == StepId::Q) return StepId::packed_Q;
  return step == StepId::K ? StepId::packed_K : StepId::packed_V;
}

bool is_projection(StepId step) {
  return step == StepId::Q || step == StepId::K || step == StepId::V;
}

// Heads of one group have the same keys and values.
bool is_shared(StepId step) {
  return step == StepId::K || step == StepId::V || step == StepId::K_rot;
}

}  // namespace

std::optional<int> layer_of(const io::AnswerMatrix& matrix, int layers) {
  if (matrix.layer || layers == 1) return matrix.layer.value_or(0);
  if (matrix.step == StepId::X) return 0;
  return matrix.step == StepId::final_norm ? std::optional(layers - 1) : std::nullopt;
}

GivenMatrices::GivenMatrices(const io::Answer& answer, const Problem& problem, int layer, int layers) {
  for (const io::AnswerMatrix& matrix : answer.matrices)
    if (layer_of(matrix, layers) == layer) place(matrix, problem);
  if (problem.kv_heads < problem.heads) spread_groups(problem);
}

const GivenMatrix* GivenMatrices::find(StepId step, Index head) const {
  const auto found = of(step).find(head);
  return found == of(step).end() ? nullptr : &found->second;
}

bool GivenMatrices::empty() const {
  return std::all_of(heads_.begin(), heads_.end(), [](const Heads& heads) { return heads.empty(); });
}

GivenMatrices GivenMatrices::without(StepId step, const std::vector<Index>& heads) const {
  GivenMatrices result = *this;
  for (const Index head : heads) result.of(step).erase(head);
  return result;
}

Index GivenMatrices::heads(StepId step) const {
  return of(step).empty() ? 0 : of(step).rbegin()->first + 1;
}

void GivenMatrices::place(const io::AnswerMatrix& matrix, const Problem& problem) {
  const bool one_for_all = !name_of(matrix.step).per_head;
  const std::size_t axes_of_one = problem.batched ? 3 : 2;
  const bool one_matrix = matrix.axes.size() <= axes_of_one;
  if (matrix.head || one_for_all || one_matrix) {
    // "Q" without a number is the name of the packed product as well.
    const bool packed = problem.packed && !matrix.head && is_projection(matrix.step);
    const StepId step = packed ? packed_form_of(matrix.step) : placed(matrix.step, problem.is_post_norm());
    const Index head = matrix.head.value_or(0);
    std::optional<bool>& says_group = says_group_[static_cast<std::size_t>(step)];
    if (matrix.kv_head && head < problem.heads)
      says_group = says_group.value_or(true) && *matrix.kv_head == broadcast(head, problem.kv_heads, problem.heads);
    GivenMatrix whole = taken(matrix, 0, matrices_in(matrix), 1);
    whole.batched = matrix.axes.size() > 2;
    put(step, head, std::move(whole));
  } else {
    place_all_heads(matrix, matrix.step, problem);
  }
}

// heads×rows×cols, or batch×heads×rows×cols.
void GivenMatrices::place_all_heads(const io::AnswerMatrix& matrix, StepId step, const Problem& problem) {
  const Index count = matrix.axes[matrix.axes.size() - 3], items = matrices_in(matrix) / count;
  const Index heads = is_shared(step) && count == problem.kv_heads ? problem.heads : count;
  for (Index head = 0; head < heads; ++head) put(step, head, taken(matrix, broadcast(head, count, heads), items, count));
}

// "A" with a matrix for each head, and "A1" beside it: the same once more does no harm.
void GivenMatrices::put(StepId step, Index head, GivenMatrix matrix) {
  const auto [there, is_new] = of(step).try_emplace(head, std::move(matrix));
  if (is_new) return;
  const Tensor &first = there->second.numbers, &second = matrix.numbers;
  if (first.shape() == second.shape() && there->second.blank == matrix.blank &&
      same_numbers(first.data(), second.data(), static_cast<std::size_t>(first.size())))
    return;
  const StepName& name = name_of(step);
  throw Error(
      {"{}{} is given twice, with different numbers; remove one of the two", "{}{} 给出了两次，而且数不相同；请去掉一个"},
      name.id, name.per_head ? std::to_string(head + 1) : "");
}

// K1 … Kg beside more heads of other steps are those of the key/value heads: each serves a group of query heads.
void GivenMatrices::spread_groups(const Problem& problem) {
  const Index groups = problem.kv_heads;
  const bool more_elsewhere = most_heads() != groups;
  for (const StepName& name : step_names) {
    const StepId step = name.step;
    if (!is_shared(step)) continue;
    Heads& own = of(step);
    if (says_group_[static_cast<std::size_t>(step)].value_or(false)) {
      spread_in_group(own, problem);
      continue;
    }
    if (!more_elsewhere || heads(step) != groups || static_cast<Index>(own.size()) != groups) continue;
    Heads spread;
    for (Index head = 0; head < problem.heads; ++head) spread.emplace(head, own.at(broadcast(head, groups, problem.heads)));
    own = std::move(spread);
  }
}

// What one head of a group has, all of them have.
void GivenMatrices::spread_in_group(Heads& own, const Problem& problem) const {
  const Heads given = own;
  for (Index head = 0; head < problem.heads; ++head)
    for (const auto& [other, matrix] : given)
      if (broadcast(other, problem.kv_heads, problem.heads) == broadcast(head, problem.kv_heads, problem.heads))
        own.try_emplace(head, matrix);
}

// Of the steps that have one matrix for each query head.
Index GivenMatrices::most_heads() const {
  Index most = 0;
  for (const StepName& name : step_names)
    if (name.per_head && !is_shared(name.step)) most = std::max(most, heads(name.step));
  return most;
}

}  // namespace mha::study
