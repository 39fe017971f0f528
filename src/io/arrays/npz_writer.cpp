// The .npz format: a zip archive whose entries are stored, so that sizes and places are known before the numbers are. A
// library would want each entry whole, and copies the archive when it closes it.
#include "io/arrays/array_format.hpp"
#include "io/arrays/npy_writer.hpp"

namespace mha::io {
namespace {

constexpr std::uint32_t local_signature = 0x04034b50, entry_signature = 0x02014b50, end_signature = 0x06054b50;
constexpr std::uint32_t end64_signature = 0x06064b50, locator64_signature = 0x07064b50;
constexpr int plain_version = 20, zip64_version = 45;
constexpr std::uint32_t first_of_1980 = 0x00210000;  // the date of all entries: the same numbers give the same bytes
constexpr std::uint32_t see_zip64 = 0xFFFFFFFF;

class Record {
 public:
  template <typename... Numbers>
  Record& u16(Numbers... numbers) {
    (put(static_cast<std::uint64_t>(numbers), 2), ...);
    return *this;
  }
  template <typename... Numbers>
  Record& u32(Numbers... numbers) {
    (put(static_cast<std::uint64_t>(numbers), 4), ...);
    return *this;
  }
  template <typename... Numbers>
  Record& u64(Numbers... numbers) {
    (put(static_cast<std::uint64_t>(numbers), 8), ...);
    return *this;
  }
  Record& text(const std::string& text) {
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

struct Entry {
  std::string name;
  Index size;  // of the .npy array, header and all
  bool large;  // the size needs the 64-bit form
  std::uint32_t crc = 0;
  Index begin = 0;
};

Entry entry_of(const TraceArray& array, Dtype dtype, Index large) {
  const Index size = static_cast<Index>(npy_header(array, dtype).size()) + data_bytes(array, dtype);
  return {array.name + ".npy", size, size >= large};
}

std::string local_header(const Entry& entry) {
  const std::uint64_t size = entry.large ? see_zip64 : static_cast<std::uint64_t>(entry.size);
  Record record;
  record.u32(local_signature).u16(entry.large ? zip64_version : plain_version, 0, 0).u32(first_of_1980, entry.crc);
  record.u32(size, size).u16(entry.name.size(), entry.large ? 20 : 0).text(entry.name);
  if (entry.large) record.u16(1, 16).u64(entry.size, entry.size);
  return record.bytes();
}

std::string directory_entry(const Entry& entry, Index large) {
  const bool far = entry.begin >= large;
  const std::uint64_t size = entry.large ? see_zip64 : static_cast<std::uint64_t>(entry.size);
  const std::uint64_t begin = far ? see_zip64 : static_cast<std::uint64_t>(entry.begin);
  const int extra = (entry.large ? 16 : 0) + (far ? 8 : 0);
  const int version = extra > 0 ? zip64_version : plain_version;
  Record record;
  record.u32(entry_signature).u16(version, version, 0, 0).u32(first_of_1980, entry.crc, size, size);
  record.u16(entry.name.size(), extra > 0 ? extra + 4 : 0, 0, 0, 0).u32(0, begin).text(entry.name);
  if (extra > 0) record.u16(1, extra);
  if (entry.large) record.u64(entry.size, entry.size);
  if (far) record.u64(entry.begin);
  return record.bytes();
}

std::string end_of_directory(std::size_t entries, Index begin, Index size, Index large) {
  const bool many = entries >= 0xFFFF || begin >= large || size >= large;
  Record record;
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

ArrayLayout npz_layout(const std::vector<TraceArray>& arrays, Dtype dtype, Index large) {
  ArrayLayout layout;
  for (const TraceArray& array : arrays) {
    const Entry entry = entry_of(array, dtype, large);
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
    Entry entry = entry_of(arrays[i], dtype, large);
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
