// config.json beside a model: the values that attention depends on, each with the name it has there.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "io/json/tree.hpp"

namespace mha::io {

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
  std::optional<Configured<Index>> count(std::initializer_list<std::string_view> keys) const;  // at least 1
  std::optional<Configured<double>> number(std::string_view key) const { return number_in(values_, key); }
  std::optional<Configured<bool>> boolean(std::string_view key) const;
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
