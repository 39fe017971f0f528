// Every key of a problem file: what to say of a key that is none, or stands in the wrong place.
#include "io/problem/problem_fields.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/suggest.hpp"
#include "core/utf8.hpp"
#include "io/problem/problem_reader.hpp"

namespace mha::io {
namespace {

template <typename Fields, std::size_t count>
KeySet key_set(std::string_view object, const std::array<Field<Fields>, count>& fields) {
  const std::array<std::string_view, count> keys = keys_of(fields);
  return {object, {keys.begin(), keys.end()}};
}

// Where a key belongs that is known, but not here.
std::string place_of(std::string_view key) {
  for (const KeySet& set : problem_keys())
    if (std::find(set.keys.begin(), set.keys.end(), key) != set.keys.end())
      return fmt::format(" It belongs in {}.", set.object);
  return "";
}

}  // namespace

std::vector<KeySet> problem_keys() {
  return {
      key_set("an entry of heads", head_fields),
      key_set("an entry of kv_heads", kv_head_fields),
      key_set("the problem itself", problem_fields),
      key_set("a title or description", caption_fields),
      key_set("mask", mask_fields),
      key_set("mask.causal", causal_fields),
      key_set("mask.window", window_fields),
      key_set("mask.alibi", alibi_fields),
      key_set("rope", rope_fields),
      key_set("a matrix in a file", matrix_file_fields),
  };
}

Object& expect_object(Node& node, std::string_view what) {
  Object* object = node.as<Object>();
  if (object == nullptr) fail(node, fmt::format("found {}, expected {}", describe(node), what));
  return *object;
}

void refuse_key(const Node& node, const Member& member, std::span<const std::string_view> known) {
  std::string remedy = place_of(member.key);
  if (remedy.empty()) remedy = did_you_mean_or_known(member.key, known);
  throw InputFault(member.position, node.path,
                   fmt::format("unknown key {}.{} A key of your own starts with _.", quote(member.key), remedy));
}

}  // namespace mha::io
