// A value of the computation as one matrix of the page: which of its entries are shown, and how its numbers read.
#pragma once

#include <optional>
#include <string>

#include "show/words/number_text.hpp"
#include "show/pages/scene.hpp"

namespace mha::show {

// The numbers of a value; null where the trace did not keep them.
const Tensor* numbers_of(const Scene& scene, ValueId id);
// One of them, of a value that it kept.
double number_at(const Scene& scene, ValueId id, Place place, EntryAt at);

// Only entries that are shown are ever read, so a page of a large matrix costs no more than its corner.
class View {
 public:
  // Nothing where the trace did not keep the value.
  static std::optional<View> of(const Scene& scene, ValueId id, Place place, bool transposed = false);

  Index rows() const { return rows_.size; }
  Index columns() const { return columns_.size; }
  const Shown& shown_rows() const { return rows_; }
  const Shown& shown_columns() const { return columns_; }

  double at(Index row, Index column) const;
  const NumberStyle& style() const { return style_; }
  std::string text(Index row, Index column) const { return style_.text(at(row, column)); }
  std::string term(Index row, Index column) const { return style_.term(at(row, column)); }

  // The cells, without labels.
  Matrix matrix() const;

 private:
  View(const Tensor& tensor, Index batch, Index head, bool transposed, Index entries, const PageOptions& options,
       NumberStyle::Origin origin);

  const Tensor* tensor_;
  Index batch_, head_;  // in the tensor
  bool transposed_;
  Shown rows_, columns_;
  NumberStyle style_;
};

}  // namespace mha::show
