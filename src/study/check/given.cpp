// The matrices of an answer, placed: by head, by item of the batch, and by group where heads share keys and values.
#include "study/check/given.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "study/mistakes/hidden_keys.hpp"
#include "study/mistakes/simulate.hpp"

namespace mha::study {
namespace {

// Of numbers that do not stand in a text.
constexpr io::Writing as_exact_as_numbers_are = {17, 17, false};

// `count` matrices of the file, every `stride`-th from `first` on, as one with a batch; a stride of 0 takes all away.
GivenMatrix taken(io::AnswerMatrix& matrix, Index first, Index count, Index stride) {
  const Index rows = matrix.axes[matrix.axes.size() - 2], cols = matrix.axes.back(), size = rows * cols;
  const bool all = stride == 0;
  if (all) stride = 1;
  GivenMatrix result{all ? Tensor({count, 1, rows, cols}, std::move(matrix.numbers)) : Tensor({count, 1, rows, cols}), {}};
  if (matrix.writing.empty()) result.writing = as_exact_as_numbers_are;
  if (!matrix.blank.empty()) result.blank.assign(static_cast<std::size_t>(count * size), false);
  for (Index item = 0; item < count; ++item) {
    const Index place = first + item * stride, from = place * size;
    if (!matrix.writing.empty()) result.writing.see(matrix.writing[static_cast<std::size_t>(place)]);
    if (!all) std::copy_n(matrix.numbers.data() + from, size, result.numbers.matrix(item, 0));
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

// The row under the same name that belongs to all heads; nothing where there is none.
std::optional<StepId> packed_form_of(StepId step) {
  for (const StepName& name : row_names)
    if (!name.per_head && name.symbol == name_of(step).symbol && name_of(step).per_head) return name.step;
  return std::nullopt;
}

// Columns `from` to `to` of a matrix, or with `rows` its rows.
io::AnswerMatrix part_of(const io::AnswerMatrix& whole, Index from, Index to, bool rows) {
  io::AnswerMatrix part = whole;
  const Index cols = whole.axes.back(), first = rows ? from * cols : 0, last = rows ? to * cols : whole.axes[0] * cols;
  part.axes[rows ? 0 : 1] = to - from;
  part.numbers = Numbers(static_cast<std::size_t>(part.axes[0] * part.axes[1]));
  part.blank.clear();
  std::size_t place = 0;
  for (Index i = first; i < last; ++i) {
    if (!rows && (i % cols < from || i % cols >= to)) continue;
    const auto old = static_cast<std::size_t>(i);
    if (std::find(whole.blank.begin(), whole.blank.end(), old) != whole.blank.end()) part.blank.push_back(place);
    part.numbers[place++] = whole.numbers[old];
  }
  return part;
}

StepId head_form_of(StepId step) {
  if (step == StepId::packed_Q) return StepId::Q;
  return step == StepId::packed_K ? StepId::K : step == StepId::packed_V ? StepId::V : step;
}

bool is_projection(StepId step) {
  return step == StepId::Q || step == StepId::K || step == StepId::V;
}

bool is_one_matrix(const io::AnswerMatrix& matrix, const Problem& problem) {
  return matrix.axes.size() <= (problem.batched && !is_of_parameter(matrix.step) ? 3 : 2);
}

// So many columns of each matrix.
GivenMatrix columns_of(const GivenMatrix& whole, Index first, Index count) {
  GivenMatrix part = whole;
  const Shape& shape = whole.numbers.shape();
  part.numbers = Tensor({shape.batch, 1, shape.rows, count});
  if (!whole.blank.empty()) part.blank.assign(static_cast<std::size_t>(part.numbers.size()), false);
  for (Index i = 0; i < part.numbers.size(); ++i) {
    const Index from = i / count * shape.cols + first + i % count;
    part.numbers.data()[i] = whole.numbers.data()[from];
    if (whole.is_blank(from)) part.blank[static_cast<std::size_t>(i)] = true;
  }
  return part;
}

constexpr double clearly_off = 0.01;
constexpr Text read_as{"K and V were read as those of {}, which they fit better", "K、V 按{}的编号来读：这样更吻合"};

// Whether `truth`, of all heads, has a matrix of this shape for this head.
bool belongs_to(const GivenMatrix& matrix, const Tensor* truth, Index head) {
  const Shape& shape = matrix.numbers.shape();
  return truth != nullptr && head < truth->shape().heads && shape.has_matrices_as(truth->shape()) &&
         shape.batch == truth->shape().batch;
}

// The squares of the differences beside those of the true numbers, at the most 1.
double share_off(const GivenMatrix& matrix, const Tensor* truth, Index head) {
  if (!belongs_to(matrix, truth, head)) return 1;
  double off = 0, all = 0;
  const Index size = matrix.numbers.shape().rows * matrix.numbers.shape().cols;
  for (Index i = 0; i < matrix.numbers.size(); ++i) {
    if (matrix.is_blank(i)) continue;
    const double right = truth->matrix(i / size, head)[i % size], difference = matrix.numbers.data()[i] - right;
    off += difference * difference;
    all += right * right;
  }
  return off < all ? off / all : off > 0 ? 1 : 0;
}

// Heads of one group have the same keys and values, and the same gradients of these.
constexpr std::array shared_steps = {StepId::K, StepId::K_rot, StepId::V, StepId::d_K, StepId::d_K_rot, StepId::d_V};
bool is_shared(StepId step) {
  return std::find(shared_steps.begin(), shared_steps.end(), step) != shared_steps.end();
}

// The gradient of a weight of PyTorch, as this layout stores the weight.
io::AnswerMatrix as_stored(const io::AnswerMatrix& matrix, Layout layout) {
  io::AnswerMatrix result = matrix;
  result.out_by_in = false;
  if (layout == Layout::torch || matrix.axes.size() != 2) return result;
  transpose(result);
  return result;
}

}  // namespace

void transpose(io::AnswerMatrix& matrix) {
  if (matrix.axes.size() < 2) return;
  Index &last_but_one = matrix.axes[matrix.axes.size() - 2], &last = matrix.axes.back();
  const auto rows = static_cast<std::size_t>(last_but_one), cols = static_cast<std::size_t>(last), size = rows * cols;
  const auto place = [&](std::size_t i) { return i / size * size + i % cols * rows + i % size / cols; };
  const Numbers numbers = matrix.numbers;
  for (std::size_t i = 0; i < numbers.size(); ++i) matrix.numbers[place(i)] = numbers[i];
  for (std::size_t& blank : matrix.blank) blank = place(blank);
  std::swap(last_but_one, last);
}

std::optional<int> layer_of(const io::AnswerMatrix& matrix, int layers) {
  if (matrix.layer || layers == 1) return matrix.layer.value_or(0);
  if (matrix.step == StepId::X || matrix.step == StepId::d_X) return 0;
  return is_of_no_layer(matrix.step) ? std::optional(layers - 1) : std::nullopt;
}

GivenMatrices::GivenMatrices(io::Answer& answer, const Problem& problem, int layer, int layers) {
  for (const io::AnswerMatrix& matrix : answer.matrices)
    if (const StepName& name = name_of(matrix.step); layer_of(matrix, layers) == layer && name.per_head &&
                                                     !is_gradient(name.step) && !is_projection(name.step) && !matrix.head)
      one_head_alone_ = one_head_alone_ || is_one_matrix(matrix, problem);
  for (io::AnswerMatrix& matrix : answer.matrices)
    if (layer_of(matrix, layers) == layer && !(matrix.is_result && layers == 1))
      place(matrix, matrix.is_result ? result_of(make_plan(problem)) : matrix.step, problem);
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

GivenMatrices GivenMatrices::with(StepId step, StepId once_more) const {
  GivenMatrices result = *this;
  result.of(once_more) = of(step);
  return result;
}

Index GivenMatrices::heads(StepId step) const {
  return of(step).empty() ? 0 : of(step).rbegin()->first + 1;
}

// dW_QKV has the columns of all queries, of all keys and of all values; dW_Q without a number, where the problem has one
// for each head, those of all heads. Whether it is such a matrix.
bool GivenMatrices::place_parts(const io::AnswerMatrix& matrix, const Problem& problem) {
  const bool fused = matrix.step == StepId::d_W_QKV || matrix.step == StepId::d_b_QKV;
  const bool of_heads = matrix.step >= StepId::d_W_Q && matrix.step <= StepId::d_b_V && !problem.packed;
  if (matrix.head || matrix.axes.size() != 2 || !(fused || of_heads)) return false;
  const bool is_bias = name_of(matrix.step).symbol.starts_with("db"), rows = !is_bias && problem.layout == Layout::torch;
  const auto put_part = [&](StepId step, std::optional<Index> head, Index from, Index to) {
    io::AnswerMatrix part = part_of(matrix, from, to, rows);
    part.step = step;
    part.head = head;
    place(part, step, problem);
  };
  const Index whole = matrix.axes[rows ? 0 : 1], q = problem.heads * problem.d_k(), kv = problem.kv_heads * problem.d_k();
  if (fused) {
    const bool fits = whole == q + 2 * kv;
    put_part(is_bias ? StepId::d_b_Q : StepId::d_W_Q, {}, 0, fits ? q : whole);
    put_part(is_bias ? StepId::d_b_K : StepId::d_W_K, {}, fits ? q : 0, fits ? q + kv : whole);
    put_part(is_bias ? StepId::d_b_V : StepId::d_W_V, {}, fits ? q + kv : 0, whole);
    return true;
  }
  const Index count = matrix.step < StepId::d_W_K ? problem.heads : problem.kv_heads;
  if (count == 1 || whole % count != 0) return false;
  for (Index head = 0; head < count; ++head) put_part(matrix.step, head, head * whole / count, (head + 1) * whole / count);
  return true;
}

void GivenMatrices::place(io::AnswerMatrix& matrix, StepId given_as, const Problem& problem) {
  if (matrix.out_by_in) {
    io::AnswerMatrix stored = as_stored(matrix, problem.layout);
    return place(stored, given_as, problem);
  }
  if (place_parts(matrix, problem) || place_columns(matrix, problem)) return;
  const bool one_for_all = !name_of(given_as).per_head;
  if (matrix.head || one_for_all || is_one_matrix(matrix, problem)) {
    // "Q" without a number is the name of the packed product as well.
    const std::optional<StepId> packed = problem.packed && !matrix.head ? packed_form_of(given_as) : std::nullopt;
    const StepId step = packed.value_or(placed(given_as, problem.is_post_norm()));
    const Index head = matrix.head.value_or(0);
    std::optional<bool>& says_group = says_group_[static_cast<std::size_t>(step)];
    if (matrix.kv_head && head < problem.heads)
      says_group = says_group.value_or(true) && *matrix.kv_head == broadcast(head, problem.kv_heads, problem.heads);
    GivenMatrix whole = taken(matrix, 0, matrices_in(matrix), 0);
    whole.batched = matrix.axes.size() > 2;
    put(step, head, std::move(whole));
  } else {
    place_all_heads(matrix, matrix.step, problem);
  }
}

// "Q" or "packed.Q" where each head has weights of its own: the columns of head 1 first. Not where the person goes on with
// one head, who has not split them.
bool GivenMatrices::place_columns(io::AnswerMatrix& matrix, const Problem& problem) {
  const StepId step = head_form_of(matrix.step);
  const bool may_be = is_projection(step) && !problem.packed && !matrix.head && is_one_matrix(matrix, problem);
  if (!may_be || (one_head_alone_ && step == matrix.step)) return false;
  const Index width = step == StepId::V ? problem.d_v() : problem.d_k(), count = matrix.axes.back() / width;
  const bool is_whole = matrix.axes.back() == count * width && count > 1;
  if (!is_whole || (count != problem.heads && (step == StepId::Q || count != problem.kv_heads))) return false;
  GivenMatrix whole = taken(matrix, 0, matrices_in(matrix), 1);
  whole.batched = matrix.axes.size() > 2;
  for (Index head = 0; head < problem.heads; ++head)
    put(step, head, columns_of(whole, broadcast(head, count, problem.heads) * width, width));
  were_side_by_side_ = true;
  return true;
}

// heads×rows×cols, or batch×heads×rows×cols.
void GivenMatrices::place_all_heads(io::AnswerMatrix& matrix, StepId step, const Problem& problem) {
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

Index GivenMatrices::fill_hidden(const TruthOf& truth_of) {
  Index left = 0;
  for (auto& [head, matrix] : of(StepId::masked)) {
    if (matrix.blank.empty()) continue;
    const Tensor* masked = truth_of(StepId::masked).get();
    const std::vector<bool> blank = matrix.blank;
    const Index cols = matrix.numbers.shape().cols, size = matrix.numbers.shape().rows * cols;
    const bool fits = belongs_to(matrix, masked, head);
    for (Index i = 0; i < static_cast<Index>(blank.size()); ++i) {
      const auto row = blank.begin() + i / cols * cols;
      if (!blank[static_cast<std::size_t>(i)]) continue;
      const bool hidden = fits && masked->matrix(i / size, head)[i % size] == minus_infinity;
      if (hidden && std::find(row, row + cols, false) != row + cols) {
        matrix.numbers.data()[i] = minus_infinity;
        matrix.blank[static_cast<std::size_t>(i)] = false;
      } else {
        ++left;
      }
    }
  }
  return left;
}

std::optional<Saying> GivenMatrices::spread_groups(const Problem& problem, const TruthOf& truth_of) {
  const Index groups = problem.kv_heads;
  if (groups == problem.heads) return std::nullopt;
  std::vector<StepId> unclear;
  double as_heads = 0, as_groups = 0;  // how far off the matrices are, each 1 at the most
  bool all_groups = most_heads() != groups;
  for (const StepId step : shared_steps) {
    if (says_group_[static_cast<std::size_t>(step)].value_or(false)) {
      spread_in_group(of(step), problem);
      continue;
    }
    if (of(step).empty() || heads(step) > groups) continue;
    unclear.push_back(step);
    all_groups = all_groups && static_cast<Index>(of(step).size()) == groups;
    for (const auto& [head, matrix] : of(step)) {
      as_heads += share_off(matrix, truth_of(step).get(), head);
      as_groups += share_off(matrix, truth_of(step).get(), head * (problem.heads / groups));
    }
  }
  const bool told_apart = std::abs(as_heads - as_groups) > clearly_off;
  const bool group_heads = told_apart ? as_groups < as_heads : all_groups;
  for (const StepId step : unclear) {
    if (!group_heads) break;
    Heads spread;
    for (Index head = 0; head < problem.heads; ++head)
      if (const auto own = of(step).find(broadcast(head, groups, problem.heads)); own != of(step).end())
        spread.emplace(head, own->second);
    of(step) = std::move(spread);
  }
  if (!told_apart || std::min(as_heads, as_groups) < clearly_off) return std::nullopt;
  return say(read_as, group_heads ? Text{"key/value heads", "键值头"} : Text{"query heads", "查询头"});
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
  for (const StepName& name : row_names)
    if (name.per_head && !is_shared(name.step)) most = std::max(most, heads(name.step));
  return most;
}

}  // namespace mha::study
