// Fills in sentences.
#include "show/words/phrases.hpp"

namespace mha::show {
namespace {

// Chinese typography sets a space between a number and the character after it, but not before punctuation.
bool wants_space(const Words& before, std::string_view after) {
  if (before.empty() || after.empty()) return false;
  const char last = before.spans().back().text.back();
  const auto lead = static_cast<unsigned char>(after.front());  // of U+4E00 to U+9FFF: E4 to E9
  return last >= '0' && last <= '9' && lead >= 0xE4 && lead <= 0xE9;
}

}  // namespace

Words say_words(Language language, const Text& text, const std::vector<Words>& parts) {
  Words words;
  std::string_view rest = text.in(language);
  for (std::size_t open = rest.find('{'); open != std::string_view::npos; open = rest.find('{')) {
    words.add(std::string(rest.substr(0, open)));
    words.append(parts.at(static_cast<std::size_t>(rest[open + 1] - '0')));
    rest.remove_prefix(open + 3);
    if (wants_space(words, rest)) words.add(" ");
  }
  return words.add(std::string(rest));
}

std::string decimals_text(Language language, int count) {
  return count == 1 ? say(language, phrase::one_decimal) : say(language, phrase::decimals, count);
}

std::string range_text(Index first, Index last, Index base) {
  return first == last ? fmt::format("{}", first + base) : fmt::format("{}–{}", first + base, last + base);
}

std::string ranges_text(Language language, const std::vector<Index>& numbers, Index base) {
  constexpr std::size_t most_ranges = 6;
  std::string text;
  std::size_t count = 0;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (++count > most_ranges) return say(language, {"{}, … ({} in all)", "{}、…（共 {} 个）"}, text, numbers.size());
    if (first > 0) text += say(language, phrase::comma);
    text += range_text(numbers[first], numbers[last], base);
    first = last + 1;
  }
  return text;
}

}  // namespace mha::show
