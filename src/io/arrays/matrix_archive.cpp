// A file with one array or several of them: one function for each format.
#include "io/arrays/matrix_archive.hpp"

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "core/utf8.hpp"
#include "io/arrays/safetensors.hpp"
#include "io/files/input_file.hpp"

namespace mha::io {
namespace {

using SharedFile = std::shared_ptr<const MappedFile>;

MatrixArchive open_npy(const SharedFile& file, const std::string& shown) {
  auto array = std::make_shared<StoredArray>();
  array->name = shown;
  array->file = file;
  array->header = read_npy_header({reinterpret_cast<const char*>(file->data()), file->size()}, file->size(), shown);
  file->expect_whole();
  return {"", {""}, [array](const std::string&) { return array; }};
}

MatrixArchive open_safetensors(const SharedFile& file, const std::string& shown) {
  const auto header = std::make_shared<const SafetensorsHeader>(read_safetensors_header(file->file(), shown));
  MatrixArchive archive{"tensor", {}, {}};
  for (const SafetensorsEntry& entry : header->tensors) archive.names.push_back(entry.name);
  archive.array = [file, shown, header](const std::string& name) -> std::shared_ptr<const StoredArray> {
    const SafetensorsEntry* const entry = header->find(name);
    if (entry == nullptr) return nullptr;
    expect_readable(*entry, shown);
    auto array = std::make_shared<StoredArray>();
    array->name = fmt::format("{} · {}", shown, escape(name, 80));
    array->file = file;
    array->header = {*entry->type, false, false, entry->shape, static_cast<std::size_t>(entry->begin)};
    check_size(array->header, array->name);
    if (static_cast<std::size_t>(entry->end) > file->size())  // it grew since it was mapped
      throw Error({"{}: the file changed while it was read; run again", "{}：读取时文件发生了变化；请重新运行"}, shown);
    return array;
  };
  return archive;
}

}  // namespace

Saying MatrixArchive::known(const std::string& name) const {
  constexpr std::size_t most = 20;
  const std::vector<std::string_view> views(names.begin(), names.end());
  Saying near = did_you_mean(name, views);
  if (!near.en.empty()) return near;
  if (names.empty()) return {" There is none in it.", "文件中没有数组。"};
  std::string list;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) list += (i == 0 ? "" : ", ") + escape(names[i], 80);
  if (names.size() <= most) return say({" It holds {}.", "文件中有：{}。"}, list);
  return say({" It holds {} and {} more.", "文件中有：{}，另外还有 {} 个。"}, list, names.size() - most);
}

MatrixArchive open_matrix_archive(const std::string& path, const std::string& written) {
  const std::string shown = escape(written, 80);
  const auto open = [&path] { return std::make_shared<const MappedFile>(path); };
  if (written.ends_with(".npy")) return open_npy(open(), shown);
  if (written.ends_with(".npz")) return open_npz(open(), shown);
  if (written.ends_with(".safetensors")) return open_safetensors(open(), shown);
  throw Error({"{}: matrices are read from .npy, .npz and .safetensors files; the ending says which",
               "{}：矩阵从 .npy、.npz 和 .safetensors 文件中读取，由扩展名区分"},
              shown);
}

}  // namespace mha::io
