// "Did you mean …?": names are compared by edit distance after what people mix up has been made alike.
#include "core/suggest.hpp"

#include <algorithm>
#include <cstddef>

namespace mha {
namespace {

constexpr std::size_t longest_name = 64;  // nothing longer resembles a name of ours

char plain(char c) {
  if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (c == '0') return 'o';
  if (c == '1') return 'l';
  return c;
}

std::string plain(std::string_view name) {
  std::string result;
  for (const char c : name)
    if (c != '_' && c != '-' && c != ' ' && c != '.') result += plain(c);
  return result;
}

// Letters inserted, left out, replaced or exchanged with their neighbour (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> table((a.size() + 1) * width);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& { return table[i * width + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) at(i, 0) = i;
  for (std::size_t j = 0; j <= b.size(); ++j) at(0, j) = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = at(i - 1, j - 1) + (a[i - 1] == b[j - 1] ? 0 : 1);
      at(i, j) = std::min({replaced, at(i - 1, j) + 1, at(i, j - 1) + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        at(i, j) = std::min(at(i, j), at(i - 2, j - 2) + 1);
    }
  }
  return at(a.size(), b.size());
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view name, std::span<const std::string_view> known) {
  if (name.size() > longest_name) return std::nullopt;
  const std::string written = plain(name);
  std::optional<std::string_view> best;
  std::size_t best_distance = written.size() / 3 + 1;  // one slip in a short name, more in a long one
  for (const std::string_view candidate : known) {
    const std::size_t d = distance(written, plain(candidate));
    if (d < best_distance) {
      best = candidate;
      best_distance = d;
    }
  }
  return best;
}

Saying did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  const std::optional<std::string_view> suggestion = nearest(name, known);
  return suggestion ? say({" Did you mean \"{}\"?", "你是否想写“{}”？"}, *suggestion) : Saying{};
}

Saying did_you_mean_or_known(std::string_view name, std::span<const std::string_view> known) {
  const Saying suggestion = did_you_mean(name, known);
  return suggestion.en.empty() ? say({" Known: {}.", "可以写 {}。"}, listed(known)) : suggestion;
}

}  // namespace mha
