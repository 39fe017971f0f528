// Sizes in place of a problem's own: the same rules, other shapes, and no numbers; and those of published models.
#pragma once

#include "core/problem.hpp"
#include "core/tensor.hpp"

namespace mha::study {

struct PublishedModel {
  enum class Biases { none, queries_keys_values, all };

  std::string_view name, title;
  Index layers, d_model, heads, kv_heads, d_k;  // d_v is d_k, d_out is d_model
  Biases biases;
  bool causal, rope;
  std::string_view source;
};

inline constexpr std::array bias_names = {"none", "queries, keys, values", "all"};

inline constexpr auto no_biases = PublishedModel::Biases::none;
inline constexpr auto qkv_biases = PublishedModel::Biases::queries_keys_values;
inline constexpr auto all_biases = PublishedModel::Biases::all;

inline constexpr std::array models = {
    PublishedModel{"transformer-base", "Transformer, base (encoder)", 6, 512, 8, 8, 64, no_biases, false, false,
                   "Vaswani et al. 2017, arXiv 1706.03762, table 3"},
    PublishedModel{"bert-base", "BERT base", 12, 768, 12, 12, 64, all_biases, false, false,
                   "Devlin et al. 2018, arXiv 1810.04805, section 3; google-bert/bert-base-uncased, config.json"},
    PublishedModel{"gpt-2", "GPT-2 small", 12, 768, 12, 12, 64, all_biases, true, false,
                   "Radford et al. 2019, table 2; openai-community/gpt2, config.json"},
    PublishedModel{"gpt-3", "GPT-3 175B", 96, 12288, 96, 96, 128, all_biases, true, false,
                   "Brown et al. 2020, arXiv 2005.14165, table 2.1"},
    PublishedModel{"gpt-j", "GPT-J 6B", 28, 4096, 16, 16, 256, no_biases, true, true, "EleutherAI/gpt-j-6b, config.json"},
    PublishedModel{"llama-2-7b", "Llama 2 7B", 32, 4096, 32, 32, 128, no_biases, true, true,
                   "Touvron et al. 2023, arXiv 2307.09288; meta-llama/Llama-2-7b-hf, config.json"},
    PublishedModel{"llama-2-13b", "Llama 2 13B", 40, 5120, 40, 40, 128, no_biases, true, true,
                   "Touvron et al. 2023, arXiv 2307.09288; meta-llama/Llama-2-13b-hf, config.json"},
    PublishedModel{"llama-2-70b", "Llama 2 70B", 80, 8192, 64, 8, 128, no_biases, true, true,
                   "Touvron et al. 2023, arXiv 2307.09288; meta-llama/Llama-2-70b-hf, config.json"},
    PublishedModel{"llama-3-8b", "Llama 3 8B", 32, 4096, 32, 8, 128, no_biases, true, true,
                   "Llama team 2024, arXiv 2407.21783, table 3; meta-llama/Meta-Llama-3-8B, config.json"},
    PublishedModel{"llama-3.1-405b", "Llama 3.1 405B", 126, 16384, 128, 8, 128, no_biases, true, true,
                   "Llama team 2024, arXiv 2407.21783, table 3; meta-llama/Llama-3.1-405B, config.json"},
    PublishedModel{"mistral-7b", "Mistral 7B", 32, 4096, 32, 8, 128, no_biases, true, true,
                   "Jiang et al. 2023, arXiv 2310.06825, table 1; mistralai/Mistral-7B-v0.1, config.json"},
    PublishedModel{"gemma-2b", "Gemma 2B", 18, 2048, 8, 1, 256, no_biases, true, true,
                   "Gemma team 2024, arXiv 2403.08295, table 1; google/gemma-2b, config.json"},
    PublishedModel{"gemma-7b", "Gemma 7B", 28, 3072, 16, 16, 256, no_biases, true, true,
                   "Gemma team 2024, arXiv 2403.08295, table 1; google/gemma-7b, config.json"},
    PublishedModel{"gemma-3-27b", "Gemma 3 27B", 62, 5376, 32, 16, 128, no_biases, true, true,
                   "Gemma team 2025, arXiv 2503.19786; google/gemma-3-27b-pt, config.json"},
    PublishedModel{"qwen2.5-7b", "Qwen2.5 7B", 28, 3584, 28, 4, 128, qkv_biases, true, true,
                   "Qwen team 2024, arXiv 2412.15115, table 1; Qwen/Qwen2.5-7B, config.json"},
    PublishedModel{"qwen3-0.6b", "Qwen3 0.6B", 28, 1024, 16, 8, 128, no_biases, true, true,
                   "Qwen team 2025, arXiv 2505.09388, table 1; Qwen/Qwen3-0.6B, config.json"},
    PublishedModel{"gpt-oss-20b", "gpt-oss 20B", 24, 2880, 64, 8, 64, all_biases, true, true,
                   "OpenAI 2025, arXiv 2508.10925; openai/gpt-oss-20b, config.json"},
};

// What is absent follows from the problem.
struct Sizes {
  std::optional<Index> batch, tokens, keys, d_model, heads, kv_heads, d_k, d_v, mlp;
  bool bias = false;  // everywhere

  bool any() const;
};

// One row for each: its option, and how far it may go.
struct SizeName {
  std::string_view name;
  std::optional<Index> Sizes::*size;
  Text help;
  int most;

  constexpr SizeName(std::string_view option, std::optional<Index> Sizes::*field, std::string_view en, std::string_view zh,
                     int limit = 1 << 20)
      : name(option), size(field), help{en, zh}, most(limit) {}
};
inline constexpr std::array size_names = {
    SizeName("tokens", &Sizes::tokens, "rows of X; required unless a problem has them", "X 的行数；题目没有时必须写",
             1 << 28),
    SizeName("d-model", &Sizes::d_model, "columns of X", "X 的列数"),
    SizeName("heads", &Sizes::heads, "query heads", "查询头的个数"),
    SizeName("kv-heads", &Sizes::kv_heads, "key/value heads, for grouped queries (heads)",
             "键值头的个数，用于分组查询（默认同 heads）"),
    SizeName("d-k", &Sizes::d_k, "width of a head's queries and keys (d-model/heads)",
             "一个头的查询和键的宽度（默认 d-model/heads）"),
    SizeName("d-v", &Sizes::d_v, "width of a head's values (d-k)", "一个头的值的宽度（默认同 d-k）"),
    SizeName("keys", &Sizes::keys, "rows of X_kv, in cross-attention (tokens)",
             "X_kv 的行数，用于交叉注意力（默认同 tokens）", 1 << 28),
    SizeName("batch", &Sizes::batch, "items (1)", "样本数（默认 1）"),
    SizeName("mlp", &Sizes::mlp, "adds an MLP with so many hidden units", "加上一个有这么多隐藏单元的 MLP"),
};

// The problem with these sizes. What stood in a proportion stays so: heads share d_model where they did, and an output or
// an MLP as wide as X is as wide as the new X. An Error where they do not fit together.
Problem shaped(const Problem& problem, const Sizes& sizes);

// A problem of nothing but rules, to be shaped. Packed: all heads in one matrix, as models keep them.
Problem blank_problem(bool packed);
Problem problem_of(const PublishedModel& model, bool packed, const Sizes& sizes);

}  // namespace mha::study
