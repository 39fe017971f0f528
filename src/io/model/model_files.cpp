// The tensors of a model by name. Only headers are read; the shards of an index only where they are needed.
#include "io/model/model_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "core/error.hpp"
#include "core/utf8.hpp"
#include "io/files/file_identity.hpp"
#include "io/files/input_file.hpp"
#include "io/json/reader.hpp"
#include "io/json/tree.hpp"

namespace mha::io {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view single_name = "model.safetensors";
constexpr std::string_view index_name = "model.safetensors.index.json";
constexpr std::string_view ending = ".safetensors";

std::string in_folder(const std::string& folder, std::string_view name) {
  return folder == "." ? std::string(name) : (fs::path(folder) / name).string();
}

std::vector<std::string> safetensors_in(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ending) names.push_back(entry.path().filename().string());
  if (error) throw named(folder, error.value());
  std::sort(names.begin(), names.end());
  return names;
}

// The shard beside the index that a member of its weight_map names.
const std::string& shard_of(const Node& node) {
  const std::string& name = expect_text(node);
  if (name.empty() || name.find('/') != std::string::npos || !name.ends_with(ending))
    fail(node, fmt::format("found {}, expected the name of a .safetensors file in the same folder", quote(name)));
  return name;
}

const Object& weight_map_of(const Node& root) {
  if (const Object* object = root.as<Object>())
    for (const Member& member : *object)
      if (member.key == "weight_map") {
        if (const Object* map = member.node.as<Object>()) return *map;
        fail(member.node, fmt::format("found {}, expected an object: tensor name to file", describe(member.node)));
      }
  fail(root,
       "there is no \"weight_map\", so this is no index of a model in shards; name a .safetensors file, "
       "a model.safetensors.index.json or the model's folder");
}

}  // namespace

std::string shape_of(const SafetensorsEntry& entry) {
  return entry.shape.empty() ? "scalar" : fmt::format("{}", fmt::join(entry.shape, "×"));
}

ModelFiles::ModelFiles(const std::string& path) {
  const auto status = status_of(path);
  if (status && S_ISDIR(status->st_mode)) {
    folder_ = path;
    read_folder();
  } else {
    folder_ = folder_of(path);
    if (path.ends_with(".json")) {
      read_index(path);
    } else {
      read_single(path);
    }
  }
  for (const auto& [name, file] : places_) names_.push_back(name);
}

// What belongs to the model in its folder: the whole file where there is one, as the libraries have it.
void ModelFiles::read_folder() {
  const std::string index = in_folder(folder_, index_name), single = in_folder(folder_, single_name);
  if (status_of(single)) return read_single(single);
  if (status_of(index)) return read_index(index);
  const std::vector<std::string> names = safetensors_in(folder_);
  if (names.size() == 1) return read_single(in_folder(folder_, names.front()));
  if (names.empty())
    throw Error(
        fmt::format("{}: there is no .safetensors file in this folder; mha reads models that are saved so", folder_));
  throw Error(fmt::format("{}: there are several .safetensors files and no {}; name one of them: {}", folder_, index_name,
                          fmt::join(names, ", ")));
}

void ModelFiles::read_single(const std::string& path) {
  const SafetensorsHeader& all = header(path);  // which knows other formats by their first bytes
  if (!path.ends_with(ending))
    throw Error(
        fmt::format("{}: the name of a .safetensors file ends so, which is how `mha run` knows it; rename it", path));
  for (const SafetensorsEntry& entry : all.tensors) places_[entry.name] = path;
}

void ModelFiles::read_index(const std::string& path) {
  const InputFile file(path);
  index_ = path;
  try {
    Source source(file.fd());
    const Node root = read_json(source, {}, NumberTexts::minus_infinity, Notes::kept);
    for (const Member& member : weight_map_of(root)) places_[member.key] = in_folder(folder_, shard_of(member.node));
  } catch (const InputFault& fault) {
    throw named(path, fault);
  } catch (const std::system_error& error) {
    throw named(path, error.code().value());
  }
}

const SafetensorsHeader& ModelFiles::header(const std::string& file) {
  const auto found = headers_.find(file);
  if (found != headers_.end()) return found->second;
  return headers_[file] = read_safetensors_header(file);
}

const SafetensorsEntry& ModelFiles::tensor(std::string_view name) {
  const std::string& file = file_of(name);
  if (const SafetensorsEntry* entry = header(file).find(name)) return *entry;
  throw Error(fmt::format("{}: the tensor \"{}\" is not in it, though {} says so; fetch both again", file,
                          escape(name, 200), index_.value_or("the index")));
}

std::vector<std::string> ModelFiles::files() const {
  std::vector<std::string> files;
  if (index_) files.push_back(*index_);
  for (const auto& [name, file] : places_)
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  return files;
}

}  // namespace mha::io
