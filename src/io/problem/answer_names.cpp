// Names that other texts and programs give to the matrices: "out1", "Q_head1", "attn_weights", "concat_heads".
#include "io/problem/answer.hpp"

#include "core/utf8.hpp"

namespace mha::io {
namespace {

struct OtherNames {
  std::optional<StepId> of_head, of_all;  // with a head's number, without one
  std::array<std::string_view, 7> names;
};

constexpr std::optional<StepId> none;
constexpr std::array other_names = {
    OtherNames{StepId::Q, StepId::Q, {"query", "queries"}},
    OtherNames{StepId::K, StepId::K, {"key", "keys"}},
    OtherNames{StepId::V, StepId::V, {"value", "values"}},
    OtherNames{StepId::scores, StepId::scores, {"score", "raw_scores", "attn_scores", "attention_scores"}},
    OtherNames{StepId::scaled, StepId::scaled, {"scaled_scores"}},
    OtherNames{StepId::masked, StepId::masked, {"masked_scores"}},
    OtherNames{StepId::weights,
               StepId::weights,
               {"weight", "attn", "attention", "attn_weights", "attention_weights", "attn_probs", "probs"}},
    OtherNames{StepId::weights, none, {"a", "p", "softmax"}},
    OtherNames{StepId::head_output, none, {"h", "o", "context", "head", "head_out"}},
    OtherNames{StepId::head_output, StepId::output, {"out", "output", "attn_out", "attn_output", "attention_output"}},
    OtherNames{StepId::Q, none, {"q"}},  // z is a head's output in some texts, m and n are counts
    OtherNames{StepId::K, none, {"k"}},
    OtherNames{StepId::V, none, {"v"}},
    OtherNames{StepId::scores, none, {"s"}},
    OtherNames{none, StepId::output, {"y", "final_output", "multihead", "multi_head"}},
    OtherNames{none, StepId::concat, {"concat_heads", "concatenated", "concatenation"}},
};

constexpr std::string_view between = "_- .^()[]";  // the parts of a name

// "Q_head1", "head1_Q" and "Q_1" are "Q" with 1: its only number, and the word "head" beside other words left out.
struct Parts {
  std::string name;  // its words, joined by _
  std::string_view number;
};

Parts parts_of(std::string_view key) {
  constexpr std::string_view digits = "0123456789";
  const std::size_t first = std::min(key.find_first_of(digits), key.size());
  const std::size_t behind = std::min(key.find_first_not_of(digits, first), key.size());
  Parts parts{{}, key.substr(first, behind - first)};
  const std::string rest = std::string(key.substr(0, first)) + "_" + std::string(key.substr(behind));
  std::vector<std::string> words(1);
  for (const char c : rest)
    if (between.find(c) == std::string_view::npos)
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  if (words.back().empty()) words.pop_back();
  if (words.size() > 1 && !parts.number.empty()) words.erase(std::remove(words.begin(), words.end(), "head"), words.end());
  for (const std::string& word : words) parts.name += (parts.name.empty() ? "" : "_") + word;
  return parts;
}

}  // namespace

std::optional<MatrixName> answer_name(std::string_view key, bool in_head) {
  if (const std::string as_plain = plain(key); as_plain != key) return answer_name(as_plain, in_head);
  if (const std::optional<StepId> step = in_head ? head_step(key) : std::nullopt) return MatrixName{*step, {}};
  if (const std::optional<MatrixName> name = in_head ? std::nullopt : matrix_name(key)) return name;
  if (key.size() > 1 && key[0] == 'd' && key[1] != '_')  // "dout1", but d_k and d_v are widths
    if (const std::optional<MatrixName> name = answer_name(key.substr(1), in_head); name && !is_gradient(name->step))
      return MatrixName{gradient_of(name->step), name->head};
  const Parts parts = parts_of(key);
  if (!parts.number.empty() && !in_head)
    if (const std::optional<MatrixName> name = matrix_name(parts.name + std::string(parts.number))) return name;
  const std::string name = lower_case(parts.name);
  const auto has_it = [&](const OtherNames& e) { return std::find(e.names.begin(), e.names.end(), name) != e.names.end(); };
  const auto found = std::find_if(other_names.begin(), other_names.end(), has_it);
  if (name.empty() || found == other_names.end()) return std::nullopt;
  if (in_head)
    return parts.number.empty() && found->of_head ? std::optional(MatrixName{*found->of_head, {}}) : std::nullopt;
  if (parts.number.empty()) return found->of_all ? std::optional(MatrixName{*found->of_all, {}}) : std::nullopt;
  const std::optional<Index> number = whole_number(parts.number);
  if (!number || *number < 1 || *number > most_heads || !found->of_head) return std::nullopt;
  return MatrixName{*found->of_head, *number - 1};
}

}  // namespace mha::io
