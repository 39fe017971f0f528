// The binary formats of a trace: .npy and .safetensors, which have one header.
#include "io/arrays/array_format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/json/writer.hpp"
#include "io/arrays/npy_writer.hpp"

namespace mha::io {

std::string npy_header(const TraceArray& array, Dtype dtype) {
  constexpr std::size_t alignment = 64, before = 10;
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", dtype == Dtype::f32 ? "<f4" : "<f8",
                  fmt::join(array.axes, ", "), array.axes.size() == 1 ? "," : "");
  const std::size_t length = (before + text.size() + alignment) / alignment * alignment - before;  // 1 more for the newline
  text.resize(length - 1, ' ');
  const auto low = static_cast<char>(length & 255U), high = static_cast<char>(length >> 8U);
  return std::string("\x93NUMPY\x01\x00", 8) + low + high + text + "\n";
}

Index data_bytes(const TraceArray& array, Dtype dtype) {
  return array.rows() * array.cols() * bytes_of(dtype);
}

ArrayLayout npy_layout(const TraceArray& array, Dtype dtype) {
  std::string header = npy_header(array, dtype);
  const auto begin = static_cast<Index>(header.size());
  return {{begin}, {{0, std::move(header)}}, begin + data_bytes(array, dtype)};
}

namespace {

// {"__metadata__": {…}, "output": {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]}, …}
std::string safetensors_header(const std::vector<TraceArray>& arrays, Dtype dtype,
                               const std::vector<std::pair<std::string, std::string>>& metadata) {
  StringSink text;
  const auto writer = std::make_unique<JsonWriter>(text);
  JsonWriter& json = *writer;
  constexpr auto line = JsonWriter::Spread::line;
  const auto integers = [&](std::string_view key, const std::vector<Index>& values) {
    json.key(key);
    json.begin_array(line);
    for (const Index value : values) json.integer(value);
    json.end();
  };
  json.begin_object(line);
  json.key("__metadata__");
  json.begin_object(line);
  for (const auto& [key, value] : metadata) {
    json.text(key, value);
  }
  json.end();
  Index begin = 0;
  for (const TraceArray& array : arrays) {
    const Index end = begin + data_bytes(array, dtype);
    json.key(array.name);
    json.begin_object(line);
    json.text("dtype", dtype == Dtype::f32 ? "F32" : "F64");
    integers("shape", array.axes);
    integers("data_offsets", {begin, end});
    json.end();
    begin = end;
  }
  json.end();
  json.finish();
  return text.text();
}

}  // namespace

ArrayLayout safetensors_layout(const std::vector<TraceArray>& arrays, Dtype dtype,
                               const std::vector<std::pair<std::string, std::string>>& metadata) {
  std::string header = safetensors_header(arrays, dtype, metadata);
  header.back() = ' ';  // the newline
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string length;
  for (unsigned i = 0; i < 8; ++i) length += static_cast<char>(header.size() >> (8 * i) & 255U);
  ArrayLayout layout;
  layout.size = static_cast<Index>(8 + header.size());
  layout.around.push_back({0, length + header});
  for (const TraceArray& array : arrays) {
    layout.begins.push_back(layout.size);
    layout.size += data_bytes(array, dtype);
  }
  return layout;
}

}  // namespace mha::io
