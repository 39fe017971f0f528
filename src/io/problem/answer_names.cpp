// Names that other texts and programs give to the matrices: "out1", "Q_head1", "attn_weights", "concat_heads".
#include "io/problem/answer.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace mha::io {
namespace {

struct OtherName {
  std::string_view name;
  std::optional<StepId> of_head, of_all;  // with a head's number, without one
};

constexpr std::optional<StepId> none;
constexpr std::array other_names = {
    OtherName{"query", StepId::Q, StepId::Q},
    OtherName{"queries", StepId::Q, StepId::Q},
    OtherName{"key", StepId::K, StepId::K},
    OtherName{"keys", StepId::K, StepId::K},
    OtherName{"value", StepId::V, StepId::V},
    OtherName{"values", StepId::V, StepId::V},
    OtherName{"score", StepId::scores, StepId::scores},
    OtherName{"raw_scores", StepId::scores, StepId::scores},
    OtherName{"attn_scores", StepId::scores, StepId::scores},
    OtherName{"attention_scores", StepId::scores, StepId::scores},
    OtherName{"scaled_scores", StepId::scaled, StepId::scaled},
    OtherName{"masked_scores", StepId::masked, StepId::masked},
    OtherName{"weight", StepId::weights, StepId::weights},
    OtherName{"attn", StepId::weights, StepId::weights},
    OtherName{"attention", StepId::weights, StepId::weights},
    OtherName{"attn_weights", StepId::weights, StepId::weights},
    OtherName{"attention_weights", StepId::weights, StepId::weights},
    OtherName{"attn_probs", StepId::weights, StepId::weights},
    OtherName{"probs", StepId::weights, StepId::weights},
    OtherName{"h", StepId::head_output, none},
    OtherName{"o", StepId::head_output, none},
    OtherName{"out", StepId::head_output, StepId::output},
    OtherName{"output", StepId::head_output, StepId::output},
    OtherName{"attn_out", StepId::head_output, StepId::output},
    OtherName{"attn_output", StepId::head_output, StepId::output},
    OtherName{"attention_output", StepId::head_output, StepId::output},
    OtherName{"context", StepId::head_output, none},
    OtherName{"head_out", StepId::head_output, none},
    OtherName{"final_output", none, StepId::output},
    OtherName{"concat_heads", none, StepId::concat},
    OtherName{"concatenated", none, StepId::concat},
    OtherName{"concatenation", none, StepId::concat},
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

std::string in_lower_case(std::string name) {
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return name;
}

}  // namespace

std::optional<MatrixName> answer_name(std::string_view key, bool in_head) {
  if (const std::optional<StepId> step = in_head ? head_step(key) : std::nullopt) return MatrixName{*step, {}};
  if (const std::optional<MatrixName> name = in_head ? std::nullopt : matrix_name(key)) return name;
  const Parts parts = parts_of(key);
  if (!parts.number.empty() && !in_head)
    if (const std::optional<MatrixName> name = matrix_name(parts.name + std::string(parts.number))) return name;
  const std::string name = in_lower_case(parts.name);
  const auto found =
      std::find_if(other_names.begin(), other_names.end(), [&](const OtherName& e) { return e.name == name; });
  if (found == other_names.end()) return std::nullopt;
  if (in_head)
    return parts.number.empty() && found->of_head ? std::optional(MatrixName{*found->of_head, {}}) : std::nullopt;
  if (parts.number.empty()) return found->of_all ? std::optional(MatrixName{*found->of_all, {}}) : std::nullopt;
  Index number = 0;
  const auto [end, error] = std::from_chars(parts.number.data(), parts.number.data() + parts.number.size(), number);
  if (error != std::errc() || number < 1 || number > most_heads || !found->of_head) return std::nullopt;
  return MatrixName{*found->of_head, number - 1};
}

}  // namespace mha::io
