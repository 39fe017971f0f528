// What the environment says about language and colour; messages and progress on stderr.
#include "cli/world.hpp"

#include "core/utf8.hpp"

namespace mha::cli {
namespace {

constexpr std::size_t bar_width = 30;

}  // namespace

Language language_of(const std::vector<std::string>& arguments, const World& world) {
  for (std::size_t i = arguments.size(); i-- > 0;) {
    const bool apart = arguments[i] == "--lang" && i + 1 < arguments.size();
    const std::string lang = apart ? arguments[i + 1] : arguments[i].starts_with("--lang=") ? arguments[i].substr(7) : "";
    if (lang == "zh" || lang == "en") return lang == "zh" ? Language::zh : Language::en;
  }
  for (const char* variable : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const std::string locale = world.environment(variable);
    if (!locale.empty()) return locale.starts_with("zh") ? Language::zh : Language::en;
  }
  return Language::en;
}

bool wants_color(const World& world) {
  return world.output_is_terminal && world.environment("NO_COLOR").empty() && world.environment("TERM") != "dumb";
}

std::string cache_folder(const World& world) {
  const std::string cache = world.environment("XDG_CACHE_HOME"), home = world.environment("HOME");
  if (cache.starts_with('/')) return cache + "/mha";
  return home.starts_with('/') ? home + "/.cache/mha" : std::string();
}

void tell_line(World& world, std::string_view sentence) {
  // A file name may hold anything; a message stays one harmless line.
  world.err.write(fmt::format("mha: {}\n", escape(sentence, std::string::npos)));
  world.err.flush();
}

void Progress::show(std::size_t done) {
  if (!world_.error_is_terminal || all_ == 0) return;
  const std::size_t filled = done * bar_width / all_;
  world_.err.write(fmt::format("\r[{:<{}}] {}/{}", std::string(filled, '#'), bar_width, done, all_));
  world_.err.flush();
  shown_ = true;
}

void Progress::clear() {
  if (!shown_) return;
  world_.err.write("\r\x1b[K");
  world_.err.flush();
  shown_ = false;
}

}  // namespace mha::cli
