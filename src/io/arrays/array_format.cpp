// The binary formats of a trace. A .npz file is a zip archive whose entries are stored, so that sizes and places are known
// before the numbers are; a library would want each entry whole, and copies the archive when it closes it.
#include "io/arrays/array_format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/json/json_writer.hpp"

namespace mha::io {
namespace {

Index data_bytes(const TraceArray& array, Dtype dtype) {
  return array.rows() * array.cols() * bytes_of(dtype);
}

// Version 1.0, filled with spaces so that the numbers begin at a multiple of 64 bytes.
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

constexpr std::uint32_t local_signature = 0x04034b50, entry_signature = 0x02014b50, end_signature = 0x06054b50;
constexpr std::uint32_t end64_signature = 0x06064b50, locator64_signature = 0x07064b50;
constexpr int plain_version = 20, zip64_version = 45;
constexpr std::uint32_t first_of_1980 = 0x00210000;  // the date of all entries: the same numbers give the same bytes
constexpr std::uint32_t see_zip64 = 0xFFFFFFFF;

class ZipRecord {
 public:
  template <typename... Numbers>
  ZipRecord& u16(Numbers... numbers) {
    (put(static_cast<std::uint64_t>(numbers), 2), ...);
    return *this;
  }
  template <typename... Numbers>
  ZipRecord& u32(Numbers... numbers) {
    (put(static_cast<std::uint64_t>(numbers), 4), ...);
    return *this;
  }
  template <typename... Numbers>
  ZipRecord& u64(Numbers... numbers) {
    (put(static_cast<std::uint64_t>(numbers), 8), ...);
    return *this;
  }
  ZipRecord& text(const std::string& text) {
    bytes_ += text;
    return *this;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void put(std::uint64_t number, int bytes) {
    for (int i = 0; i < bytes; ++i) bytes_ += static_cast<char>(number >> (8 * i) & 255U);
  }

  std::string bytes_;
};

struct ZippedArray {
  std::string name;
  Index size;  // of the .npy array, header and all
  bool large;  // the size needs the 64-bit form
  std::uint32_t crc = 0;
  Index begin = 0;
};

ZippedArray zipped(const TraceArray& array, Dtype dtype, Index large) {
  const Index size = static_cast<Index>(npy_header(array, dtype).size()) + data_bytes(array, dtype);
  return {array.name + ".npy", size, size >= large};
}

std::string local_header(const ZippedArray& entry) {
  const std::uint64_t size = entry.large ? see_zip64 : static_cast<std::uint64_t>(entry.size);
  ZipRecord record;
  record.u32(local_signature).u16(entry.large ? zip64_version : plain_version, 0, 0).u32(first_of_1980, entry.crc);
  record.u32(size, size).u16(entry.name.size(), entry.large ? 20 : 0).text(entry.name);
  if (entry.large) record.u16(1, 16).u64(entry.size, entry.size);
  return record.bytes();
}

std::string directory_entry(const ZippedArray& entry, Index large) {
  const bool far = entry.begin >= large;
  const std::uint64_t size = entry.large ? see_zip64 : static_cast<std::uint64_t>(entry.size);
  const std::uint64_t begin = far ? see_zip64 : static_cast<std::uint64_t>(entry.begin);
  const int extra = (entry.large ? 16 : 0) + (far ? 8 : 0);
  const int version = extra > 0 ? zip64_version : plain_version;
  ZipRecord record;
  record.u32(entry_signature).u16(version, version, 0, 0).u32(first_of_1980, entry.crc, size, size);
  record.u16(entry.name.size(), extra > 0 ? extra + 4 : 0, 0, 0, 0).u32(0, begin).text(entry.name);
  if (extra > 0) record.u16(1, extra);
  if (entry.large) record.u64(entry.size, entry.size);
  if (far) record.u64(entry.begin);
  return record.bytes();
}

std::string end_of_directory(std::size_t entries, Index begin, Index size, Index large) {
  const bool many = entries >= 0xFFFF || begin >= large || size >= large;
  ZipRecord record;
  if (many) {
    record.u32(end64_signature).u64(44).u16(zip64_version, zip64_version).u32(0, 0);
    record.u64(entries, entries, size, begin);
    record.u32(locator64_signature, 0).u64(begin + size).u32(1);
    record.u32(end_signature).u16(0, 0, 0xFFFF, 0xFFFF).u32(see_zip64, see_zip64).u16(0);
  } else {
    record.u32(end_signature).u16(0, 0, entries, entries).u32(size, begin).u16(0);
  }
  return record.bytes();
}

}  // namespace

ArrayLayout npy_layout(const TraceArray& array, Dtype dtype) {
  std::string header = npy_header(array, dtype);
  const auto begin = static_cast<Index>(header.size());
  return {{begin}, {{0, std::move(header)}}, begin + data_bytes(array, dtype)};
}

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

ArrayLayout npz_layout(const std::vector<TraceArray>& arrays, Dtype dtype, Index large) {
  ArrayLayout layout;
  for (const TraceArray& array : arrays) {
    const ZippedArray entry = zipped(array, dtype, large);
    layout.size += static_cast<Index>(local_header(entry).size());
    layout.around.push_back({layout.size, npy_header(array, dtype)});
    layout.size += entry.size;
    layout.begins.push_back(layout.size - data_bytes(array, dtype));
  }
  return layout;
}

std::vector<FilePiece> npz_directory(const std::vector<TraceArray>& arrays, Dtype dtype, const ArrayLayout& layout,
                                     const std::function<std::uint32_t(Index begin, Index count)>& crc, Index large) {
  std::vector<FilePiece> pieces;
  std::string directory;
  Index begin = 0;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    ZippedArray entry = zipped(arrays[i], dtype, large);
    entry.begin = begin;
    entry.crc = crc(layout.around[i].begin, entry.size);
    pieces.push_back({begin, local_header(entry)});
    directory += directory_entry(entry, large);
    begin = layout.around[i].begin + entry.size;
  }
  directory += end_of_directory(arrays.size(), begin, static_cast<Index>(directory.size()), large);
  pieces.push_back({begin, std::move(directory)});
  return pieces;
}

}  // namespace mha::io
