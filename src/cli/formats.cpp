// Finds rows of the table of formats.
#include "cli/formats.hpp"

#include <fmt/ranges.h>

#include "cli/values.hpp"
#include "core/error.hpp"
#include "core/suggest.hpp"
#include "io/files/paths.hpp"

namespace mha::cli {
namespace {

std::vector<const Format*> offered(Kinds kinds) {
  std::vector<const Format*> result;
  for (const Format& format : formats)
    if (std::find(kinds.begin(), kinds.end(), format.kind) != kinds.end()) result.push_back(&format);
  return result;
}

std::vector<const Format*> printable(Kinds kinds) {
  std::vector<const Format*> result = offered(kinds);
  std::erase_if(result, [](const Format* format) { return format->kind == Format::Kind::arrays; });
  return result;
}

}  // namespace

std::string format_names(Kinds kinds, std::string_view separator) {
  return fmt::format("{}", fmt::join(column_of(printable(kinds), &Format::name), separator));
}

const Format& format_named(const std::optional<std::string>& name, Kinds kinds) {
  const std::vector<const Format*> rows = printable(kinds);
  return name ? *rows[parse_choice("--format", *name, column_of(rows, &Format::name))] : *rows.front();
}

const Format* format_of_file(std::string_view path, Kinds kinds) {
  for (const Format* format : offered(kinds))
    if (!format->ending.empty() && path.size() > format->ending.size() && path.ends_with(format->ending)) return format;
  return nullptr;
}

const Format& format_of_output(const std::string& path, Kinds kinds, const Format& otherwise, bool is_named,
                               bool needs_ending) {
  const Format* format = format_of_file(path, kinds);
  if (is_named) return otherwise;
  if (format != nullptr) return *format;
  const auto status = io::status_of(path);
  if (path.starts_with("/dev/") || (status && !S_ISREG(status->st_mode) && !S_ISDIR(status->st_mode))) return otherwise;
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  if (!needs_ending && name.find('.', 1) >= name.size() - 1) return otherwise;
  throw Error({"-o '{}': the ending says what to write; known are {}", "-o '{}'：由扩展名决定写什么；可用的有 {}"}, path,
              endings_text(kinds));
}

Saying endings_text(Kinds kinds) {
  Saying list;
  for (const Format* format : offered(kinds)) {
    if (format->ending.empty()) continue;
    const Saying one = say({"{} ({})", "{}（{}）"}, format->ending, format->what);
    list = list.en.empty() ? one : say({"{}, {}", "{}、{}"}, list, one);
  }
  return list;
}

}  // namespace mha::cli
