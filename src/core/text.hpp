// A sentence in the two languages that mha speaks, side by side so that neither is forgotten.
#pragma once

#include <string_view>

namespace mha {

enum class Language { en, zh };

struct Text {
  std::string_view en;
  std::string_view zh;

  constexpr std::string_view in(Language language) const { return language == Language::zh ? zh : en; }
};

}  // namespace mha
