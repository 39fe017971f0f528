// A trace as a binary file: its arrays under their names ("heads.1.weights", "packed.Q", "output"), where the numbers of
// each go, and what stands around them.
#pragma once

#include <functional>

#include "core/error.hpp"
#include "core/trace.hpp"
#include "io/files/sink.hpp"

namespace mha::io {

struct TraceArray {
  std::string name;
  std::vector<Index> axes;  // rows and columns, in front of them the batch where there is one; a bias has one axis
  ValueId value = -1;       // what the run computes: the matrices of this head of the value
  Index head = 0;
  std::shared_ptr<const Tensor> given;  // what is known before the run, and then
  Index first_row = 0;                  // the place in there from which on its rows follow one another

  Index rows() const;  // through all matrices
  Index cols() const { return axes.back(); }
};

// In the order of the JSON. `with_weights` adds weights and the masks' matrices under "parameters.", named as in a problem,
// heads and the masks of a list by their number. The arrays refer to the problem, which must outlive them. `gradients` (of
// the parameters, likewise) adds those of a backward pass, under "gradients.".
std::vector<TraceArray> trace_arrays(const Problem& problem, const Plan& plan, const Selection& selection,
                                     bool with_weights, const std::optional<Problem>& gradients = {});

// Bytes at a place of the file.
struct FilePiece {
  Index begin = 0;
  std::string bytes;
};

struct ArrayLayout {
  std::vector<Index> begins;      // where the numbers of each array begin, little-endian, row after row
  std::vector<FilePiece> around;  // everything else that is known beforehand
  Index size = 0;                 // of the file, or where what is left to write begins
};

// One array; the shape's text as Python has it.
ArrayLayout npy_layout(const TraceArray& array, Dtype dtype);

// `metadata` are texts about the run.
ArrayLayout safetensors_layout(const std::vector<TraceArray>& arrays, Dtype dtype,
                               const std::vector<std::pair<std::string, std::string>>& metadata);

// Entries stored as they are. `large` is the size from which on the zip format needs its 64-bit form.
inline constexpr Index zip64_from = 0xFFFFFFFF;
ArrayLayout npz_layout(const std::vector<TraceArray>& arrays, Dtype dtype, Index large = zip64_from);
// What can be written only when the numbers are there, because it holds their checksums: `crc` gives that of so many bytes
// from a place of the file.
std::vector<FilePiece> npz_directory(const std::vector<TraceArray>& arrays, Dtype dtype, const ArrayLayout& layout,
                                     const std::function<std::uint32_t(Index begin, Index count)>& crc,
                                     Index large = zip64_from);

constexpr Index bytes_of(Dtype dtype) {
  return dtype == Dtype::f32 ? 4 : 8;
}

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

// Hands rows on to every export. A file that cannot be written is told when it is committed; the computation goes on for
// the others.
class AllExports : public RowTaker {
 public:
  explicit AllExports(std::deque<TraceExport>& exports) : exports_(exports) {}

  void take_rows(ValueId id, Index item, Index head, Index first, Index count, const float* rows) override {
    hand_on(id, item, head, first, count, rows);
  }
  void take_rows(ValueId id, Index item, Index head, Index first, Index count, const double* rows) override {
    hand_on(id, item, head, first, count, rows);
  }

 private:
  void hand_on(auto... rows) {
    std::size_t failed = 0;
    for (TraceExport& binary : exports_) try {
        binary.take_rows(rows...);
      } catch (const Error&) {
        if (++failed == exports_.size()) throw;
      }
  }

  std::deque<TraceExport>& exports_;
};

}  // namespace mha::io
