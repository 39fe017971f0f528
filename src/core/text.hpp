// A sentence in the two languages that mha speaks, side by side so that neither is forgotten.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <type_traits>

namespace mha {

enum class Language { en, zh };

struct Saying;

struct Text {
  std::string_view en;
  std::string_view zh;

  constexpr std::string_view in(Language language) const { return language == Language::zh ? zh : en; }
  operator Saying() const;
};

// One whose parts are filled in.
struct Saying {
  std::string en, zh;

  const std::string& in(Language language) const { return language == Language::zh ? zh : en; }
};

inline Text::operator Saying() const {
  return {std::string(en), std::string(zh)};
}

// The sentence in this language, its {} filled in: with Texts and Sayings in the same language, else with what formats.
template <typename... Parts>
std::string say(Language language, const Text& text, const Parts&... parts) {
  if constexpr (sizeof...(parts) == 0) {
    return std::string(text.in(language));
  } else {
    const auto spoken = [language](const auto& part) -> decltype(auto) {
      using Part = std::decay_t<decltype(part)>;
      if constexpr (std::is_same_v<Part, Saying> || std::is_same_v<Part, Text>)
        return part.in(language);
      else
        return (part);
    };
    const auto filled = [&](const auto&... spoken_parts) {
      return fmt::format(fmt::runtime(text.in(language)), spoken_parts...);
    };
    return filled(spoken(parts)...);
  }
}

template <typename... Parts>
Saying say(const Text& text, const Parts&... parts) {
  return {say(Language::en, text, parts...), say(Language::zh, text, parts...)};
}

// What is called the same in both: a name, a number.
inline Saying named_so(std::string_view name) {
  return {std::string(name), std::string(name)};
}

}  // namespace mha
