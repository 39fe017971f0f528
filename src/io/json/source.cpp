// The characters of a JSON input: chunks of a file, cut into tokens whose place is known.
#include "io/json/reader.hpp"

#include <unistd.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <system_error>

namespace mha::io {
namespace {

constexpr std::size_t chunk_size = 1U << 16U;
constexpr std::string_view stand_in = "0 ";  // the space is what the parser reads ahead

// What ends a number or a literal.
constexpr std::array<bool, 256> ends_word = [] {
  std::array<bool, 256> table{};
  for (const char c : std::string_view(" \t\r\n,:[]{}\"")) table[static_cast<unsigned char>(c)] = true;
  return table;
}();

bool is_punctuation(char c) {
  return c == ',' || c == ':' || c == '[' || c == ']' || c == '{' || c == '}';
}

Index characters(const char* from, const char* to) {
  return std::count_if(from, to, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80; });
}

// Other encodings by their first four bytes, with a byte order mark or without; '?' is any byte but zero, since a JSON text
// begins with two ASCII characters.
struct Encoding {
  std::string_view pattern;
  std::string_view name;
  std::string_view converter;  // as iconv calls it
};

using namespace std::string_view_literals;
constexpr std::array encodings = {
    Encoding{"\xFF\xFE\0\0"sv, "UTF-32", "UTF-32LE"}, Encoding{"\0\0\xFE\xFF"sv, "UTF-32", "UTF-32BE"},
    Encoding{"?\0\0\0"sv, "UTF-32", "UTF-32LE"},      Encoding{"\0\0\0?"sv, "UTF-32", "UTF-32BE"},
    Encoding{"\xFF\xFE"sv, "UTF-16", "UTF-16LE"},     Encoding{"\xFE\xFF"sv, "UTF-16", "UTF-16BE"},
    Encoding{"?\0?\0"sv, "UTF-16", "UTF-16LE"},       Encoding{"\0?\0?"sv, "UTF-16", "UTF-16BE"},
};

// A first line of words or numbers between commas or the like, which begins as no JSON object or list does.
bool is_table(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\n'));
  return !line.empty() && (std::isalnum(static_cast<unsigned char>(line.front())) != 0 || line.front() == '-') &&
         line.find_first_of(",;\t") != std::string_view::npos &&
         line.find_first_of("[]{}:=\"'\0"sv) == std::string_view::npos;
}

// What a file is that is no JSON, and where it belongs. What is in a zip archive is told by names near its beginning.
struct OtherFile {
  bool (*is)(std::string_view head);
  Text name, remedy;
};
constexpr Text points_to_it = {"which may point to it: {\"X\": {\"file\": \"X.npy\"}, …}",
                               "其中可以引用它：{\"X\": {\"file\": \"X.npy\"}, …}"};
bool holds(std::string_view head, std::string_view part) {
  return head.starts_with("PK\x03\x04") && head.find(part) != std::string_view::npos;
}
constexpr std::array other_files = {
    OtherFile{[](std::string_view head) { return head.starts_with("\x93NUMPY"); },
              {"a NumPy array, .npy", " NumPy 数组（.npy）"},
              points_to_it},
    OtherFile{[](std::string_view head) { return holds(head, ".npy"); },
              {"a NumPy archive, .npz", " NumPy 的 .npz 文件"},
              points_to_it},
    OtherFile{[](std::string_view head) { return head.size() > 8 && head[8] == '{' && head.substr(4, 4) == "\0\0\0\0"sv; },
              {"a .safetensors file", " .safetensors 文件"},
              {"which may point to it: {\"X\": {\"file\": \"X.safetensors\", \"tensor\": \"X\"}, …}",
               "其中可以引用它：{\"X\": {\"file\": \"X.safetensors\", \"tensor\": \"X\"}, …}"}},
    OtherFile{[](std::string_view head) { return holds(head, "word/"); },
              {"a Word document", " Word 文档"},
              {"or answers as .csv and .xlsx files; write the numbers into one of these",
               "或 .csv、.xlsx 形式的答卷；请把数写到其中一种文件里"}},
    OtherFile{[](std::string_view head) { return holds(head, "xl/") || holds(head, "[Content_Types]"); },
              {"an Excel workbook", " Excel 工作簿"},
              {"and takes workbooks as answers: mha check PROBLEM ANSWER.xlsx",
               "工作簿可以作为答卷：mha check PROBLEM ANSWER.xlsx"}},
    OtherFile{[](std::string_view head) { return holds(head, ""); },
              {"a zip archive", " zip 压缩包"},
              {"so unpack it first", "请先解压"}},
    OtherFile{is_table,
              {"a table, as .csv files hold one", "表格，就像 .csv 文件那样"},
              {"with a matrix row by row and decimal points: {\"X\": [[1.5, 0], [0, 1]], …}",
               "矩阵逐行书写，小数用点：{\"X\": [[1.5, 0], [0, 1]], …}"}},
};

void refuse_other_files(std::string_view head) {
  for (const OtherFile& file : other_files)
    if (file.is(head))
      throw InputFault({}, "", {"this is {}; mha reads JSON here, {}", "这是{}，而 mha 在这里读取 JSON，{}"}, file.name,
                       file.remedy);
}

}  // namespace

void refuse_other_encodings(std::string_view head) {
  const auto fits = [](char pattern, char c) { return pattern == '?' ? c != '\0' : pattern == c; };
  for (const Encoding& encoding : encodings) {
    const std::string_view pattern = encoding.pattern;
    if (head.size() < pattern.size() || !std::equal(pattern.begin(), pattern.end(), head.begin(), fits)) continue;
    throw InputFault({}, "",
                     {"this is {}; mha reads UTF-8. Save it as UTF-8, or convert it: iconv -f {} -t UTF-8 OLD > NEW",
                      "这是 {}，而 mha 读取 UTF-8。请存为 UTF-8，或转换：iconv -f {} -t UTF-8 OLD > NEW"},
                     encoding.name, encoding.converter);
  }
}

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::array literals = {
    Word{Word::Kind::boolean, 1, "true"},
    Word{Word::Kind::boolean, 0, "false"},
    Word{Word::Kind::null, not_a_number, "null"},
    Word{Word::Kind::not_finite, not_a_number, "NaN"},
    Word{Word::Kind::not_finite, infinity, "Infinity"},
    Word{Word::Kind::not_finite, -infinity, "-Infinity"},
};

Word number_of(std::string_view written) {
  double value = 0;
  const auto [end, status] = std::from_chars(written.data(), written.data() + written.size(), value);
  if (status == std::errc::result_out_of_range) value = std::strtod(std::string(written).c_str(), nullptr);  // which way
  return {std::isinf(value) ? Word::Kind::too_large : Word::Kind::number, value, written};
}

Word word_of(std::string_view written) {
  if (is_json_number(written)) return number_of(written);
  const auto* const literal =
      std::find_if(literals.begin(), literals.end(), [&](const Word& row) { return row.written == written; });
  return literal == literals.end() ? Word{Word::Kind::wrong, 0, written} : *literal;
}

}  // namespace

// -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?, as RFC 8259 has it.
bool is_json_number(std::string_view word) {
  std::size_t i = 0;
  const auto take = [&](char one, char other) {
    const bool found = i < word.size() && (word[i] == one || word[i] == other);
    if (found) ++i;
    return found;
  };
  const auto take_digits = [&] {
    const std::size_t begin = i;
    while (i < word.size() && word[i] >= '0' && word[i] <= '9') ++i;
    return i - begin;
  };
  take('-', '-');
  const bool begins_with_zero = word.substr(i).starts_with('0');
  const std::size_t whole = take_digits();
  if (whole == 0 || (begins_with_zero && whole > 1)) return false;
  if (take('.', '.') && take_digits() == 0) return false;
  if (!take('e', 'E')) return i == word.size();
  take('+', '-');
  return take_digits() > 0 && i == word.size();
}

std::optional<double> spelled_number(std::string& text) {
  constexpr std::string_view white_space = " \t\r\n";
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> spellings{
      {{"\u00A0", ""}, {"−", "-"}, {"–", "-"}, {"∞", "inf"}}};
  for (const auto& [written, plain] : spellings)
    if (const std::size_t at = text.find(written); at != std::string::npos) text.replace(at, written.size(), plain);
  text.erase(0, std::min(text.find_first_not_of(white_space), text.size()));
  text.erase(text.find_last_not_of(white_space) + 1);
  if (text.find('.') == std::string::npos) std::replace(text.begin(), text.end(), ',', '.');  // two of them are none
  if (text.starts_with('+')) text.erase(0, 1);
  double value = 0;
  const char* const behind = text.data() + text.size();
  const auto [end, fault] = std::from_chars(text.data(), behind, value);
  return fault == std::errc() && end == behind ? std::optional(value) : std::nullopt;
}

Source::Source(int fd) : fd_(fd), buffer_(chunk_size) {
  scan_ = end_ = mark_ = token_begin_ = buffer_.data();
  while (end_ - scan_ < 4 && refill()) {
  }
  begin();
}

Source::Source(std::string_view text) : scan_(text.data()), end_(text.data() + text.size()) {
  begin();
}

void Source::begin() {
  const std::string_view head(scan_, static_cast<std::size_t>(end_ - scan_));
  refuse_other_files(head);
  refuse_other_encodings(head);
  if (head.starts_with("\xEF\xBB\xBF")) scan_ += 3;  // a byte order mark
  mark_ = token_begin_ = scan_;
}

// Moves what is still needed to the front of the buffer and reads on behind it; false at the end of the input.
bool Source::refill() {
  if (fd_ < 0) return false;
  position();
  const char* const keep = in_word_ ? token_begin_ : scan_;
  move_mark(keep);
  const auto kept = static_cast<std::size_t>(end_ - keep);
  const auto scanned = static_cast<std::size_t>(scan_ - keep);
  std::memmove(buffer_.data(), keep, kept);
  if (kept == buffer_.size()) buffer_.resize(2 * kept);
  ssize_t count = 0;
  do {
    count = ::read(fd_, buffer_.data() + kept, buffer_.size() - kept);
  } while (count < 0 && errno == EINTR);
  if (count < 0) throw std::system_error(errno, std::generic_category());
  mark_ = token_begin_ = buffer_.data();
  scan_ = mark_ + scanned;
  end_ = mark_ + kept + count;
  if (count == 0) fd_ = -1;  // a terminal would have to be told twice
  return count > 0;
}

void Source::move_mark(const char* to) {
  mark_position_.column += characters(mark_, to);
  mark_ = to;
}

Position Source::position() {
  if (!token_placed_) {
    move_mark(token_begin_);
    token_position_ = mark_position_;
    token_placed_ = true;
  }
  return token_position_;
}

Position Source::position_in_text() {
  position();
  move_mark(cursor_ - 1);
  return mark_position_;
}

void Source::skip_white_space() {
  do {
    for (; scan_ != end_; ++scan_) {
      if (*scan_ == '\n') {
        mark_ = scan_ + 1;
        mark_position_ = {mark_position_.line + 1, 1};
      } else if (*scan_ != ' ' && *scan_ != '\t' && *scan_ != '\r') {
        return;
      }
    }
  } while (refill());
}

void Source::begin_token() {
  const char first = scan_ == end_ ? '\0' : *scan_;
  if (first != '\0' || token_ != '\0') previous_token_ = token_;  // the end may be asked for more than once
  token_ = first;
  token_begin_ = scan_;
  token_placed_ = false;
}

bool Source::next_piece() {
  if (in_text_) {
    hand_out_text();
    cut_off_ = cursor_ == piece_end_;
    return !cut_off_;
  }
  token_placed_ = true;  // nobody asks for the old token any more
  skip_white_space();
  begin_token();
  if (scan_ == end_) return false;
  if (token_ == '"' || is_punctuation(token_)) {
    in_text_ = token_ == '"';
    cursor_ = scan_++;
    piece_end_ = scan_;
  } else {
    hand_out_word();
  }
  return true;
}

// As much of the text as the buffer holds.
void Source::hand_out_text() {
  if (scan_ == end_) refill();
  cursor_ = scan_;
  while (scan_ != end_ && in_text_) {
    const char c = *scan_++;
    in_text_ = escaped_ || c != '"';
    escaped_ = !escaped_ && c == '\\';
  }
  piece_end_ = scan_;
}

void Source::hand_out_word() {
  in_word_ = true;
  do {
    while (scan_ != end_ && !ends_word[static_cast<unsigned char>(*scan_)]) ++scan_;
  } while (scan_ == end_ && refill());
  in_word_ = false;
  word_ = word_of({token_begin_, static_cast<std::size_t>(scan_ - token_begin_)});
  if (word_.kind == Word::Kind::wrong && takes_spelled_) {
    std::string text(word_.written);
    if (const std::optional<double> number = spelled_number(text))
      word_ = {std::isfinite(*number) ? Word::Kind::number : Word::Kind::not_finite, *number, word_.written};
  }
  if (word_.kind == Word::Kind::wrong) throw wrong_word(position(), word_.written);
  cursor_ = stand_in.data();
  piece_end_ = cursor_ + stand_in.size();
}

}  // namespace mha::io
