// JSON text to a tree of nodes, with the place of everything in it: the characters, handed out one at a time by something
// that knows where it is, and what is made of them.
#pragma once

#include <iterator>
#include <optional>
#include <span>

#include "io/json/tree.hpp"

namespace mha::io {

// A token that stands without quotes.
struct Word {
  enum class Kind {
    number,      // `value` is the nearest double
    too_large,   // a number beyond the range of doubles
    not_finite,  // NaN, Infinity, -Infinity, as Python's json writes them: no JSON, but the reader decides
    boolean,     // `value` is 0 or 1
    null,        // `value` is NaN
    wrong,
  };
  Kind kind = Kind::wrong;
  double value = 0;
  std::string_view written;
};

// Whether the grammar of JSON makes a number of it.
bool is_json_number(std::string_view word);

// What people write for a number where JSON has another spelling or none: "−0.5", "0,5", "+1", "-Infinity", "−∞". The text
// loses the blanks around it, and gets a plain sign and point.
std::optional<double> spelled_number(std::string& text);

// Throws InputFault where a text that begins so is no UTF-8.
void refuse_other_encodings(std::string_view head);

// The parser that reads from here reports no positions, takes -0 for the integer 0, refuses NaN, looks one character ahead
// after a number, and remembers every character since the last number or text. So the source cuts the input into tokens
// itself and knows where each begins; numbers and literals it reads on its own, handing out "0 " in their stead. White
// space between tokens is not handed out at all.
class Source {
 public:
  explicit Source(int fd);                 // read in chunks; whoever opened it closes it
  explicit Source(std::string_view text);  // which must outlive the source
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  void take_spelled_numbers() { takes_spelled_ = true; }  // also without quotes

  bool at_end() { return cursor_ == piece_end_ && !next_piece(); }
  char current() const { return *cursor_; }
  void advance() { ++cursor_; }

  // The first character of the current token and of the one before: '"' for a text, 0 where the input begins or ends.
  char token() const { return token_; }
  char previous_token() const { return previous_token_; }
  Position position();                        // where the current token begins
  Position position_in_text();                // of the character of a text that was handed out last
  bool cut_off() const { return cut_off_; }   // the input ended inside a text
  const Word& word() const { return word_; }  // the current token, where it is a number or a literal

 private:
  void begin();
  bool refill();
  bool next_piece();
  void skip_white_space();
  void begin_token();
  void hand_out_text();
  void hand_out_word();
  void move_mark(const char* to);

  int fd_ = -1;
  std::vector<char> buffer_;
  const char* scan_ = nullptr;  // the first character that no token has taken yet
  const char* end_ = nullptr;

  const char* cursor_ = nullptr;  // what is handed out: a piece of the buffer, or a stand-in
  const char* piece_end_ = nullptr;

  char token_ = 0;
  char previous_token_ = 0;
  bool takes_spelled_ = false;
  bool in_word_ = false;  // the whole token must stay in the buffer
  bool in_text_ = false;
  bool cut_off_ = false;
  bool escaped_ = false;  // the next character of the text follows a backslash
  Word word_;

  const char* token_begin_ = nullptr;
  bool token_placed_ = true;  // token_position_ is known
  Position token_position_;
  const char* mark_ = nullptr;  // a character whose position is known, at or before token_begin_ until that is placed
  Position mark_position_;
};

// What to say when the input is no JSON (syntax_fault.cpp).
struct Opening {
  char bracket;  // '[' or '{'
  Position position;
};

// The parser stopped at the source's current token, inside these lists and objects; `after_key`: a key came before it.
// `reason` is the parser's own account, which alone knows what is wrong inside a text.
InputFault syntax_fault(Source& source, const std::vector<Opening>& open, bool after_key, std::string_view reason);

// A list that has lost its end, which shows at `here`: to be mended where it begins.
InputFault unclosed_list(const Opening& list, Position here);

// A token without quotes that is neither a number nor a literal.
InputFault wrong_word(Position position, std::string_view word);

// Reads a source; all are equal at its end.
class SourceIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  SourceIterator() = default;
  explicit SourceIterator(Source& source) : source_(&source) {}

  char operator*() const { return source_->current(); }
  SourceIterator& operator++() {
    source_->advance();
    return *this;
  }
  bool operator==(const SourceIterator& other) const { return at_end() == other.at_end(); }

 private:
  bool at_end() const { return source_ == nullptr || source_->at_end(); }

  Source* source_ = nullptr;
};

enum class NumberTexts {
  minus_infinity,  // "-inf" alone is a number
  all,             // every spelling, with quotes or without, as answers have it; other texts among numbers are blanks,
                   // and the grids tell how exactly their numbers are written
  none,            // every list stays a list, and no number is too large: what of it is not used may be anything
};

enum class Notes {
  left_out,  // members whose keys start with _ or are $schema
  kept,
};

// Lists of numbers become grids, except below the top-level keys `lists_of_text`, where every list stays a list: a label
// may well be "-inf". Throws InputFault.
Node read_json(Source& source, std::span<const std::string_view> lists_of_text,
               NumberTexts number_texts = NumberTexts::minus_infinity, Notes notes = Notes::left_out);

}  // namespace mha::io
