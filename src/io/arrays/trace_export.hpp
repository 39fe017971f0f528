// A trace as a binary file: .npy, .npz or .safetensors, its numbers in the dtype of the run.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/trace.hpp"
#include "io/arrays/trace_arrays.hpp"
#include "io/files/output_file.hpp"

namespace mha::io {

enum class BinaryFormat { npy, npz, safetensors };

// Numbers may come while the run computes them, in any order and from several threads (take_rows), or afterwards from the
// trace; what was known before the run is written first. Every number stands in one place only, so nothing is kept.
class TraceExport : public RowTaker {
 public:
  // `file` is what the arrays are written to; it must outlive this. Throws Error where .npy shall hold another
  // number of arrays than one; `path` is for that message.
  TraceExport(OutputFile& file, const std::string& path, BinaryFormat format, std::vector<TraceArray> arrays, Dtype dtype,
              std::string_view device);

  void take_rows(ValueId id, Index item, Index head, Index first, Index count, const float* rows) override;
  void take_rows(ValueId id, Index item, Index head, Index first, Index count, const double* rows) override;
  void take_trace(const Trace& trace);

  // What depends on the numbers; before the file is committed.
  void finish();

 private:
  template <typename T>
  void take(ValueId id, Index item, Index head, Index first, Index count, const T* rows);
  void write_given(const TraceArray& array, Index begin);
  template <typename T>
  void write_bytes(Index begin, Index count, const T* numbers);
  void write_numbers(Index begin, Index count, const float* numbers);
  void write_numbers(Index begin, Index count, const double* numbers);

  OutputFile& file_;
  BinaryFormat format_;
  std::vector<TraceArray> arrays_;
  Dtype dtype_;
  ArrayLayout layout_;
};

}  // namespace mha::io
