// Lines of CSV, as spreadsheets read them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace mha {

// Fields are quoted where they have to be.
inline std::string csv_line(const std::vector<std::string>& fields, std::string_view ending = "\n") {
  std::string line;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) line += ',';
    const bool is_plain = field.find_first_of(",\"\r\n") == std::string::npos;
    if (!is_plain) line += '"';
    for (const char c : field) line.append(c == '"' ? 2 : 1, c);
    if (!is_plain) line += '"';
  }
  return line.append(ending);
}

}  // namespace mha
