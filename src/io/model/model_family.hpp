// The model families that can be imported: how each names its tensors, and by which rules it attends.
#pragma once

#include <array>
#include <string_view>

#include "core/text.hpp"

namespace mha::io {

// How the tensors of one attention are called behind the module's prefix. With `qkv` one tensor holds all three
// projections; `b_qkv` is their bias also where the weights are apart. Empty: there is none of that kind.
struct TensorNames {
  std::string_view qkv, q, k, v, o;
  std::string_view b_qkv, b_q, b_k, b_v, b_o;
  bool out_by_in;           // as PyTorch's Linear stores weights; else in×out, as GPT-2's Conv1D does
  std::string_view module;  // what the names of the attention's own tensors begin with, behind the prefix
};

enum class Names { torch_packed, torch_apart, bert, gpt2, projections, plain_joined, plain_out };

inline constexpr std::array tensor_names = {
    TensorNames{"in_proj_weight", "", "", "", "out_proj.weight", "in_proj_bias", "", "", "", "out_proj.bias", true, ""},
    TensorNames{"", "q_proj_weight", "k_proj_weight", "v_proj_weight", "out_proj.weight", "in_proj_bias", "", "", "",
                "out_proj.bias", true, ""},
    TensorNames{"", "attention.self.query.weight", "attention.self.key.weight", "attention.self.value.weight",
                "attention.output.dense.weight", "", "attention.self.query.bias", "attention.self.key.bias",
                "attention.self.value.bias", "attention.output.dense.bias", true, "attention.self."},
    TensorNames{"c_attn.weight", "", "", "", "c_proj.weight", "c_attn.bias", "", "", "", "c_proj.bias", false, ""},
    TensorNames{"", "q_proj.weight", "k_proj.weight", "v_proj.weight", "o_proj.weight", "", "q_proj.bias", "k_proj.bias",
                "v_proj.bias", "o_proj.bias", true, ""},
    TensorNames{"qkv.weight", "", "", "", "out.weight", "qkv.bias", "", "", "", "out.bias", true, ""},
    TensorNames{"", "q_proj.weight", "k_proj.weight", "v_proj.weight", "out_proj.weight", "", "q_proj.bias", "k_proj.bias",
                "v_proj.bias", "out_proj.bias", true, ""},
};

constexpr const TensorNames& names_of(Names names) {
  return tensor_names[static_cast<std::size_t>(names)];
}

enum class CausalRule { never, if_decoder, always };
enum class ScaleRule { root_of_d_k, gpt2, query_pre_attn_scalar };
// In which layers a sliding window stands, where config.json has no layer_types.
enum class WindowRule { never, every_layer, qwen, even_layers, pattern };

// Whether config.json may speak of a softcap, or must where there is one.
enum class SoftcapRule { never, where_given, expected };

// Called the same in both languages.
constexpr Text same(std::string_view name) {
  return {name, name};
}

struct Family {
  std::string_view name;  // as --family has it
  Text title;
  Names names = Names::projections;
  CausalRule causal = CausalRule::always;
  bool rope = true;
  ScaleRule scale = ScaleRule::root_of_d_k;
  SoftcapRule softcap = SoftcapRule::never;
  WindowRule window = WindowRule::never;
  bool after_norm = true;                             // the module is given what the norm before it has made
  std::array<std::string_view, 10> model_types = {};  // of config.json
};

// Without a config.json the first family with the tensors' names is taken, but for q_proj…o_proj, which several have.
// clang-format off
inline constexpr std::array families = {
    Family{.name = "torch", .title = same("PyTorch's MultiheadAttention"), .names = Names::torch_packed,
           .causal = CausalRule::never, .rope = false, .after_norm = false},
    Family{.name = "bert", .title = same("BERT"), .names = Names::bert, .causal = CausalRule::if_decoder, .rope = false,
           .after_norm = false,
           .model_types = {"bert", "roberta", "xlm-roberta", "camembert", "electra", "ernie", "data2vec-text",
                           "bert-generation", "roberta-prelayernorm", "layoutlm"}},
    Family{.name = "gpt2", .title = same("GPT-2"), .names = Names::gpt2, .rope = false, .scale = ScaleRule::gpt2,
           .model_types = {"gpt2", "imagegpt", "decision_transformer"}},
    Family{.name = "llama", .title = same("Llama"), .model_types = {"llama"}},
    Family{.name = "mistral", .title = same("Mistral"), .window = WindowRule::every_layer, .model_types = {"mistral", "mixtral"}},
    Family{.name = "qwen2", .title = same("Qwen 2"), .window = WindowRule::qwen, .model_types = {"qwen2", "qwen2_moe"}},
    Family{.name = "gemma", .title = same("Gemma 1"), .model_types = {"gemma"}},
    Family{.name = "gemma2", .title = same("Gemma 2"), .scale = ScaleRule::query_pre_attn_scalar,
           .softcap = SoftcapRule::expected, .window = WindowRule::even_layers, .model_types = {"gemma2"}},
    Family{.name = "qwen3", .title = same("Qwen 3"), .window = WindowRule::qwen, .model_types = {"qwen3", "qwen3_moe"}},
    Family{.name = "gemma3", .title = same("Gemma 3"), .scale = ScaleRule::query_pre_attn_scalar,
           .softcap = SoftcapRule::where_given, .window = WindowRule::pattern, .model_types = {"gemma3", "gemma3_text"}},
    Family{.name = "plain", .title = {"plain attention", "普通注意力"}, .causal = CausalRule::never, .rope = false, .after_norm = false},
};
// clang-format on

// Tensors that belong to an attention but change nothing in it: buffers.
struct IgnoredTensor {
  Names names;
  std::string_view key;
};
inline constexpr std::array ignored_tensors = {
    IgnoredTensor{Names::gpt2, "bias"},
    IgnoredTensor{Names::gpt2, "masked_bias"},
    IgnoredTensor{Names::projections, "rotary_emb.inv_freq"},
};

// What mha does not compute. It is refused by this name unless --ignore names it.
struct UncomputedPart {
  std::string_view name;
  Text what;
  std::array<std::string_view, 6> keys;  // how its tensors' names begin behind the prefix
};
inline constexpr std::array uncomputed_parts = {
    UncomputedPart{"qk_norm",
                   {"the norms of queries and keys", "查询和键的归一化"},
                   {"q_norm", "k_norm", "q_layernorm", "k_layernorm"}},
    UncomputedPart{"sinks", {"the attention sinks", "注意力汇点"}, {"sinks"}},
    UncomputedPart{"bias_k", {"the learned key that is added to the keys", "附加在键之后的可学习键"}, {"bias_k"}},
    UncomputedPart{"bias_v", {"the learned value that is added to the values", "附加在值之后的可学习值"}, {"bias_v"}},
    UncomputedPart{"position_embedding_type",
                   {"the relative position embedding", "相对位置嵌入"},
                   {"attention.self.distance_embedding"}},
    UncomputedPart{"rope_scaling", {"the scaling of the rotary positions", "旋转位置编码的缩放"}, {}},
    UncomputedPart{
        "bidirectional", {"attention in both directions, without the causal mask", "双向注意力（没有因果掩码）"}, {}},
    UncomputedPart{
        "layer_type",
        {"the attention of another type that layer_types gives this layer", "layer_types 为该层指定的其他类型的注意力"},
        {}},
};

}  // namespace mha::io
