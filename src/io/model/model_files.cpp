// A model as it lies in files. Only headers are read; the shards of an index only where they are needed.
#include "io/model/model_files.hpp"

#include <fmt/ranges.h>

#include <filesystem>

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "core/utf8.hpp"
#include "io/arrays/array.hpp"
#include "io/files/input_file.hpp"
#include "io/files/paths.hpp"
#include "io/json/reader.hpp"
#include "io/json/tree.hpp"

namespace mha::io {
namespace {

constexpr std::string_view single_name = "model.safetensors";
constexpr std::string_view index_name = "model.safetensors.index.json";
constexpr std::string_view safetensors_ending = ".safetensors", npz_ending = ".npz";

std::string in_folder(const std::string& folder, std::string_view name) {
  return folder == "." ? std::string(name) : (std::filesystem::path(folder) / name).string();
}

// The shard beside the index that a member of its weight_map names.
const std::string& shard_of(const Node& node) {
  const std::string& name = expect_text(node);
  if (name.empty() || name.find('/') != std::string::npos || !name.ends_with(safetensors_ending))
    fail(node,
         {"found {}, expected the name of a .safetensors file in the same folder",
          "这里是{}，应为同一文件夹中 .safetensors 文件的名称"},
         quote(name));
  return name;
}

const Object& object_at(const Node& node) {
  return expect<Object>(node, {"an object", "对象"});
}

const Object& weight_map_of(const Node& root) {
  if (const Node* map = ModelConfig::value_in(root.as<Object>(), "weight_map")) return object_at(*map);
  fail(root, {"there is no \"weight_map\", so this is no index of a model in shards; name a .safetensors file, a "
              "model.safetensors.index.json or the model's folder",
              "没有 \"weight_map\"，因此这不是分片模型的索引；请写 .safetensors 文件、model.safetensors.index.json "
              "或模型的文件夹"});
}

// The arrays of a .npz file as tensors.
SafetensorsHeader header_of_arrays(const std::string& path) {
  const MatrixArchive archive = open_matrix_archive(path, path);
  SafetensorsHeader header;
  for (const std::string& name : archive.names) {
    const ArrayHeader array = archive.array(name)->header;
    const NumberTypeInfo& type = number_types[static_cast<std::size_t>(array.type)];
    header.tensors.push_back({name, type.safetensors, type.type, 8 * type.bytes, array.axes});
  }
  return header;
}

// The value and its path, where there is one.
template <typename Expect>
auto configured(const Node* node, Expect expect) {
  using Value = std::decay_t<decltype(expect(*node))>;
  return node == nullptr ? std::optional<Configured<Value>>() : Configured<Value>{expect(*node), node->path};
}

constexpr Index largest_count = 1'000'000'000;  // so that the product of two is an integer

}  // namespace

std::string shape_of(const SafetensorsEntry& entry) {
  return entry.shape.empty() ? "scalar" : fmt::format("{}", fmt::join(entry.shape, "×"));
}

ModelFiles::ModelFiles(const std::string& path) {
  const auto status = status_of(path);
  const bool is_folder = status && S_ISDIR(status->st_mode);
  folder_ = is_folder ? path : folder_of(path);
  if (is_folder)
    read_folder();
  else
    path.ends_with(".json") ? read_index(path) : read_single(path);
  for (const auto& [name, file] : places_) names_.push_back(name);
}

// What belongs to the model in its folder: the whole file where there is one, as the libraries have it.
void ModelFiles::read_folder() {
  const std::string index = in_folder(folder_, index_name), single = in_folder(folder_, single_name);
  if (status_of(single)) return read_single(single);
  if (status_of(index)) return read_index(index);
  std::vector<std::string> names = files_in(folder_);
  std::erase_if(names,
                [](const std::string& name) { return !name.ends_with(safetensors_ending) && !name.ends_with(npz_ending); });
  if (names.size() == 1) return read_single(in_folder(folder_, names.front()));
  if (names.empty())
    throw Error({"{}: there is no .safetensors or .npz file in this folder; mha reads models that are saved so",
                 "{}：这个文件夹里没有 .safetensors 或 .npz 文件；mha 读取这样保存的模型"},
                folder_);
  throw Error({"{}: there are several such files and no {}; name one of them: {}",
               "{}：有几个这样的文件，但没有 {}；请写其中一个：{}"},
              folder_, index_name, listed(names));
}

void ModelFiles::read_single(const std::string& path) {
  const SafetensorsHeader& all = header(path);  // which knows other formats by their first bytes
  if (!path.ends_with(safetensors_ending) && !path.ends_with(npz_ending))
    throw Error({"{}: the name of a .safetensors file ends so, which is how `mha run` knows it; rename it",
                 "{}：.safetensors 文件的名称要以此结尾，`mha run` 由此识别它；请改名"},
                path);
  for (const SafetensorsEntry& entry : all.tensors) places_[entry.name] = path;
}

void ModelFiles::read_index(const std::string& path) {
  const InputFile file(path);
  index_ = path;
  under_name(path, [&] {
    Source source(file.fd());
    const Node root = read_json(source, {}, NumberTexts::none, Notes::kept);
    for (const Member& member : weight_map_of(root)) places_[member.key] = in_folder(folder_, shard_of(member.node));
  });
}

const SafetensorsHeader& ModelFiles::header(const std::string& file) {
  const auto found = headers_.find(file);
  if (found != headers_.end()) return found->second;
  return headers_[file] =
             file.ends_with(npz_ending) ? header_of_arrays(file) : read_safetensors_header(InputFile(file), file);
}

const SafetensorsEntry& ModelFiles::tensor(std::string_view name) {
  if (!has(name))
    throw Error({"the {} is missing; a model in shards is named by its folder or its model.safetensors.index.json",
                 "缺少{}；分片的模型请写它的文件夹或 model.safetensors.index.json"},
                tensor_called(name));
  const std::string& file = file_of(name);
  if (const SafetensorsEntry* entry = header(file).find(name)) return *entry;
  throw Error(
      {"{}: the {} is not in it, though {} says so; fetch both again", "{}：其中没有{}，而{}说有；请把两者都重新获取"},
      file, tensor_called(name), index_ ? named_so(*index_) : Saying{"the index", "索引"});
}

std::vector<std::string> ModelFiles::files() const {
  std::vector<std::string> files;
  if (index_) files.push_back(*index_);
  for (const auto& [name, file] : places_)
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  return files;
}

ModelConfig::ModelConfig(const std::string& folder) {
  const std::string path = in_folder(folder, "config.json");
  if (!status_of(path)) return;
  const InputFile file(path);
  if (file.status().st_size == 0)
    throw Error({"{}: it is empty; fetch it again, or import from a folder without it and say with options what it would",
                 "{}：文件是空的；请重新获取，或从没有它的文件夹导入，由选项说明它的内容"},
                path);
  under_name(path, [&] {
    Source source(file.fd());
    root_ = read_json(source, {}, NumberTexts::none);
    values_ = &object_at(root_);
    const Node* text_model = head_count() ? nullptr : value("text_config");
    if (text_model != nullptr && text_model->as<Object>() != nullptr) values_ = text_model->as<Object>();
  });
  path_ = path;
}

bool ModelConfig::has(std::string_view key) const {
  return values_ != nullptr &&
         std::any_of(values_->begin(), values_->end(), [&](const Member& member) { return member.key == key; });
}

const Node* ModelConfig::value_in(const Object* object, std::string_view key) {
  if (object == nullptr) return nullptr;
  for (const Member& member : *object)
    if (member.key == key) return member.node.as<Null>() == nullptr ? &member.node : nullptr;
  return nullptr;
}

std::optional<Configured<double>> ModelConfig::number_in(const Object* object, std::string_view key) {
  return configured(value_in(object, key), expect_positive);
}

std::optional<Configured<Index>> ModelConfig::count(std::initializer_list<std::string_view> keys) const {
  const Node* node = nullptr;
  for (const std::string_view key : keys)
    if (node == nullptr) node = value(key);
  return configured(node, [](const Node& found) {
    const Index count = expect_integer(found);
    if (count < 1 || count > largest_count)
      fail(found, {"found {}, expected a count from 1 to {}", "这里是{}，应为 1 到 {} 的个数"}, count, largest_count);
    return count;
  });
}

std::optional<Configured<bool>> ModelConfig::boolean(std::string_view key) const {
  return configured(value(key), expect_truth);
}

std::optional<Configured<std::string>> ModelConfig::text(std::string_view key) const {
  return configured(value(key), expect_text);
}

const Object* ModelConfig::object(std::string_view key) const {
  const Node* node = value(key);
  return node == nullptr ? nullptr : &object_at(*node);
}

}  // namespace mha::io
