// What a terminal can show.
#include "show/text/pen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/utf8.hpp"
#include "show/text/ascii.hpp"

namespace mha::show {
namespace {

constexpr int black = 16, white = 231;
constexpr std::array shades = {Shade{195, black}, Shade{153, black}, Shade{117, black}, Shade{75, black},
                               Shade{33, black},  Shade{26, white},  Shade{20, white},  Shade{18, white}};
constexpr float nothing_to_see = 0.01f;

}  // namespace

const Shade* shade_of(float weight) {
  if (!(weight >= nothing_to_see)) return nullptr;
  const auto level = static_cast<std::size_t>(weight * static_cast<float>(shades.size()));
  return &shades[std::min(level, shades.size() - 1)];
}

std::string Pen::own(std::string_view text) const {
  return style_.ascii ? to_ascii(text) : std::string(text);
}

std::string Pen::quoted(std::string_view text) const {
  return visible(text);
}

std::string Pen::words(const Words& words) const {
  std::string result;
  for (const Span& span : words.spans()) result += span.quoted ? quoted(span.text) : own(span.text);
  return result;
}

std::string Pen::cell(std::string text, const Cell& cell) const {
  std::string codes;
  if (const Shade* shade = shade_of(cell.shade))
    codes = fmt::format("48;5;{};38;5;{}", shade->background, shade->foreground);
  switch (cell.mark) {
    case Cell::Mark::none: break;
    case Cell::Mark::hidden: codes += codes.empty() ? "2" : ";2"; break;
    case Cell::Mark::worked: codes += codes.empty() ? "1" : ";1"; break;
    case Cell::Mark::wrong: codes += codes.empty() ? "1;31" : ";1;31"; break;
  }
  return codes.empty() ? text : painted(codes, std::move(text));
}

std::string Pen::painted(std::string_view codes, std::string text) const {
  if (!style_.color || text.empty()) return text;
  return fmt::format("\x1b[{}m{}\x1b[0m", codes, text);
}

}  // namespace mha::show
