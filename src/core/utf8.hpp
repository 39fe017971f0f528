// UTF-8, one character at a time, and what of it may be shown on a terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mha {

struct Character {
  char32_t code = 0;
  std::string_view bytes;
  bool valid = true;  // else a byte that belongs to no character
};

// Takes the first character off a text that is not empty. A byte that belongs to no character is one of its own, with
// the code of the replacement character.
Character take_character(std::string_view& text);

bool is_utf8(std::string_view text);

// Its letters from A to Z small.
std::string lower_case(std::string text);

// The same text with plain characters for those that only look otherwise, "Q⁽¹⁾" as "Q(1)", and accents on their letters
// (Unicode's NFKC). A text that is no UTF-8 stays as it is.
std::string plain(std::string_view text);

// Decimal digits alone: no sign, no exponent, no 0x. Nothing where the number does not fit.
std::optional<std::int64_t> whole_number(std::string_view digits);

// How many columns it takes: Chinese and most emoji two, combining marks none.
int columns_of(char32_t code);

// Whether it neither acts on the terminal nor hides in a text: no control, line break, bidirectional or invisible
// character.
bool may_be_shown(char32_t code);

// The text of a page: what may not be shown is spelled out, "\n", "\x1b", "\u202e", and invalid bytes are replaced.
std::string visible(std::string_view text);

// A piece of the input inside a message: the same as JSON spells it, "\u001b", bytes that are no UTF-8 as "\xff", cut after
// `most` characters; `quote` puts it into double quotes.
std::string escape(std::string_view text, std::size_t most = 40);
std::string quote(std::string_view text);

// A word of a command as a shell takes it: 'my class', and a file -x as ./-x.
std::string shell_word(std::string_view text);

}  // namespace mha
