// A zip archive in mapped memory. libzip is loaded when the first one is met: it brings a cryptography library along, which
// would double the time that `mha run` takes to start.
#include "io/arrays/zip_archive.hpp"

#include <dlfcn.h>
#include <zip.h>

#include "core/error.hpp"
#include "core/utf8.hpp"

namespace mha::io {
namespace {

#ifdef MHA_LIBZIP
void* zip_symbol(const char* name) {
  static void* const library = dlopen(MHA_LIBZIP, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw Error(
        {".npz and .xlsx files need libzip ({}), which is not here; install it, or save the numbers as .npy or .csv files",
         ".npz 和 .xlsx 文件需要 libzip（{}），而这里没有；请安装，或把数存为 .npy 或 .csv 文件"},
        MHA_LIBZIP);
  void* const symbol = dlsym(library, name);
  if (symbol == nullptr)
    throw Error({".npz and .xlsx files need libzip, and the one here is another version: {}",
                 ".npz 和 .xlsx 文件需要 libzip，而这里的是另一个版本：{}"},
                MHA_LIBZIP);
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

constexpr zip_uint64_t most_entries = 100'000;
constexpr zip_uint64_t best_deflation = 1032;  // no more bytes come of one, in the longest run of zeros

class ZipError {
 public:
  ZipError() { libzip().error_init(&error_); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
  ~ZipError() { libzip().error_fini(&error_); }

  zip_error_t* get() { return &error_; }
  Saying text() {
    const std::string said =
        error_.zip_err == ZIP_ER_EXISTS ? "two entries have one name" : libzip().error_strerror(&error_);
    switch (error_.zip_err) {
      case ZIP_ER_EXISTS: return {said, "有两个成员同名"};
      case ZIP_ER_NOZIP: return {said, "它不是 zip 压缩包"};
      default: return {said, "压缩包已损坏或不完整"};
    }
  }

 private:
  zip_error_t error_;
};

// An archive of some directory may hold such a name, an archive of arrays does not.
bool leads_outside(std::string_view name) {
  return name.starts_with('/') || name.find('\\') != std::string_view::npos ||
         ("/" + std::string(name) + "/").find("/../") != std::string::npos;
}

}  // namespace

void ZipArchive::Discard::operator()(zip* archive) const {
  libzip().discard(archive);
}

template <typename... Parts>
void ZipArchive::refuse(const Text& why, const Parts&... parts) const {
  throw Error({"{}: {}: {}", "{}：{}：{}"}, file_->file().path(), kind_, say(why, parts...));
}

ZipArchive::ZipArchive(std::shared_ptr<const MappedFile> file, const Text& kind) : file_(std::move(file)), kind_(kind) {
  if (file_->size() == 0) refuse({"it is empty", "文件是空的"});
  ZipError error;
  zip_source_t* const source = libzip().source_buffer_create(file_->data(), file_->size(), 0, error.get());
  if (source == nullptr) refuse({"{}", "{}"}, error.text());
  archive_.reset(libzip().open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, error.get()));
  if (archive_ == nullptr) {
    libzip().source_free(source);
    refuse({"{}", "{}"}, error.text());
  }
  list_entries();
}

void ZipArchive::list_entries() {
  const zip_int64_t count = libzip().get_num_entries(archive_.get(), 0);
  if (count < 0 || static_cast<zip_uint64_t>(count) > most_entries)
    refuse({"it has more than {} entries", "成员超过 {} 个"}, most_entries);
  for (zip_uint64_t index = 0; index < static_cast<zip_uint64_t>(count); ++index) add_entry(index);
}

void ZipArchive::add_entry(std::uint64_t index) {
  zip_stat_t status;
  constexpr zip_uint64_t needed =
      ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
  if (libzip().stat_index(archive_.get(), index, ZIP_FL_ENC_RAW, &status) != 0 || (status.valid & needed) != needed)
    refuse({"nothing can be told of entry {}", "无法得知成员 {} 的情况"}, index);
  const std::string name = status.name;
  if (leads_outside(name)) refuse({"the name {} leads out of its folder", "名称 {} 指向文件夹之外"}, quote(name));
  if (status.encryption_method != ZIP_EM_NONE) refuse({"{} is encrypted", "{} 已加密"}, quote(name));
  if (status.comp_method != ZIP_CM_STORE && status.comp_method != ZIP_CM_DEFLATE)
    refuse({"{} is compressed by another method than deflate", "{} 用的不是 deflate 压缩"}, quote(name));
  const bool stored = status.comp_method == ZIP_CM_STORE;
  if (status.comp_size > file_->size() || (stored && status.size != status.comp_size) ||
      (!stored && status.size > best_deflation * status.comp_size))
    refuse({"{} shall have {} bytes, which cannot come of {}", "{} 应有 {} 个字节，不可能由 {} 个字节得来"}, quote(name),
           status.size, status.comp_size);
  if (!entries_.try_emplace(name, ZipEntry{index, static_cast<std::size_t>(status.size)}).second)
    refuse({"two entries have one name, {}", "有两个成员同名：{}"}, quote(name));
}

std::vector<std::byte> ZipArchive::read(const ZipEntry& entry, std::size_t count, const std::string& shown) const {
  const std::lock_guard lock(mutex_);
  const auto damaged = [&] {
    return Error({"{}: the entry is damaged and cannot be decompressed", "{}：成员已损坏，无法解压"}, shown);
  };
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

}  // namespace mha::io
