// What the environment says about language and colour.
#include "cli/world.hpp"

#include <fmt/format.h>

namespace mha {

Language language_of(const World& world) {
  for (const char* variable : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const std::string locale = world.environment(variable);
    if (!locale.empty()) return locale.starts_with("zh") ? Language::zh : Language::en;
  }
  return Language::en;
}

bool wants_color(const World& world) {
  return world.output_is_terminal && world.environment("NO_COLOR").empty() && world.environment("TERM") != "dumb";
}

void tell(World& world, std::string_view sentence) {
  world.err.write(fmt::format("mha: {}\n", sentence));
  world.err.flush();
}

}  // namespace mha
