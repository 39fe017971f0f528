// What is to be computed: the few facts that follow from the rest, and the cut to one item of a batch.
#include "core/problem.hpp"

#include <map>

namespace mha {

Index Align::offset(Index item, Index queries, Index keys) const {
  switch (kind) {
    case Kind::top_left: return 0;
    case Kind::bottom_right: return keys - queries;
    case Kind::offset: return offsets.front();
    case Kind::per_item: return offsets[static_cast<std::size_t>(item)];
  }
  return 0;
}

Index Rope::query_position(Index i) const {
  return positions ? (*positions)[static_cast<std::size_t>(i)] : start + i;
}

Index Rope::key_position(Index j, bool cross_attention) const {
  if (positions_kv) return (*positions_kv)[static_cast<std::size_t>(j)];
  return cross_attention ? start + j : query_position(j);
}

Index Problem::most_heads() const {
  Index most = 0;
  for (int i = 0; i < layer_count(); ++i) most = std::max(most, layer(i).heads);
  return most;
}

double Problem::scale_factor() const {
  switch (scale.kind) {
    case Scale::Kind::inverse_root_of_d_k: return 1 / std::sqrt(static_cast<double>(d_k()));
    case Scale::Kind::number: return scale.number;
    case Scale::Kind::none: return 1;
  }
  return 1;
}

namespace {

// One item of the batch axis; a tensor that serves all items stays as it is.
Tensor item_of(const Tensor& tensor, Index item) {
  Shape shape = tensor.shape();
  if (shape.batch == 1) return tensor;
  shape.batch = 1;
  if (tensor.stored()) return {shape, std::make_shared<StoredRows>(tensor.stored(), item * shape.heads * shape.rows)};
  Tensor result(shape);
  std::copy_n(tensor.matrix(item, 0), result.size(), result.data());
  return result;
}

// Heads that were alike and differ in these numbers are alike no longer. Where all heads stand in one matrix, each has a
// part of its rows, or of its columns.
void tell_apart(const Tensor& numbers, bool by_rows, std::vector<Index>& first) {
  const Shape& all = numbers.shape();
  const auto heads = static_cast<Index>(first.size());
  const bool in_one = all.heads != heads;
  const Index rows = in_one && by_rows ? all.rows / heads : all.rows,
              cols = in_one && !by_rows ? all.cols / heads : all.cols;
  std::vector<double> room;
  for (Index line = 0; line < rows; ++line) {
    std::map<std::pair<Index, std::vector<double>>, Index> seen;
    for (Index head = 0; head < heads; ++head) {
      Index& own = first[static_cast<std::size_t>(head)];
      const double* row = numbers.row(all, 0, in_one ? 0 : head, in_one && by_rows ? head * rows + line : line, room);
      if (in_one && !by_rows) row += head * cols;
      own = seen.try_emplace({own, {row, row + cols}}, head).first->second;
    }
    if (static_cast<Index>(seen.size()) == heads) return;
  }
}

void select_labels(Labels& labels, Index item) {
  if (labels.size() > 1) labels = {labels[static_cast<std::size_t>(item)]};
}

}  // namespace

std::vector<Index> first_alike(const Linear& projection, Index heads, Layout layout) {
  std::vector<Index> first(static_cast<std::size_t>(heads), 0);
  tell_apart(projection.W, layout == Layout::torch, first);
  if (projection.b) tell_apart(*projection.b, false, first);
  return first;
}

Problem select_item(const Problem& problem, Index item) {
  Problem result = problem;
  result.X = item_of(problem.X, item);
  if (problem.X_kv) result.X_kv = item_of(*problem.X_kv, item);
  select_labels(result.tokens, item);
  select_labels(result.tokens_kv, item);
  for (Mask& mask : result.masks) {
    mask.matrix = item_of(mask.matrix, item);
    if (mask.align && mask.align->kind == Align::Kind::per_item)
      mask.align->offsets = {mask.align->offsets[static_cast<std::size_t>(item)]};
  }
  if (result.loss) result.loss->target = item_of(result.loss->target, item);
  for (Problem& layer : result.layers) layer = select_item(layer, item);
  return result;
}

}  // namespace mha
