// A file with one array or several of them: one class for each format, and the table of endings.
#include "io/arrays/matrix_archive.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "io/arrays/npy_header.hpp"
#include "io/arrays/safetensors.hpp"
#include "io/json/quote.hpp"

namespace mha::io {
namespace {

using SharedFile = std::shared_ptr<const MappedFile>;

class MappedBytes : public ArrayBytes {
 public:
  explicit MappedBytes(SharedFile file) : file_(std::move(file)) {}
  const std::byte* data() const override { return file_->data(); }
  void expect_whole() const override { file_->expect_whole(); }

 private:
  SharedFile file_;
};

class Npy : public MatrixArchive {
 public:
  Npy(const SharedFile& file, const std::string& shown) {
    StoredArray array;
    array.name = escape(shown, 80);
    array.header = read_npy_header({reinterpret_cast<const char*>(file->data()), file->size()}, file->size(), array.name);
    array.bytes = std::make_shared<MappedBytes>(file);
    file->expect_whole();
    array_ = std::make_shared<const StoredArray>(std::move(array));
  }

  std::string_view key() const override { return ""; }
  std::shared_ptr<const StoredArray> array(const std::string&) const override { return array_; }
  std::vector<std::string> names() const override { return {""}; }

 private:
  std::shared_ptr<const StoredArray> array_;
};

class Safetensors : public MatrixArchive {
 public:
  Safetensors(SharedFile file, std::string shown)
      : file_(std::move(file)), shown_(std::move(shown)), header_(read_safetensors_header(file_->file(), shown_)) {}

  std::string_view key() const override { return "tensor"; }

  std::shared_ptr<const StoredArray> array(const std::string& name) const override {
    const SafetensorsEntry* const entry = header_.find(name);
    if (entry == nullptr) return nullptr;
    expect_readable(*entry, shown_);
    const ArrayHeader header{*entry->type, false, false, entry->shape, static_cast<std::size_t>(entry->begin)};
    auto array = std::make_shared<const StoredArray>(StoredArray{
        header, std::make_shared<MappedBytes>(file_), fmt::format("{} in {}", escape(name, 80), escape(shown_, 80))});
    check_size(header, array->name);
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
  SharedFile file_;
  std::string shown_;
  SafetensorsHeader header_;
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

std::shared_ptr<const MatrixArchive> open_matrix_archive(const std::string& path, const std::string& shown) {
  if (shown.ends_with(".npy")) return std::make_shared<const Npy>(std::make_shared<const MappedFile>(path), shown);
  if (shown.ends_with(".npz")) return open_npz(std::make_shared<const MappedFile>(path), shown);
  if (shown.ends_with(".safetensors"))
    return std::make_shared<const Safetensors>(std::make_shared<const MappedFile>(path), shown);
  throw Error(fmt::format("{}: matrices are read from .npy, .npz and .safetensors files; the ending says which",
                          escape(shown, 80)));
}

}  // namespace mha::io
