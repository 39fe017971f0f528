// Builds a page block by block, in one language: the blocks that every command's page is made of, and how each is said.
#pragma once

#include "core/problem.hpp"
#include "show/document.hpp"
#include "show/words/phrases.hpp"

namespace mha::show {

class PageBuilder {
 public:
  explicit PageBuilder(Language language, Index index_base = 1) : page_{language, index_base, {}} {}

  Language language() const { return page_.language; }
  // As the person counts.
  Index counted(Index from_zero) const { return from_zero + page_.index_base; }

  template <typename... Parts>
  std::string say(const Text& text, const Parts&... parts) const {
    return show::say(page_.language, text, parts...);
  }

  void add(Block block) { page_.blocks.push_back(std::move(block)); }

  // What the page tells, and beside it what the person calls the problem.
  void title(const Text& text, const Caption& name = {}) {
    Title title{{say(text)}};
    if (!name.empty()) title.parts.push_back(Words().quote(name.in(page_.language)));
    add(std::move(title));
  }

  void section(std::vector<Words> parts, Section::Level level = Section::Level::head) {
    add(Section{level, std::move(parts)});
  }

  void paragraph(Words text) { note(Note::Kind::paragraph, std::move(text)); }
  void caption(Words text) { note(Note::Kind::caption, std::move(text)); }
  void warning(Words text) { note(Note::Kind::warning, std::move(text)); }
  void hint(Words text) { note(Note::Kind::hint, std::move(text)); }
  template <typename... Parts>
  void paragraph(const Text& text, const Parts&... parts) {
    paragraph(Words(say(text, parts...)));
  }
  template <typename... Parts>
  void caption(const Text& text, const Parts&... parts) {
    caption(Words(say(text, parts...)));
  }
  template <typename... Parts>
  void warning(const Text& text, const Parts&... parts) {
    warning(Words(say(text, parts...)));
  }

  // The names over the columns of a table: a Text, or nothing over a column that needs no name.
  template <typename... Names>
  std::vector<std::string> header(const Names&... names) const {
    return {say(names)...};
  }

  Document take() { return std::move(page_); }

 private:
  // A step without small print has none.
  void note(Note::Kind kind, Words text) {
    if (!text.empty() || kind == Note::Kind::warning) add(Note{kind, std::move(text)});
  }

  Document page_;
};

}  // namespace mha::show
