// A trace as a binary file: every row is written to the place that the layout has for it.
#include "io/arrays/trace_export.hpp"

#include <zlib.h>

#include <bit>
#include <cstring>

#include "core/error.hpp"
#include "core/suggest.hpp"

namespace mha::io {
namespace {

constexpr Index numbers_at_a_time = 1 << 17;

std::uint32_t crc_of(const OutputFile& file, Index begin, Index count) {
  std::vector<unsigned char> buffer(static_cast<std::size_t>(std::min<Index>(count, 1 << 20)));
  uLong crc = 0;
  while (count > 0) {
    const auto some = std::min(static_cast<std::size_t>(count), buffer.size());
    file.read_at(begin, buffer.data(), some);
    crc = crc32_z(crc, buffer.data(), some);
    begin += static_cast<Index>(some);
    count -= static_cast<Index>(some);
  }
  return static_cast<std::uint32_t>(crc);
}

std::vector<std::pair<std::string, std::string>> metadata_of(Dtype dtype, std::string_view device) {
  return {{"format", "mha-trace"},
          {"version", "1"},
          {"device", std::string(device)},
          {"dtype", std::string(dtype_name(dtype))}};
}

[[noreturn]] void refuse_count(const std::string& path, const std::vector<TraceArray>& arrays) {
  constexpr std::size_t most = 6;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < arrays.size() && i < most; ++i) names.push_back(arrays[i].name);
  if (arrays.size() > most) names.emplace_back("…");
  throw Error({"-o '{}': a .npy file holds one array, and there are {}{}{}; choose one, such as --steps output, or --steps "
               "weights --heads 1, or write .npz",
               "-o '{}'：.npy 文件只能放一个数组，而这里有 {} 个{}{}；请选一个，例如 --steps output 或 --steps weights "
               "--heads 1，或者写成 .npz"},
              path, arrays.size(), names.empty() ? Text{} : Text{": ", "："}, listed(names));
}

ArrayLayout layout_of(BinaryFormat format, const std::vector<TraceArray>& arrays, Dtype dtype, std::string_view device) {
  switch (format) {
    case BinaryFormat::npy: return npy_layout(arrays.front(), dtype);
    case BinaryFormat::npz: return npz_layout(arrays, dtype);
    case BinaryFormat::safetensors: return safetensors_layout(arrays, dtype, metadata_of(dtype, device));
  }
  return {};
}

}  // namespace

TraceExport::TraceExport(OutputFile& file, const std::string& path, BinaryFormat format, std::vector<TraceArray> arrays,
                         Dtype dtype, std::string_view device)
    : file_(file), format_(format), arrays_(std::move(arrays)), dtype_(dtype) {
  if (format == BinaryFormat::npy && arrays_.size() != 1) refuse_count(path, arrays_);
  layout_ = layout_of(format, arrays_, dtype_, device);
  file_.make_room(layout_.size);
  for (const FilePiece& piece : layout_.around) file_.write_at(piece.begin, piece.bytes.data(), piece.bytes.size());
  for (std::size_t i = 0; i < arrays_.size(); ++i)
    if (arrays_[i].given) write_given(arrays_[i], layout_.begins[i]);
}

template <typename T>
void TraceExport::write_bytes(Index begin, Index count, const T* numbers) {
  if constexpr (std::endian::native == std::endian::little) {
    file_.write_at(begin, numbers, static_cast<std::size_t>(count) * sizeof(T));
  } else {
    std::vector<char> bytes(static_cast<std::size_t>(count) * sizeof(T));
    std::memcpy(bytes.data(), numbers, bytes.size());
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(T)) std::reverse(&bytes[i], &bytes[i] + sizeof(T));
    file_.write_at(begin, bytes.data(), bytes.size());
  }
}

void TraceExport::write_numbers(Index begin, Index count, const float* numbers) {
  write_bytes(begin, count, numbers);
}

void TraceExport::write_numbers(Index begin, Index count, const double* numbers) {
  if (dtype_ == Dtype::f64) return write_bytes(begin, count, numbers);
  std::vector<float> narrow;
  for (Index i = 0; i < count; i += numbers_at_a_time) {
    narrow.assign(numbers + i, numbers + std::min(count, i + numbers_at_a_time));
    write_bytes(begin + i * bytes_of(dtype_), static_cast<Index>(narrow.size()), narrow.data());
  }
}

template <typename T>
void TraceExport::take(ValueId id, Index item, Index head, Index first, Index count, const T* rows) {
  for (std::size_t i = 0; i < arrays_.size(); ++i) {
    const TraceArray& array = arrays_[i];
    if (array.value != id || array.head != head) continue;
    const Index matrix_rows = array.axes[array.axes.size() - 2];
    const Index place = (item * matrix_rows + first) * array.cols();
    write_numbers(layout_.begins[i] + place * bytes_of(dtype_), count * array.cols(), rows);
  }
}

void TraceExport::take_rows(ValueId id, Index item, Index head, Index first, Index count, const float* rows) {
  take(id, item, head, first, count, rows);
}

void TraceExport::take_rows(ValueId id, Index item, Index head, Index first, Index count, const double* rows) {
  take(id, item, head, first, count, rows);
}

void TraceExport::take_trace(const Trace& trace) {
  for (std::size_t id = 0; id < trace.values.size(); ++id) {
    const Tensor* const value = trace.values[id].get();
    if (value == nullptr) continue;
    const Shape& shape = value->shape();
    for (Index item = 0; item < shape.batch; ++item)
      for (Index head = 0; head < shape.heads; ++head)
        take_rows(static_cast<ValueId>(id), item, head, 0, shape.rows, value->matrix(item, head));
  }
}

// In the dtype of the run, which the backend has been given: what it cannot hold was refused there.
void TraceExport::write_given(const TraceArray& array, Index begin) {
  const Index cols = array.cols(), rows = array.rows();
  const Tensor& tensor = *array.given;
  if (dtype_ == Dtype::f64 || !tensor.stored())
    return write_numbers(begin, rows * cols, tensor.data() + array.first_row * cols);
  const Index at_a_time = std::clamp<Index>(numbers_at_a_time / cols, 1, rows);
  std::vector<float> numbers(static_cast<std::size_t>(at_a_time * cols));
  for (Index row = 0; row < rows; row += at_a_time) {
    const Index count = std::min(at_a_time, rows - row);
    tensor.stored()->read_rows(array.first_row + row, count, numbers.data());
    write_numbers(begin + row * cols * bytes_of(dtype_), count * cols, numbers.data());
  }
}

void TraceExport::finish() {
  if (format_ != BinaryFormat::npz) return;
  const auto crc = [this](Index begin, Index count) { return crc_of(file_, begin, count); };
  for (const FilePiece& piece : npz_directory(arrays_, dtype_, layout_, crc))
    file_.write_at(piece.begin, piece.bytes.data(), piece.bytes.size());
}

}  // namespace mha::io
