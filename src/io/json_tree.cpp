// A JSON input in memory: how its parts are called in messages.
#include "io/json_tree.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "io/quote.hpp"

namespace mha {
namespace {

std::string describe_grid(const Grid& grid) {
  if (std::find(grid.axes.begin(), grid.axes.end(), 0) != grid.axes.end()) return grid.axes.size() == 1 ? "[]" : "[[]]";
  const Index first = grid.axes.front();
  if (grid.axes.size() == 1) return fmt::format("a list of {} number{}", first, first == 1 ? "" : "s");
  const std::string shape = shape_text(grid.axes);
  return grid.axes.size() == 2 ? fmt::format("a {} matrix", shape) : fmt::format("numbers of shape {}", shape);
}

struct Describe {
  std::string operator()(Null) const { return "null"; }
  std::string operator()(bool truth) const { return truth ? "true" : "false"; }
  std::string operator()(const Scalar& number) const { return "the number " + number.written; }
  std::string operator()(const std::string& text) const { return "the text " + quote(text); }
  std::string operator()(const List& list) const { return list.empty() ? "an empty list" : "a list"; }
  std::string operator()(const Object& object) const { return object.empty() ? "an empty object" : "an object"; }
  std::string operator()(const Grid& grid) const { return describe_grid(grid); }
};

bool is_plain_key(std::string_view key) {
  return !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

const OddEntry* Grid::first_odd_except(std::initializer_list<OddEntry::Kind> accepted) const {
  for (const OddEntry& entry : odd)
    if (std::find(accepted.begin(), accepted.end(), entry.kind) == accepted.end()) return &entry;
  return nullptr;
}

std::string path_of(std::string_view list, Index index) {
  return fmt::format("{}[{}]", list, index);
}

std::string path_of(std::string_view object, std::string_view key) {
  if (!is_plain_key(key)) return fmt::format("{}[{}]", object, quote(key));
  return fmt::format("{}{}{}", object, object.empty() ? "" : ".", escape(key));
}

std::string describe(const Node& node) {
  return std::visit(Describe{}, node.value);
}

std::string shape_text(const std::vector<Index>& axes) {
  return fmt::format("{}", fmt::join(axes, "×"));
}

void fail(const Node& node, const std::string& sentence) {
  throw InputFault(node.position, node.path, sentence);
}

}  // namespace mha
