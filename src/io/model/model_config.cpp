// config.json beside a model. Models of several kinds of input keep the values of their language model in text_config.
#include "io/model/model_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "io/files/file_identity.hpp"
#include "io/files/input_file.hpp"
#include "io/json/reader.hpp"
#include "io/json/tree.hpp"

namespace mha::io {
namespace {

constexpr Index largest_count = 1'000'000'000;  // so that the product of two is an integer

}  // namespace

ModelConfig::ModelConfig(const std::string& folder) {
  const std::string path = folder == "." ? "config.json" : folder + (folder.ends_with('/') ? "" : "/") + "config.json";
  if (!status_of(path)) return;
  const InputFile file(path);
  try {
    Source source(file.fd());
    root_ = read_json(source, {});
    values_ = root_.as<Object>();
    if (values_ == nullptr) fail(root_, fmt::format("found {}, expected an object", describe(root_)));
    const Object* text_model = value("num_attention_heads") == nullptr ? object("text_config") : nullptr;
    if (text_model != nullptr) values_ = text_model;
  } catch (const InputFault& fault) {
    throw named(path, fault);
  } catch (const std::system_error& error) {
    throw named(path, error.code().value());
  }
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
  const Node* node = value_in(object, key);
  if (node == nullptr) return std::nullopt;
  return Configured<double>{expect_number(*node), node->path};
}

std::optional<Configured<Index>> ModelConfig::count(std::initializer_list<std::string_view> keys) const {
  for (const std::string_view key : keys) {
    const Node* node = value(key);
    if (node == nullptr) continue;
    const Index count = expect_integer(*node);
    if (count < 1 || count > largest_count)
      fail(*node, fmt::format("found {}, expected a count from 1 to {}", count, largest_count));
    return Configured<Index>{count, node->path};
  }
  return std::nullopt;
}

std::optional<Configured<bool>> ModelConfig::boolean(std::string_view key) const {
  const Node* node = value(key);
  if (node == nullptr) return std::nullopt;
  if (node->as<bool>() == nullptr) fail(*node, fmt::format("found {}, expected true or false", describe(*node)));
  return Configured<bool>{*node->as<bool>(), node->path};
}

std::optional<Configured<std::string>> ModelConfig::text(std::string_view key) const {
  const Node* node = value(key);
  if (node == nullptr) return std::nullopt;
  return Configured<std::string>{expect_text(*node), node->path};
}

const Object* ModelConfig::object(std::string_view key) const {
  const Node* node = value(key);
  if (node == nullptr) return nullptr;
  if (node->as<Object>() == nullptr) fail(*node, fmt::format("found {}, expected an object", describe(*node)));
  return node->as<Object>();
}

}  // namespace mha::io
