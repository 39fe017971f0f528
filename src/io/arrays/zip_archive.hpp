// A zip archive in mapped memory, read through libzip.
#pragma once

#include <map>
#include <mutex>

#include "core/text.hpp"
#include "io/files/input_file.hpp"

struct zip;

namespace mha::io {

struct ZipEntry {
  std::uint64_t index;
  std::size_t size;
};

// Throws Error where it is damaged, encrypted, with two entries of one name or with names that lead out of a folder.
class ZipArchive {
 public:
  // `kind` says what kind of file it should be: "this is no sound .npz file, which is …".
  ZipArchive(std::shared_ptr<const MappedFile> file, const Text& kind);

  const std::map<std::string, ZipEntry>& entries() const { return entries_; }
  const ZipEntry* find(const std::string& name) const {
    const auto found = entries_.find(name);
    return found == entries_.end() ? nullptr : &found->second;
  }

  // The first `count` bytes of the entry, decompressed; all of them are checked against the entry's checksum. `shown` is
  // what messages call it.
  std::vector<std::byte> read(const ZipEntry& entry, std::size_t count, const std::string& shown) const;

 private:
  struct Discard {
    void operator()(zip* archive) const;
  };

  template <typename... Parts>
  [[noreturn]] void refuse(const Text& why, const Parts&... parts) const;
  void list_entries();
  void add_entry(std::uint64_t index);

  std::shared_ptr<const MappedFile> file_;
  Text kind_;
  std::unique_ptr<zip, Discard> archive_;
  std::map<std::string, ZipEntry> entries_;
  mutable std::mutex mutex_;  // of the archive
};

}  // namespace mha::io
