// Published models: the shape of one attention layer of each, and where it is published. The one file to add a model to.
#pragma once

#include <array>
#include <string_view>

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

}  // namespace mha::study
