// Sizes in place of a problem's own: the same rules, other shapes, and no numbers.
#pragma once

#include "core/problem.hpp"
#include "study/cost/models.hpp"

namespace mha::study {

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
