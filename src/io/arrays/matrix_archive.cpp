// A file with one array or several of them: one class for each format, and the table of endings.
#include "io/arrays/matrix_archive.hpp"

#include <fmt/format.h>

#include <array>

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "core/utf8.hpp"
#include "io/files/mapped_file.hpp"
#include "io/arrays/npy_header.hpp"
#include "io/arrays/npz_file.hpp"
#include "io/arrays/safetensors_header.hpp"

namespace mha::io {
namespace {

using File = std::shared_ptr<const MappedFile>;

class MappedBytes : public ArrayBytes {
 public:
  explicit MappedBytes(File file) : file_(std::move(file)) {}
  const std::byte* data() const override { return file_->data(); }
  void expect_whole() const override { file_->expect_whole(); }

 private:
  File file_;
};

class Npy : public MatrixArchive {
 public:
  Npy(const File& file, const std::string& shown) {
    auto array = std::make_shared<StoredArray>();
    array->header =
        read_npy_header({reinterpret_cast<const char*>(file->data()), file->size()}, file->size(), escape(shown, 80));
    array->bytes = std::make_shared<MappedBytes>(file);
    array->name = escape(shown, 80);
    file->expect_whole();
    array_ = std::move(array);
  }

  std::string_view key() const override { return ""; }
  std::shared_ptr<const StoredArray> array(const std::string&) const override { return array_; }
  std::vector<std::string> names() const override { return {""}; }

 private:
  std::shared_ptr<const StoredArray> array_;
};

class Npz : public MatrixArchive {
 public:
  Npz(File file, std::string shown) : file_(NpzFile::open(std::move(file))), shown_(std::move(shown)) {}

  std::string_view key() const override { return "name"; }
  std::shared_ptr<const StoredArray> array(const std::string& name) const override {
    for (const std::string& known : file_->names())
      if (known == name) return file_->array(name, fmt::format("{} in {}", escape(name, 80), escape(shown_, 80)));
    return nullptr;
  }
  std::vector<std::string> names() const override { return file_->names(); }

 private:
  std::shared_ptr<const NpzFile> file_;
  std::string shown_;
};

class Safetensors : public MatrixArchive {
 public:
  Safetensors(File file, std::string shown)
      : file_(std::move(file)), shown_(std::move(shown)), header_(read_safetensors_header(file_->descriptor(), shown_)) {}

  std::string_view key() const override { return "tensor"; }

  std::shared_ptr<const StoredArray> array(const std::string& name) const override {
    const SafetensorsEntry* const entry = header_.find(name);
    if (entry == nullptr) return nullptr;
    expect_readable(*entry, shown_);
    auto array = std::make_shared<StoredArray>();
    array->name = fmt::format("{} in {}", escape(name, 80), escape(shown_, 80));
    array->header.type = *safetensors_number_type(entry->dtype->name);
    array->header.axes = entry->shape;
    array->header.data_begin = static_cast<std::size_t>(entry->begin);
    array->bytes = std::make_shared<MappedBytes>(file_);
    check_size(array->header, array->name);
    if (static_cast<std::size_t>(entry->end) > file_->size())  // it grew since it was mapped
      throw Error(fmt::format("{}: the file changed while it was read; run again", shown_));
    return array;
  }

  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const SafetensorsEntry& entry : header_.tensors) names.push_back(entry.name);
    return names;
  }

 private:
  File file_;
  std::string shown_;
  SafetensorsHeader header_;
};

template <typename Archive>
std::unique_ptr<const MatrixArchive> make(const File& file, const std::string& shown) {
  return std::make_unique<Archive>(file, shown);
}

struct Ending {
  std::string_view ending;
  std::unique_ptr<const MatrixArchive> (*open)(const File& file, const std::string& shown);
};
constexpr std::array endings = {
    Ending{".npy", make<Npy>},
    Ending{".npz", make<Npz>},
    Ending{".safetensors", make<Safetensors>},
};

}  // namespace

std::string MatrixArchive::known(const std::string& name) const {
  constexpr std::size_t most = 20;
  const std::vector<std::string> all = names();
  const std::vector<std::string_view> views(all.begin(), all.end());
  std::string text = did_you_mean(name, views);
  if (!text.empty()) return text;
  if (all.empty()) return " There is none in it.";
  text = " It holds ";
  for (std::size_t i = 0; i < all.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + escape(all[i], 80);
  return text + (all.size() > most ? fmt::format(" and {} more.", all.size() - most) : ".");
}

std::unique_ptr<const MatrixArchive> open_matrix_archive(const std::string& path, const std::string& shown) {
  for (const Ending& row : endings)
    if (shown.ends_with(row.ending)) return row.open(std::make_shared<const MappedFile>(path), shown);
  throw Error(fmt::format("{}: matrices are read from .npy, .npz and .safetensors files; the ending says which",
                          escape(shown, 80)));
}

}  // namespace mha::io
