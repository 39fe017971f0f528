// A part of an array in a file: cuts and transposes change axes, strides and the first place, never the numbers.
#include "io/arrays/file_matrix.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "core/error.hpp"

namespace mha::io {
namespace {

std::vector<Index> strides_of(const ArrayHeader& header) {
  std::vector<Index> strides(header.axes.size());
  Index stride = 1;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    const std::size_t axis = header.fortran_order ? i : strides.size() - 1 - i;
    strides[axis] = stride;
    stride *= header.axes[axis];
  }
  return strides;
}

std::string_view remedy(Flaw flaw) {
  switch (flaw) {
    case Flaw::none: break;
    case Flaw::not_finite: return "; here every entry is a finite number";
    case Flaw::not_exact: return ", an integer that no double equals; beyond 2^53 save floats instead";
    case Flaw::too_large: return ", which f32 cannot hold; compute with --dtype f64";
    case Flaw::no_boolean: return ", but the byte of a boolean is 0 or 1";
  }
  return "";
}

}  // namespace

FileMatrix::FileMatrix(std::shared_ptr<const StoredArray> array, std::string where)
    : array_(std::move(array)),
      where_(std::move(where)),
      axes_(array_->header.axes),
      strides_(strides_of(array_->header)),
      origin_(axes_.size(), 0) {}

std::shared_ptr<const FileMatrix> FileMatrix::cut(std::size_t axis, Cut cut) const {
  auto part = std::make_shared<FileMatrix>(*this);
  part->axes_[axis] = cut.last - cut.first;
  part->origin_[axis] += cut.first;
  return part;
}

std::shared_ptr<const FileMatrix> FileMatrix::rows(Cut part) const {
  return cut(axes_.size() == 1 ? 0 : axes_.size() - 2, part);
}

std::shared_ptr<const FileMatrix> FileMatrix::cols(Cut part) const {
  return cut(axes_.size() - 1, part);
}

std::shared_ptr<const FileMatrix> FileMatrix::transposed() const {
  auto result = std::make_shared<FileMatrix>(*this);
  const std::size_t last = axes_.size() - 1;
  std::swap(result->axes_[last], result->axes_[last - 1]);
  std::swap(result->strides_[last], result->strides_[last - 1]);
  std::swap(result->origin_[last], result->origin_[last - 1]);
  result->transposed_ = !transposed_;
  return result;
}

// Row `index`, counted through all matrices.
RawNumbers FileMatrix::row(const std::byte* data, Index index) const {
  Index place = origin_.back() * strides_.back();
  for (std::size_t axis = axes_.size() - 1; axis-- > 0;) {
    place += (origin_[axis] + index % axes_[axis]) * strides_[axis];
    index /= axes_[axis];
  }
  const ArrayHeader& header = array_->header;
  return {header.type, header.big_endian, data + place * info_of(header.type).bytes, strides_.back()};
}

// "[13, 0]", as NumPy counts in the whole array.
std::string FileMatrix::place_in_file(Index row, Index col) const {
  std::vector<Index> place(axes_.size());
  place.back() = origin_.back() + col;
  for (std::size_t axis = axes_.size() - 1; axis-- > 0;) {
    place[axis] = origin_[axis] + row % axes_[axis];
    row /= axes_[axis];
  }
  if (transposed_) std::swap(place[place.size() - 1], place[place.size() - 2]);
  return fmt::format("[{}]", fmt::join(place, ", "));
}

template <typename T>
void FileMatrix::check_row(const RawNumbers& numbers, Index index, bool finite) const {
  for (Index col = 0; col < axes_.back(); ++col) {
    const Flaw flaw = flaw_of<T>(numbers, col);
    if (flaw == Flaw::none || (flaw == Flaw::not_finite && !finite)) continue;
    throw Error(fmt::format("{}: found {} at {} of {}{}", where_, text_of(numbers, col), place_in_file(index, col), name(),
                            remedy(flaw)));
  }
}

template <typename T>
void FileMatrix::read(Index first, Index count, T* to, bool finite) const {
  const std::byte* const data = array_->bytes->data() + array_->header.data_begin;
  const Index cols = axes_.back();
  Index flawed = -1;
  for (Index i = 0; i < count && flawed < 0; ++i)
    if (convert(row(data, first + i), cols, to + i * cols)) {
      if (finite)
        flawed = first + i;
      else
        check_row<T>(row(data, first + i), first + i, finite);
    }
  array_->bytes->expect_whole();  // first: the zeros of a file that was cut short are nobody's numbers
  if (flawed >= 0) check_row<T>(row(data, flawed), flawed, finite);
}

void FileMatrix::read_rows(Index first, Index count, double* to) const {
  read(first, count, to, true);
}

void FileMatrix::read_rows(Index first, Index count, float* to) const {
  read(first, count, to, true);
}

void FileMatrix::read_addends(double* to) const {
  Index rows = 1;
  for (std::size_t axis = 0; axis + 1 < axes_.size(); ++axis) rows *= axes_[axis];
  read(0, rows, to, false);
}

}  // namespace mha::io
