// A .npz file: a .npy array in each entry of a zip archive.

#include "core/utf8.hpp"
#include "io/arrays/array.hpp"
#include "io/arrays/zip_archive.hpp"

namespace mha::io {
namespace {

constexpr std::string_view npy_ending = ".npy";
constexpr Text npz_kind{"this is no sound .npz file, which is a zip archive of arrays",
                        "这不是完好的 .npz 文件（.npz 是数组的 zip 压缩包）"};

}  // namespace

MatrixArchive open_npz(const std::shared_ptr<const MappedFile>& file, const std::string& shown) {
  const auto zip = std::make_shared<const ZipArchive>(file, npz_kind);
  std::vector<std::string> names;
  for (const auto& [name, entry] : zip->entries())
    if (name.ends_with(npy_ending)) names.push_back(name.substr(0, name.size() - npy_ending.size()));
  std::sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {  // as they lie in the file
    return zip->find(a + std::string(npy_ending))->index < zip->find(b + std::string(npy_ending))->index;
  });
  const auto array = [zip, file, shown](const std::string& name) -> std::shared_ptr<const StoredArray> {
    const ZipEntry* const entry = zip->find(name + std::string(npy_ending));
    if (entry == nullptr) return nullptr;
    auto found = std::make_shared<StoredArray>();
    found->name = fmt::format("{} · {}", shown, escape(name, 80));
    const std::vector<std::byte> beginning = zip->read(*entry, std::min(entry->size, longest_npy_header), found->name);
    found->header =
        read_npy_header({reinterpret_cast<const char*>(beginning.data()), beginning.size()}, entry->size, found->name);
    found->file = file;
    found->decompress = [zip, entry, in_archive = found->name] { return zip->read(*entry, entry->size, in_archive); };
    return found;
  };
  return {"name", names, array};
}

}  // namespace mha::io
