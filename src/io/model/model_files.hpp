// A model as it lies in files: its tensors by name, and the values of its config.json.
#pragma once

#include <initializer_list>
#include <map>

#include "core/text.hpp"
#include "io/arrays/array.hpp"
#include "io/json/tree.hpp"

namespace mha::io {

inline Saying in_config(const std::string& key) {
  return say({"{} in config.json", "config.json 的 {}"}, key);
}

// "8×4"; "scalar" for a single number.
std::string shape_of(const SafetensorsEntry& entry);

class ModelFiles {
 public:
  // A .safetensors or .npz file, a model.safetensors.index.json or a folder. Throws Error.
  explicit ModelFiles(const std::string& path);

  const std::vector<std::string>& names() const { return names_; }  // of all tensors, in order
  bool has(std::string_view name) const { return places_.find(name) != places_.end(); }

  // The header of a shard is read when the first of its tensors is asked for. Throws Error where there is no such tensor,
  // the shard is missing or does not hold what the index says.
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

// A value and where in config.json it is from: "num_attention_heads".
template <typename Value>
struct Configured {
  Value value;
  std::string key;
};

// A key that is absent, and one that is null, has no value; one of the wrong type throws InputFault, which belongs to
// path().
class ModelConfig {
 public:
  explicit ModelConfig(const std::string& folder);  // where there is no config.json, nothing has a value
  ModelConfig(const ModelConfig&) = delete;
  ModelConfig& operator=(const ModelConfig&) = delete;

  bool given() const { return !path_.empty(); }
  const std::string& path() const { return path_; }

  // The first of these keys that has a value.
  std::optional<Configured<Index>> count(std::initializer_list<std::string_view> keys) const;               // at least 1
  std::optional<Configured<double>> number(std::string_view key) const { return number_in(values_, key); }  // above 0
  std::optional<Configured<bool>> boolean(std::string_view key) const;
  std::optional<Configured<Index>> head_count() const { return count({"num_attention_heads", "n_head", "num_heads"}); }
  std::optional<Configured<std::string>> text(std::string_view key) const;
  const Object* object(std::string_view key) const;
  bool has(std::string_view key) const;                                             // null counts
  const Node* value(std::string_view key) const { return value_in(values_, key); }  // neither absent nor null

  // The same inside an object of the config.
  static const Node* value_in(const Object* object, std::string_view key);
  static std::optional<Configured<double>> number_in(const Object* object, std::string_view key);

 private:
  std::string path_;
  Node root_;
  const Object* values_ = nullptr;  // the language model's own object where the config has several
};

}  // namespace mha::io
