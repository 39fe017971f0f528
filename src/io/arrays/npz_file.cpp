// A .npz file, read through libzip from mapped memory.
#include "io/arrays/npz_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "core/error.hpp"
#include "core/utf8.hpp"
#include "io/arrays/libzip.hpp"
#include "io/arrays/npy_header.hpp"

namespace mha::io {
namespace {

constexpr std::string_view ending = ".npy";
constexpr zip_uint64_t most_entries = 100'000;
constexpr zip_uint64_t best_deflation = 1032;  // no more bytes come of one, in the longest run of zeros

struct Entry {
  zip_uint64_t index;
  std::size_t size;
};

class ZipError {
 public:
  ZipError() { libzip().error_init(&error_); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
  ~ZipError() { libzip().error_fini(&error_); }

  zip_error_t* get() { return &error_; }
  std::string text() {
    if (error_.zip_err == ZIP_ER_EXISTS) return "two entries have one name";
    return libzip().error_strerror(&error_);
  }

 private:
  zip_error_t error_;
};

// An archive of some directory may hold such a name, an archive of arrays does not.
bool leads_outside(std::string_view name) {
  if (name.starts_with('/') || name.find('\\') != std::string_view::npos) return true;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('/', begin), name.size());
    if (name.substr(begin, end - begin) == "..") return true;
    begin = end + 1;
  }
  return false;
}

class ZippedArrays : public NpzFile {
 public:
  explicit ZippedArrays(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {
    if (file_->size() == 0) refuse("it is empty");
    ZipError error;
    zip_source_t* const source = libzip().source_buffer_create(file_->data(), file_->size(), 0, error.get());
    if (source == nullptr) refuse(error.text());
    archive_ = libzip().open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, error.get());
    if (archive_ == nullptr) {
      libzip().source_free(source);
      refuse(error.text());
    }
    try {
      list_entries();
    } catch (...) {
      libzip().discard(archive_);
      throw;
    }
  }
  ZippedArrays(const ZippedArrays&) = delete;
  ZippedArrays& operator=(const ZippedArrays&) = delete;
  ~ZippedArrays() override { libzip().discard(archive_); }

  const std::vector<std::string>& names() const override { return names_; }
  std::shared_ptr<const StoredArray> array(const std::string& name, const std::string& shown) const override;

  // The first `count` bytes of the entry, decompressed; all of them are checked against the entry's checksum.
  std::vector<std::byte> read(const Entry& entry, std::size_t count, const std::string& shown) const;
  void expect_whole() const { file_->expect_whole(); }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(fmt::format("{}: this is no sound .npz file, which is a zip archive of arrays: {}", file_->path(), why));
  }

  void list_entries() {
    const zip_int64_t count = libzip().get_num_entries(archive_, 0);
    if (count < 0 || static_cast<zip_uint64_t>(count) > most_entries)
      refuse(fmt::format("it has more than {} entries", most_entries));
    for (zip_uint64_t index = 0; index < static_cast<zip_uint64_t>(count); ++index) add_entry(index);
  }

  void add_entry(zip_uint64_t index) {
    zip_stat_t status;
    constexpr zip_uint64_t needed =
        ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if (libzip().stat_index(archive_, index, ZIP_FL_ENC_RAW, &status) != 0 || (status.valid & needed) != needed)
      refuse(fmt::format("nothing can be told of entry {}", index));
    const std::string name = status.name;
    if (leads_outside(name)) refuse(fmt::format("the name {} leads out of its folder", quote(name)));
    if (status.encryption_method != ZIP_EM_NONE) refuse(fmt::format("{} is encrypted", quote(name)));
    if (status.comp_method != ZIP_CM_STORE && status.comp_method != ZIP_CM_DEFLATE)
      refuse(fmt::format("{} is compressed by another method than deflate", quote(name)));
    const bool stored = status.comp_method == ZIP_CM_STORE;
    if (status.comp_size > file_->size() || (stored && status.size != status.comp_size) ||
        (!stored && status.size > best_deflation * status.comp_size))
      refuse(fmt::format("{} shall have {} bytes, which cannot come of {}", quote(name), status.size, status.comp_size));
    if (!entries_.try_emplace(name, Entry{index, static_cast<std::size_t>(status.size)}).second)
      refuse(fmt::format("two entries have one name, {}", quote(name)));
    if (name.ends_with(ending)) names_.push_back(name.substr(0, name.size() - ending.size()));
  }

  std::shared_ptr<const MappedFile> file_;
  zip_t* archive_ = nullptr;
  std::map<std::string, Entry> entries_;
  std::vector<std::string> names_;
  mutable std::mutex mutex_;  // of the archive
};

// An array's bytes, header and all, once they are asked for.
class Decompressed : public ArrayBytes {
 public:
  Decompressed(std::shared_ptr<const ZippedArrays> archive, Entry entry, std::string shown)
      : archive_(std::move(archive)), entry_(entry), shown_(std::move(shown)) {}

  const std::byte* data() const override {
    const std::lock_guard lock(mutex_);
    if (bytes_.empty()) bytes_ = archive_->read(entry_, entry_.size, shown_);
    return bytes_.data();
  }

 private:
  std::shared_ptr<const ZippedArrays> archive_;
  Entry entry_;
  std::string shown_;
  mutable std::mutex mutex_;
  mutable std::vector<std::byte> bytes_;
};

std::vector<std::byte> ZippedArrays::read(const Entry& entry, std::size_t count, const std::string& shown) const {
  const std::lock_guard lock(mutex_);
  const auto damaged = [&] { return Error(fmt::format("{}: the entry is damaged and cannot be decompressed", shown)); };
  zip_file_t* const file = libzip().fopen_index(archive_, entry.index, 0);
  if (file == nullptr) throw damaged();
  const std::unique_ptr<zip_file_t, decltype(libzip().fclose)> closer(file, libzip().fclose);
  std::vector<std::byte> bytes(count);
  std::size_t found = 0;
  while (found < count) {
    const zip_int64_t more = libzip().fread(file, bytes.data() + found, count - found);
    if (more <= 0) throw damaged();
    found += static_cast<std::size_t>(more);
  }
  std::byte beyond{};  // reading on to the end has the checksum compared
  if (count == entry.size && libzip().fread(file, &beyond, 1) != 0) throw damaged();
  file_->expect_whole();
  return bytes;
}

std::shared_ptr<const StoredArray> ZippedArrays::array(const std::string& name, const std::string& shown) const {
  const Entry& entry = entries_.at(name + std::string(ending));
  const std::vector<std::byte> beginning = read(entry, std::min(entry.size, longest_npy_header), shown);
  auto array = std::make_shared<StoredArray>();
  array->header = read_npy_header({reinterpret_cast<const char*>(beginning.data()), beginning.size()}, entry.size, shown);
  array->bytes =
      std::make_shared<Decompressed>(std::static_pointer_cast<const ZippedArrays>(shared_from_this()), entry, shown);
  array->name = shown;
  return array;
}

}  // namespace

std::shared_ptr<const NpzFile> NpzFile::open(std::shared_ptr<const MappedFile> file) {
  return std::make_shared<ZippedArrays>(std::move(file));
}

}  // namespace mha::io
