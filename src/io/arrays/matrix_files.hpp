// Matrices in files: {"file": …} in a problem stands for a part of an array.
#pragma once

#include "io/arrays/array.hpp"
#include "io/json/tree.hpp"

namespace mha::io {

// Half-open, from 0.
struct Cut {
  Index first = 0;
  Index last = 0;
};

// A matrix, or a list of them.
class FileMatrix : public Stored, public std::enable_shared_from_this<FileMatrix> {
 public:
  // `where` is the place in the problem, for messages: "in.json:1:7: X".
  FileMatrix(std::shared_ptr<const StoredArray> array, std::string where);

  const std::string& name() const { return array_->name; }
  bool is_boolean() const { return array_->header.type == NumberType::boolean; }
  const std::vector<Index>& axes() const { return axes_; }

  // The rows or columns of each matrix; of a vector, rows are its numbers. The cuts must lie within.
  std::shared_ptr<const FileMatrix> rows(Cut cut) const;
  std::shared_ptr<const FileMatrix> cols(Cut cut) const;
  std::shared_ptr<const FileMatrix> transposed() const;

  void read_rows(Index first, Index count, double* to) const override;
  void read_rows(Index first, Index count, float* to) const override;
  // All numbers, ±∞ and NaN among them.
  void read_addends(double* to) const;

 private:
  template <typename T>
  void read(Index first, Index count, T* to, bool finite) const;
  RawNumbers row(const std::byte* data, Index index) const;
  template <typename T>
  void check_row(const RawNumbers& numbers, Index index, bool finite) const;
  std::string place_in_file(Index row, Index col) const;
  std::shared_ptr<const FileMatrix> cut(std::size_t axis, Cut cut) const;

  std::shared_ptr<const StoredArray> array_;
  std::string where_;
  std::vector<Index> axes_, strides_;  // of the part; strides in numbers
  std::vector<Index> origin_;          // the place of its first number in the array, axis by axis as axes_ has them
  bool transposed_ = false;            // the last two axes are those of the array exchanged
};

// Where paths in a problem lead.
struct FileRules {
  std::optional<std::string> folder;  // that of the problem file; none: there are no files to lead to
  bool allow_outside = false;         // of the folder
};

// Below the root, every object with the key "file" becomes a grid whose numbers are in the file still; shapes and types are
// known and checked, numbers are not read. `name` is the problem's, for messages about numbers. Gives the paths of the
// files that were opened. Throws InputFault.
std::vector<std::string> open_matrix_files(Node& root, std::string_view name, const FileRules& rules);

}  // namespace mha::io
