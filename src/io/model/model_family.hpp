// The model families that can be imported: how each names its tensors, by which rules it attends, and what stands around.
#pragma once

#include "core/problem.hpp"

namespace mha::io {

// How the tensors of one attention are called behind the module's prefix. With `qkv` one tensor holds all three
// projections; `b_qkv` is their bias also where the weights are apart. Empty: there is none of that kind.
struct TensorNames {
  std::string_view qkv, q, k, v, o;
  std::string_view b_qkv, b_q, b_k, b_v, b_o;
  bool out_by_in;           // as PyTorch's Linear stores weights; else in×out, as GPT-2's Conv1D does
  std::string_view module;  // what the names of the attention's own tensors begin with, behind the prefix
  bool grouped = false;     // config.json may give key/value heads a number and heads a size of their own
  std::array<std::string_view, 2> buffers = {};  // that belong to the attention and change nothing in it
};

enum class Names { torch_packed, torch_apart, bert, gpt2, projections, plain_joined, plain_out };

// clang-format off
inline constexpr std::array tensor_names = {
    TensorNames{"in_proj_weight", "", "", "", "out_proj.weight", "in_proj_bias", "", "", "", "out_proj.bias", true, ""},
    TensorNames{"", "q_proj_weight", "k_proj_weight", "v_proj_weight", "out_proj.weight",
                "in_proj_bias", "", "", "", "out_proj.bias", true, ""},
    TensorNames{"", "attention.self.query.weight", "attention.self.key.weight", "attention.self.value.weight",
                "attention.output.dense.weight", "", "attention.self.query.bias", "attention.self.key.bias",
                "attention.self.value.bias", "attention.output.dense.bias", true, "attention.self."},
    TensorNames{"c_attn.weight", "", "", "", "c_proj.weight", "c_attn.bias", "", "", "", "c_proj.bias", false, "", false,
                {"bias", "masked_bias"}},
    TensorNames{"", "q_proj.weight", "k_proj.weight", "v_proj.weight", "o_proj.weight",
                "", "q_proj.bias", "k_proj.bias", "v_proj.bias", "o_proj.bias", true, "", true, {"rotary_emb.inv_freq"}},
    TensorNames{"qkv.weight", "", "", "", "out.weight", "qkv.bias", "", "", "", "out.bias", true, ""},
    TensorNames{"", "q_proj.weight", "k_proj.weight", "v_proj.weight", "out_proj.weight",
                "", "q_proj.bias", "k_proj.bias", "v_proj.bias", "out_proj.bias", true, "", true},
};
// clang-format on

constexpr const TensorNames& names_of(Names names) {
  return tensor_names[static_cast<std::size_t>(names)];
}

// The rest of a layer. Behind what stands before the attention's module ("model.layers.3.") each name is followed by
// ".weight" and, where there is one, ".bias"; `final_norm` stands behind what comes before the layers ("model.").
struct BlockNames {
  NormPlace place;
  Norm norm;  // eps where config.json does not say it
  std::string_view eps_key;
  Activation activation;  // likewise
  std::string_view activation_key;
  std::string_view attention_norm, mlp_norm, gate, first, second, final_norm;
  bool gemma = false;  // γ is stored less 1, and config.json says gelu for its tanh form
};

// clang-format off
inline constexpr BlockNames bert_block = {
    NormPlace::post, {Norm::Kind::layer, 1e-12}, "layer_norm_eps", Activation::gelu, "hidden_act",
    "attention.output.LayerNorm", "output.LayerNorm", "", "intermediate.dense", "output.dense", ""};
inline constexpr BlockNames gpt2_block = {
    NormPlace::pre, {Norm::Kind::layer, 1e-5}, "layer_norm_epsilon", Activation::gelu_tanh, "activation_function",
    "ln_1", "ln_2", "", "mlp.c_fc", "mlp.c_proj", "ln_f"};
inline constexpr BlockNames llama_block = {
    NormPlace::pre, {Norm::Kind::rms, 1e-6}, "rms_norm_eps", Activation::silu, "hidden_act",
    "input_layernorm", "post_attention_layernorm", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj", "norm"};
inline constexpr BlockNames gemma_block = {
    NormPlace::pre, {Norm::Kind::rms, 1e-6}, "rms_norm_eps", Activation::gelu_tanh, "hidden_act",
    "input_layernorm", "post_attention_layernorm", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj", "norm", true};
// clang-format on

// How config.json calls what the MLP applies.
inline constexpr std::pair<std::string_view, Activation> activations[] = {
    {"gelu", Activation::gelu},          {"gelu_python", Activation::gelu},
    {"gelu_new", Activation::gelu_tanh}, {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"relu", Activation::relu},          {"silu", Activation::silu},
    {"swish", Activation::silu},         {"linear", Activation::none},
};

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
  std::array<std::string_view, 10> model_types = {};  // of config.json
  std::array<std::string_view, 2> bias_keys = {};     // of config.json: whether the attention has biases, and the MLP
  const BlockNames* block = nullptr;                  // none: mha does not know or compute what stands around
};

// Without a config.json the first family with the tensors' names is taken, but for q_proj…o_proj, which several have.
// clang-format off
inline constexpr std::array families = {
    Family{.name = "torch", .title = {"PyTorch's MultiheadAttention", "PyTorch 的 MultiheadAttention"}, .names = Names::torch_packed,
           .causal = CausalRule::never, .rope = false},
    Family{.name = "bert", .title = same("BERT"), .names = Names::bert, .causal = CausalRule::if_decoder, .rope = false,
           .model_types = {"bert", "roberta", "xlm-roberta", "camembert", "electra", "ernie", "data2vec-text",
                           "bert-generation", "roberta-prelayernorm", "layoutlm"}, .block = &bert_block},
    Family{.name = "gpt2", .title = same("GPT-2"), .names = Names::gpt2, .rope = false, .scale = ScaleRule::gpt2,
           .model_types = {"gpt2", "imagegpt", "decision_transformer"}, .block = &gpt2_block},
    Family{.name = "llama", .title = same("Llama"), .model_types = {"llama"}, .bias_keys = {"attention_bias", "mlp_bias"},
           .block = &llama_block},
    Family{.name = "mistral", .title = same("Mistral"), .window = WindowRule::every_layer,
           .model_types = {"mistral", "mixtral"}, .block = &llama_block},
    Family{.name = "qwen2", .title = same("Qwen 2"), .window = WindowRule::qwen, .model_types = {"qwen2", "qwen2_moe"},
           .block = &llama_block},
    Family{.name = "gemma", .title = same("Gemma 1"), .model_types = {"gemma"}, .bias_keys = {"attention_bias"},
           .block = &gemma_block},
    Family{.name = "gemma2", .title = same("Gemma 2"), .scale = ScaleRule::query_pre_attn_scalar,
           .softcap = SoftcapRule::expected, .window = WindowRule::even_layers, .model_types = {"gemma2"},
           .bias_keys = {"attention_bias"}, .block = &gemma_block},
    Family{.name = "qwen3", .title = same("Qwen 3"), .window = WindowRule::qwen, .model_types = {"qwen3", "qwen3_moe"},
           .bias_keys = {"attention_bias"}, .block = &llama_block},
    Family{.name = "gemma3", .title = same("Gemma 3"), .scale = ScaleRule::query_pre_attn_scalar,
           .softcap = SoftcapRule::where_given, .window = WindowRule::pattern, .model_types = {"gemma3", "gemma3_text"},
           .bias_keys = {"attention_bias"}, .block = &gemma_block},
    Family{.name = "plain", .title = {"plain attention", "普通注意力"}, .causal = CausalRule::never, .rope = false},
};
// clang-format on

// What mha does not compute. It is refused by this name unless --ignore names it.
struct UncomputedPart {
  std::string_view name;
  Text what;
  std::array<std::string_view, 6> keys;  // how its tensors' names begin behind the prefix
};
// clang-format off
inline constexpr std::array uncomputed_parts = {
    UncomputedPart{"qk_norm", {"the norms of queries and keys", "查询和键的归一化"},
                   {"q_norm", "k_norm", "q_layernorm", "k_layernorm"}},
    UncomputedPart{"sinks", {"the attention sinks", "注意力汇点"}, {"sinks"}},
    UncomputedPart{"bias_k", {"the learned key that is added to the keys", "附加在键之后的可学习键"}, {"bias_k"}},
    UncomputedPart{"bias_v", {"the learned value that is added to the values", "附加在值之后的可学习值"}, {"bias_v"}},
    UncomputedPart{"position_embedding_type", {"the relative position embedding", "相对位置嵌入"},
                   {"attention.self.distance_embedding"}},
    UncomputedPart{"experts", {"the mixture of experts in the place of an MLP", "代替 MLP 的混合专家"},
                   {"block_sparse_moe", "mlp.experts", "mlp.gate.", "mlp.shared_expert"}},
    UncomputedPart{"cross_attention", {"the cross-attention of this layer", "这一层的交叉注意力"},
                   {"crossattention", "ln_cross_attn"}},
    UncomputedPart{"sandwich_norm", {"the norms of what the sublayers give", "子层输出的归一化"},
                   {"pre_feedforward_layernorm", "post_feedforward_layernorm"}},
    UncomputedPart{"rope_scaling", {"the scaling of the rotary positions", "旋转位置编码的缩放"}, {}},
    UncomputedPart{"bidirectional", {"attention in both directions, without the causal mask", "双向注意力（没有因果掩码）"}, {}},
    UncomputedPart{"layer_type", {"the attention of another type that layer_types gives this layer",
                                  "layer_types 为该层指定的其他类型的注意力"}, {}},
};
// clang-format on

}  // namespace mha::io
