// Every key of a problem file, and what to say of a key that is none or stands in the wrong place.
#include "io/problem/problem_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "core/suggest.hpp"
#include "core/utf8.hpp"
#include "io/problem/problem_reader.hpp"

namespace mha::io {
namespace {

constexpr std::array problem_table = {
    ProblemKey{"title", read_title, write_title},
    ProblemKey{"description", read_description, write_description},
    ProblemKey{"tokens", read_tokens, write_tokens},
    ProblemKey{"tokens_kv", read_tokens_kv, write_tokens_kv},
    ProblemKey{"X", nullptr, write_X},
    ProblemKey{"X_kv", nullptr, write_X_kv},
    ProblemKey{"heads", nullptr, write_weights},  // in either form, and the layout
    ProblemKey{"kv_heads"},
    ProblemKey{"num_heads"},
    ProblemKey{"num_kv_heads"},
    ProblemKey{"W_Q"},
    ProblemKey{"W_K"},
    ProblemKey{"W_V"},
    ProblemKey{"b_Q"},
    ProblemKey{"b_K"},
    ProblemKey{"b_V"},
    ProblemKey{"W_QKV"},
    ProblemKey{"b_QKV"},
    ProblemKey{"W_O", nullptr, write_output_projection},
    ProblemKey{"b_O"},
    ProblemKey{"layout"},
    ProblemKey{"mask", read_masks, write_masks},
    ProblemKey{"scale", read_scale, write_scale},
    ProblemKey{"softcap", read_softcap, write_softcap},
    ProblemKey{"rope", read_rope, write_rope},
};

KeySet key_set(std::string_view object, std::span<const std::string_view> keys) {
  return {object, {keys.begin(), keys.end()}};
}

bool is_among(std::string_view key, std::span<const std::string_view> keys) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

[[noreturn]] void refuse_key(const Node& node, const Member& member, std::span<const std::string_view> known) {
  Saying remedy;
  for (const KeySet& set : problem_keys())  // where it belongs that is known, but not here
    if (remedy.en.empty() && is_among(member.key, set.keys))
      remedy = say({" It belongs in {}.", "它属于 {}。"}, set.object);
  if (remedy.en.empty()) remedy = did_you_mean_or_known(member.key, known);
  throw InputFault(member.position, node.path,
                   {"unknown key {}.{} A key of your own starts with _.", "不认识的键 {}。{}你自己的键以 _ 开头。"},
                   quote(member.key), remedy);
}

}  // namespace

std::span<const ProblemKey> keys_of_problem() {
  return problem_table;
}

std::vector<KeySet> problem_keys() {
  KeySet problem{"the problem itself", {}};
  for (const ProblemKey& row : problem_table) problem.keys.push_back(row.key);
  return {
      key_set("an entry of heads", head_keys),
      key_set("an entry of kv_heads", kv_head_keys),
      std::move(problem),
      key_set("a title or description", caption_keys),
      key_set("mask", mask_keys),
      key_set("mask.causal", causal_keys),
      key_set("mask.window", window_keys),
      key_set("mask.alibi", alibi_keys),
      key_set("rope", rope_keys),
      key_set("a matrix in a file", matrix_file_keys),
  };
}

Fields::Fields(Node& node, std::span<const std::string_view> known, const Text& what) : node_(&node), known_(known) {
  for (const Member& member : expect_object(node, what))
    if (!is_among(member.key, known)) refuse_key(node, member, known);
}

Node* Fields::operator[](std::string_view key) const {
  assert(is_among(key, known_));
  for (Member& member : *node_->as<Object>())
    if (member.key == key) return &member.node;
  return nullptr;
}

}  // namespace mha::io
