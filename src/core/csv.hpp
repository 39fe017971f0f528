// Lines of CSV, as spreadsheets read them.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "core/utf8.hpp"

namespace mha {

// A person's text as a field: no spreadsheet takes it for a formula, and nothing hides in it.
inline std::string csv_text(std::string_view text) {
  constexpr std::array<std::string_view, 9> formula_signs = {"=", "+", "-", "@", "＝", "＋", "－", "＠", "−"};
  const auto begins = [&](std::string_view sign) { return text.starts_with(sign); };
  return (std::any_of(formula_signs.begin(), formula_signs.end(), begins) ? "'" : "") + visible(text);
}

// Fields are quoted where they have to be.
inline std::string csv_line(const std::vector<std::string>& fields, std::string_view ending = "\n") {
  std::string line;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) line += ',';
    const bool is_plain = field.find_first_of(",;\"\t\r\n") == std::string::npos;
    if (!is_plain) line += '"';
    for (const char c : field) line.append(c == '"' ? 2 : 1, c);
    if (!is_plain) line += '"';
  }
  return line.append(ending);
}

}  // namespace mha
