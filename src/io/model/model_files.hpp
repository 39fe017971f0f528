// The tensors of a model by name: in one .safetensors file, in shards with an index, or in a folder with either.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/arrays/safetensors_header.hpp"

namespace mha::io {

// "8×4"; "scalar" for a single number.
std::string shape_of(const SafetensorsEntry& entry);

class ModelFiles {
 public:
  // A .safetensors file, a model.safetensors.index.json or a folder. Throws Error.
  explicit ModelFiles(const std::string& path);

  const std::vector<std::string>& names() const { return names_; }  // of all tensors, in order
  bool has(std::string_view name) const { return places_.find(name) != places_.end(); }

  // The header of a shard is read when the first of its tensors is asked for. Throws Error where the shard is missing or
  // does not hold what the index says.
  const SafetensorsEntry& tensor(std::string_view name);
  const std::string& file_of(std::string_view name) const { return places_.find(name)->second; }

  const std::string& folder() const { return folder_; }  // where config.json would be
  std::vector<std::string> files() const;                // all that belong to the model, the index among them

 private:
  void read_folder();
  void read_index(const std::string& path);
  void read_single(const std::string& path);
  const SafetensorsHeader& header(const std::string& file);

  std::string folder_;
  std::optional<std::string> index_;
  std::vector<std::string> names_;
  std::map<std::string, std::string, std::less<>> places_;  // tensor → file
  std::map<std::string, SafetensorsHeader> headers_;        // by file
};

}  // namespace mha::io
