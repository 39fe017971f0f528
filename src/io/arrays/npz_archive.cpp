// A .npz file, read through libzip from mapped memory. The library is loaded when the first such file is met: it brings a
// cryptography library along, which would double the time that `mha run` takes to start.
#include <dlfcn.h>
#include <fmt/format.h>
#include <zip.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "core/error.hpp"
#include "core/utf8.hpp"
#include "io/arrays/matrix_archive.hpp"

namespace mha::io {
namespace {

#ifdef MHA_LIBZIP
void* zip_symbol(const char* name) {
  static void* const library = dlopen(MHA_LIBZIP, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw Error(".npz files need libzip (" MHA_LIBZIP "), which is not here; install it, or save the arrays as .npy files");
  void* const symbol = dlsym(library, name);
  if (symbol == nullptr) throw Error(".npz files need libzip, and the one here is another version: " MHA_LIBZIP);
  return symbol;
}
#define MHA_ZIP(name) decltype(&zip_##name) name = reinterpret_cast<decltype(&zip_##name)>(zip_symbol("zip_" #name))
#else
#define MHA_ZIP(name) decltype(&zip_##name) name = &zip_##name
#endif

// The functions that are used, under their own names without "zip_".
struct Libzip {
  MHA_ZIP(source_buffer_create);
  MHA_ZIP(source_free);
  MHA_ZIP(open_from_source);
  MHA_ZIP(discard);
  MHA_ZIP(get_num_entries);
  MHA_ZIP(stat_index);
  MHA_ZIP(fopen_index);
  MHA_ZIP(fread);
  MHA_ZIP(fclose);
  MHA_ZIP(error_init);
  MHA_ZIP(error_fini);
  MHA_ZIP(error_strerror);
};
#undef MHA_ZIP

const Libzip& libzip() {
  static const Libzip zip;
  return zip;
}

constexpr std::string_view npy_ending = ".npy";
constexpr zip_uint64_t most_entries = 100'000;
constexpr zip_uint64_t best_deflation = 1032;  // no more bytes come of one, in the longest run of zeros

struct ZipEntry {
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
  return name.starts_with('/') || name.find('\\') != std::string_view::npos ||
         ("/" + std::string(name) + "/").find("/../") != std::string::npos;
}

class ZipReader {
 public:
  explicit ZipReader(std::shared_ptr<const MappedFile> file) : file_(std::move(file)) {
    if (file_->size() == 0) refuse("it is empty");
    ZipError error;
    zip_source_t* const source = libzip().source_buffer_create(file_->data(), file_->size(), 0, error.get());
    if (source == nullptr) refuse(error.text());
    archive_.reset(libzip().open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, error.get()));
    if (archive_ == nullptr) {
      libzip().source_free(source);
      refuse(error.text());
    }
    list_entries();
  }

  const std::vector<std::string>& names() const { return names_; }  // without the ending
  const ZipEntry* find(const std::string& name) const {
    const auto found = entries_.find(name + std::string(npy_ending));
    return found == entries_.end() ? nullptr : &found->second;
  }

  // The first `count` bytes of the entry, decompressed; all of them are checked against the entry's checksum.
  std::vector<std::byte> read(const ZipEntry& entry, std::size_t count, const std::string& shown) const;

 private:
  struct Discard {
    void operator()(zip_t* archive) const { libzip().discard(archive); }
  };

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(
        fmt::format("{}: this is no sound .npz file, which is a zip archive of arrays: {}", file_->file().path(), why));
  }

  void list_entries() {
    const zip_int64_t count = libzip().get_num_entries(archive_.get(), 0);
    if (count < 0 || static_cast<zip_uint64_t>(count) > most_entries)
      refuse(fmt::format("it has more than {} entries", most_entries));
    for (zip_uint64_t index = 0; index < static_cast<zip_uint64_t>(count); ++index) add_entry(index);
  }

  void add_entry(zip_uint64_t index) {
    zip_stat_t status;
    constexpr zip_uint64_t needed =
        ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if (libzip().stat_index(archive_.get(), index, ZIP_FL_ENC_RAW, &status) != 0 || (status.valid & needed) != needed)
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
    if (!entries_.try_emplace(name, ZipEntry{index, static_cast<std::size_t>(status.size)}).second)
      refuse(fmt::format("two entries have one name, {}", quote(name)));
    if (name.ends_with(npy_ending)) names_.push_back(name.substr(0, name.size() - npy_ending.size()));
  }

  std::shared_ptr<const MappedFile> file_;
  std::unique_ptr<zip_t, Discard> archive_;
  std::map<std::string, ZipEntry> entries_;
  std::vector<std::string> names_;
  mutable std::mutex mutex_;  // of the archive
};

std::vector<std::byte> ZipReader::read(const ZipEntry& entry, std::size_t count, const std::string& shown) const {
  const std::lock_guard lock(mutex_);
  const auto damaged = [&] { return Error(fmt::format("{}: the entry is damaged and cannot be decompressed", shown)); };
  const std::unique_ptr<zip_file_t, decltype(libzip().fclose)> file(libzip().fopen_index(archive_.get(), entry.index, 0),
                                                                    libzip().fclose);
  if (file == nullptr) throw damaged();
  std::vector<std::byte> bytes(count);
  for (std::size_t found = 0; found < count;) {
    const zip_int64_t more = libzip().fread(file.get(), bytes.data() + found, count - found);
    if (more <= 0) throw damaged();
    found += static_cast<std::size_t>(more);
  }
  std::byte beyond{};  // reading on to the end has the checksum compared
  if (count == entry.size && libzip().fread(file.get(), &beyond, 1) != 0) throw damaged();
  file_->expect_whole();
  return bytes;
}

}  // namespace

MatrixArchive open_npz(const std::shared_ptr<const MappedFile>& file, const std::string& shown) {
  const auto zip = std::make_shared<const ZipReader>(file);
  const auto array = [zip, file, shown](const std::string& name) -> std::shared_ptr<const StoredArray> {
    const ZipEntry* const entry = zip->find(name);
    if (entry == nullptr) return nullptr;
    auto found = std::make_shared<StoredArray>();
    found->name = fmt::format("{} in {}", escape(name, 80), shown);
    const std::vector<std::byte> beginning = zip->read(*entry, std::min(entry->size, longest_npy_header), found->name);
    found->header =
        read_npy_header({reinterpret_cast<const char*>(beginning.data()), beginning.size()}, entry->size, found->name);
    found->file = file;
    found->decompress = [zip, entry, in_archive = found->name] { return zip->read(*entry, entry->size, in_archive); };
    return found;
  };
  return {"name", zip->names(), array};
}

}  // namespace mha::io
