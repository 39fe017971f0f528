// Every key of a problem file, as tables: the reader fills the slots from them, and lists them for its messages.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "io/json/json_tree.hpp"

namespace mha::io {

// One key of an object, and where its value goes. A slot stays null where the file does not have the key.
template <typename Fields>
struct Field {
  std::string_view key;
  Node* Fields::*slot;
};

struct WeightFields {
  Node *W_Q = nullptr, *W_K = nullptr, *W_V = nullptr;
  Node *b_Q = nullptr, *b_K = nullptr, *b_V = nullptr;
};

struct ProblemFields : WeightFields {
  Node *title = nullptr, *description = nullptr, *tokens = nullptr, *tokens_kv = nullptr, *X = nullptr, *X_kv = nullptr;
  Node *heads = nullptr, *kv_heads = nullptr, *num_heads = nullptr, *num_kv_heads = nullptr;
  Node *W_QKV = nullptr, *b_QKV = nullptr, *W_O = nullptr, *b_O = nullptr;
  Node *layout = nullptr, *mask = nullptr, *scale = nullptr, *softcap = nullptr, *rope = nullptr;
};
inline constexpr std::array problem_fields = {
    Field<ProblemFields>{"title", &ProblemFields::title},
    Field<ProblemFields>{"description", &ProblemFields::description},
    Field<ProblemFields>{"tokens", &ProblemFields::tokens},
    Field<ProblemFields>{"tokens_kv", &ProblemFields::tokens_kv},
    Field<ProblemFields>{"X", &ProblemFields::X},
    Field<ProblemFields>{"X_kv", &ProblemFields::X_kv},
    Field<ProblemFields>{"heads", &ProblemFields::heads},
    Field<ProblemFields>{"kv_heads", &ProblemFields::kv_heads},
    Field<ProblemFields>{"num_heads", &ProblemFields::num_heads},
    Field<ProblemFields>{"num_kv_heads", &ProblemFields::num_kv_heads},
    Field<ProblemFields>{"W_Q", &ProblemFields::W_Q},
    Field<ProblemFields>{"W_K", &ProblemFields::W_K},
    Field<ProblemFields>{"W_V", &ProblemFields::W_V},
    Field<ProblemFields>{"b_Q", &ProblemFields::b_Q},
    Field<ProblemFields>{"b_K", &ProblemFields::b_K},
    Field<ProblemFields>{"b_V", &ProblemFields::b_V},
    Field<ProblemFields>{"W_QKV", &ProblemFields::W_QKV},
    Field<ProblemFields>{"b_QKV", &ProblemFields::b_QKV},
    Field<ProblemFields>{"W_O", &ProblemFields::W_O},
    Field<ProblemFields>{"b_O", &ProblemFields::b_O},
    Field<ProblemFields>{"layout", &ProblemFields::layout},
    Field<ProblemFields>{"mask", &ProblemFields::mask},
    Field<ProblemFields>{"scale", &ProblemFields::scale},
    Field<ProblemFields>{"softcap", &ProblemFields::softcap},
    Field<ProblemFields>{"rope", &ProblemFields::rope},
};

struct CaptionFields {
  Node *en = nullptr, *zh = nullptr;
};
inline constexpr std::array caption_fields = {
    Field<CaptionFields>{"en", &CaptionFields::en},
    Field<CaptionFields>{"zh", &CaptionFields::zh},
};

struct HeadFields : WeightFields {
  Node* name = nullptr;
};
inline constexpr std::array head_fields = {
    Field<HeadFields>{"name", &HeadFields::name}, Field<HeadFields>{"W_Q", &HeadFields::W_Q},
    Field<HeadFields>{"W_K", &HeadFields::W_K},   Field<HeadFields>{"W_V", &HeadFields::W_V},
    Field<HeadFields>{"b_Q", &HeadFields::b_Q},   Field<HeadFields>{"b_K", &HeadFields::b_K},
    Field<HeadFields>{"b_V", &HeadFields::b_V},
};
inline constexpr std::array kv_head_fields = {
    Field<WeightFields>{"W_K", &WeightFields::W_K},
    Field<WeightFields>{"W_V", &WeightFields::W_V},
    Field<WeightFields>{"b_K", &WeightFields::b_K},
    Field<WeightFields>{"b_V", &WeightFields::b_V},
};

struct MaskFields {
  Node *causal = nullptr, *window = nullptr, *padding = nullptr, *allow = nullptr, *block = nullptr, *add = nullptr,
       *alibi = nullptr;
};
inline constexpr std::array mask_fields = {
    Field<MaskFields>{"causal", &MaskFields::causal},   Field<MaskFields>{"window", &MaskFields::window},
    Field<MaskFields>{"padding", &MaskFields::padding}, Field<MaskFields>{"allow", &MaskFields::allow},
    Field<MaskFields>{"block", &MaskFields::block},     Field<MaskFields>{"add", &MaskFields::add},
    Field<MaskFields>{"alibi", &MaskFields::alibi},
};

struct CausalFields {
  Node* align = nullptr;
};
inline constexpr std::array causal_fields = {Field<CausalFields>{"align", &CausalFields::align}};

struct WindowFields {
  Node *left = nullptr, *right = nullptr, *align = nullptr;
};
inline constexpr std::array window_fields = {
    Field<WindowFields>{"left", &WindowFields::left},
    Field<WindowFields>{"right", &WindowFields::right},
    Field<WindowFields>{"align", &WindowFields::align},
};

struct AlibiFields {
  Node *slopes = nullptr, *align = nullptr;
};
inline constexpr std::array alibi_fields = {
    Field<AlibiFields>{"slopes", &AlibiFields::slopes},
    Field<AlibiFields>{"align", &AlibiFields::align},
};

struct RopeFields {
  Node *base = nullptr, *pairing = nullptr, *dims = nullptr, *start = nullptr, *positions = nullptr,
       *positions_kv = nullptr;
};
inline constexpr std::array rope_fields = {
    Field<RopeFields>{"base", &RopeFields::base},           Field<RopeFields>{"pairing", &RopeFields::pairing},
    Field<RopeFields>{"dims", &RopeFields::dims},           Field<RopeFields>{"start", &RopeFields::start},
    Field<RopeFields>{"positions", &RopeFields::positions}, Field<RopeFields>{"positions_kv", &RopeFields::positions_kv},
};

struct MatrixFileFields {
  Node *file = nullptr, *name = nullptr, *tensor = nullptr, *transpose = nullptr, *rows = nullptr, *cols = nullptr;
};
inline constexpr std::array matrix_file_fields = {
    Field<MatrixFileFields>{"file", &MatrixFileFields::file},
    Field<MatrixFileFields>{"name", &MatrixFileFields::name},
    Field<MatrixFileFields>{"tensor", &MatrixFileFields::tensor},
    Field<MatrixFileFields>{"transpose", &MatrixFileFields::transpose},
    Field<MatrixFileFields>{"rows", &MatrixFileFields::rows},
    Field<MatrixFileFields>{"cols", &MatrixFileFields::cols},
};

template <typename Fields, std::size_t count>
constexpr std::array<std::string_view, count> keys_of(const std::array<Field<Fields>, count>& fields) {
  std::array<std::string_view, count> keys;
  for (std::size_t i = 0; i < count; ++i) keys[i] = fields[i].key;
  return keys;
}

// The members of the node, which must be an object with no other keys than these. `what` says what the object is for.
template <typename Fields, std::size_t count>
Fields read_fields(Node& node, const std::array<Field<Fields>, count>& fields, std::string_view what);

// The parts of read_fields that do not depend on the fields.
Object& expect_object(Node& node, std::string_view what);
[[noreturn]] void refuse_key(const Node& node, const Member& member, std::span<const std::string_view> known);

template <typename Fields, std::size_t count>
Fields read_fields(Node& node, const std::array<Field<Fields>, count>& fields, std::string_view what) {
  Fields found;
  for (Member& member : expect_object(node, what)) {
    Node* Fields::*slot = nullptr;
    for (const Field<Fields>& field : fields)
      if (field.key == member.key) slot = field.slot;
    if (slot == nullptr) refuse_key(node, member, keys_of(fields));
    found.*slot = &member.node;
  }
  return found;
}

}  // namespace mha::io
