// Pieces of sentences in both languages that are made while a model is looked at.
#pragma once

#include <fmt/format.h>

#include <string>

#include "core/text.hpp"

namespace mha::io {

struct Saying {
  std::string en, zh;

  const std::string& in(Language language) const { return language == Language::zh ? zh : en; }
};

inline Saying in_config(const std::string& key) {
  return {fmt::format("{} in config.json", key), fmt::format("config.json 的 {}", key)};
}

// What is called the same in both: an option, a tensor.
inline Saying named_so(const std::string& name) {
  return {name, name};
}

}  // namespace mha::io
