// A page as data.
#include "show/document.hpp"

namespace mha::show {
namespace {

constexpr std::string_view between_languages = " / ";

// What is the same in both stands once.
void join(std::string& text, const std::string& other) {
  if (text != other) text.append(between_languages).append(other);
}
void join(Words& words, const Words& other) {
  if (words.plain() != other.plain()) words.add(std::string(between_languages)).append(other);
}
void join(Work::Line& line, const Work::Line& other) {
  join(line.remark, other.remark);
}
template <typename Part>
void join(std::vector<Part>& parts, const std::vector<Part>& others) {
  for (std::size_t i = 0; i < std::min(parts.size(), others.size()); ++i) join(parts[i], others[i]);
}

// Whether it is too long to stand beside the same in the other language, and stands below it.
template <typename Content>
bool join_block(Content& own, const Content& other) {
  if constexpr (std::is_same_v<Content, Title> || std::is_same_v<Content, Section>) join(own.parts, other.parts);
  if constexpr (std::is_same_v<Content, StepHeading>) join(own.title, other.title);
  if constexpr (std::is_same_v<Content, Table>) join(own.header, other.header), join(own.rows, other.rows);
  if constexpr (std::is_same_v<Content, Work>) join(own.lines, other.lines);
  if constexpr (std::is_same_v<Content, Note>) return own.text.plain() != other.text.plain();
  return std::is_same_v<Content, Facts>;
}

}  // namespace

std::string say(const Document& page, const Text& text) {
  std::string all = say(page.language, text);
  for (const Document& other : page.translation) join(all, say(other.language, text));
  return all;
}

// Pages that do not tell the same block by block stand one behind the other.
Document in_both_languages(const Document& page) {
  Document both = page;
  if (page.translation.empty()) return both;
  const std::vector<Block>& others = page.translation.front().blocks;
  const auto alike = [](const Block& a, const Block& b) { return a.index() == b.index(); };
  const bool parallel = std::equal(page.blocks.begin(), page.blocks.end(), others.begin(), others.end(), alike);
  if (!parallel) both.blocks.insert(both.blocks.end(), others.begin(), others.end());
  if (!parallel) return both;
  both.blocks.clear();
  for (std::size_t i = 0; i < others.size(); ++i) {
    Block own = page.blocks[i];
    const bool stands_below = std::visit(
        [&](auto& content) { return join_block(content, std::get<std::decay_t<decltype(content)>>(others[i])); }, own);
    both.blocks.push_back(std::move(own));
    if (stands_below) both.blocks.push_back(others[i]);
  }
  return both;
}

std::vector<Document> split_at_steps(Document document) {
  std::vector<Document> pieces;
  bool has_step = true;
  for (Block& block : document.blocks) {
    const bool is_step = std::holds_alternative<StepHeading>(block);
    const bool begins = is_step || std::holds_alternative<Section>(block);
    if (pieces.empty() || (begins && has_step)) {
      pieces.push_back({document.language, document.index_base, {}});
      has_step = false;
    }
    has_step = has_step || is_step;
    pieces.back().blocks.push_back(std::move(block));
  }
  return pieces;
}

}  // namespace mha::show
