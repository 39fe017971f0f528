// What to say when the input is no JSON: what was found, what belongs there, and the slip behind it.
#include "io/json/source.hpp"

#include <fmt/format.h>

#include <array>

#include "core/utf8.hpp"

namespace mha::io {
namespace {

// What is wrong inside a text, by the words of nlohmann's lexer.
struct TextFault {
  std::string_view reason;
  std::string_view sentence;
};

constexpr TextFault text_faults[] = {
    {"ill-formed UTF-8", "a text holds bytes that are no UTF-8; save the file as UTF-8"},
    {"control character",
     "a line break, tab or other control character stands inside a text; close the text with \" or "
     "write \\n, \\t or \\u001b"},
    {"surrogate", "half of a surrogate pair stands alone in a text; write the character itself"},
    {"\\u", "\\u in a text is followed by four hexadecimal digits, such as \\u03b1"},
    {"backslash", "after a backslash a text has one of \" \\ / b f n r t u; write a backslash itself as \\\\"},
};

InputFault text_fault(Source& source, std::string_view reason) {
  if (source.cut_off())
    return {source.position(), "", "the text that begins here is never closed; add the missing double quote"};
  for (const TextFault& fault : text_faults)
    if (reason.find(fault.reason) != std::string_view::npos)
      return {source.position_in_text(), "", std::string(fault.sentence)};
  return {source.position_in_text(), "", "a text cannot be read: " + escape(reason)};
}

bool ends_value(char token) {
  return token != ',' && token != ':' && token != '[' && token != '{';
}

std::string name_of_token(const Source& source) {
  switch (source.token()) {
    case '\0': return "the end of the file";
    case '"': return "a text";
    case ',':
    case ':':
    case '[':
    case ']':
    case '{':
    case '}': return fmt::format("'{}'", source.token());
    default: return escape(source.word().written);
  }
}

std::string name_of_opening(const Opening& opening) {
  return fmt::format("the {} that begins at line {}, column {}", opening.bracket == '[' ? "list" : "object",
                     opening.position.line, opening.position.column);
}

std::string_view expected_in_list(char previous) {
  if (previous == '[') return "a value or ']'";
  return previous == ',' ? "a value" : "',' or ']'";
}

std::string_view expected_in_object(char previous, bool after_key) {
  if (previous == ':') return "a value";
  if (after_key) return "':' and a value";
  if (previous == '{') return "a key in double quotes or '}'";
  return previous == ',' ? "a key in double quotes" : "',' or '}'";
}

std::string_view slip(char token, char previous, bool after_key) {
  const bool begins_value = token != ',' && token != ':' && token != ']' && token != '}';
  if (after_key || previous == ':') return "";
  if (ends_value(previous) && begins_value) return "; a comma is missing before it";
  if (token == ',') return "; remove the comma or write what is missing before it";
  return "";
}

// What people write, by how it begins or as a whole, and what to do about it.
struct Habit {
  std::string_view written;
  std::string_view remedy;
  bool is_whole = false;
};

constexpr std::string_view no_comments =
    "JSON has no comments; a key that starts with _ may hold a remark: \"_remark\": \"…\"";
constexpr std::string_view straight_quotes = "texts and keys stand in straight double quotes: \"…\"";
constexpr std::string_view every_entry = "mha needs every entry; a printed matrix with dots has lost some";
constexpr std::string_view no_such_number = "JSON has no such number; an add mask takes the text \"-inf\"";
constexpr std::array habits = {
    Habit{"//", no_comments},
    Habit{"/*", no_comments},
    Habit{"#", no_comments},
    Habit{"'", "texts and keys stand in double quotes: \"…\""},
    Habit{"“", straight_quotes},
    Habit{"”", straight_quotes},
    Habit{"−", "a minus sign in JSON is the plain hyphen: -1"},
    Habit{"...", every_entry},
    Habit{"…", every_entry},
    Habit{"True", "write true", true},
    Habit{"TRUE", "write true", true},
    Habit{"False", "write false", true},
    Habit{"FALSE", "write false", true},
    Habit{"None", "write null, or leave the key out", true},
    Habit{"nan", "JSON has no such number", true},
    Habit{"inf", no_such_number, true},
    Habit{"-inf", "in an add mask write it as text: \"-inf\"", true},
    Habit{"+Infinity", no_such_number, true},
};

std::string mend_number(std::string_view word) {
  const std::string_view sign = word.starts_with('-') ? "-" : "";
  std::string_view digits = word.substr(word.find_first_not_of("+-"));
  if (digits.starts_with('.')) return fmt::format("write a digit before the point: {}0{}", sign, escape(digits));
  if (digits.ends_with('.')) return fmt::format("write a digit behind the point: {}{}0", sign, escape(digits));
  const std::size_t first = digits.find_first_not_of('0');
  if (first != 0 && first != std::string_view::npos && is_json_number(digits.substr(first)))
    return fmt::format("leading zeros are not allowed: {}{}", sign, escape(digits.substr(first)));
  if (word.starts_with('+') && is_json_number(digits)) return "numbers carry no plus sign: " + escape(digits);
  return "a number is decimal, such as -0.5 or 1.5e-3";
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// What should stand in place of a wrong word.
std::string mend(std::string_view word) {
  for (const Habit& habit : habits)
    if (habit.is_whole ? word == habit.written : word.starts_with(habit.written)) return std::string(habit.remedy);
  const std::size_t digits = word.find_first_not_of("+-");
  const bool like_a_number =
      digits <= 1 &&
      (is_digit(word[digits]) || (word[digits] == '.' && word.size() > digits + 1 && is_digit(word[digits + 1])));
  return like_a_number ? mend_number(word) : "texts and keys stand in double quotes";
}

}  // namespace

InputFault syntax_fault(Source& source, const std::vector<Opening>& open, bool after_key, std::string_view reason) {
  if (source.token() == '"' && reason.find("invalid string") != std::string_view::npos) return text_fault(source, reason);
  const char token = source.token();
  const char previous = source.previous_token();
  const Position here = source.position();
  if (token == '\0' && previous == '\0')
    return {here, "", "it is empty; mha reads one JSON object, {\"X\": [[1, 0], [0, 1]], …}"};
  if (token == '\0' && !open.empty())
    return {here, "",
            fmt::format("the file ends before {} is closed; add the missing '{}', or fetch the rest of the file",
                        name_of_opening(open.back()), open.back().bracket == '[' ? ']' : '}')};
  if ((token == ']' || token == '}') && previous == ',')
    return {here, "",
            fmt::format("a comma stands before the closing '{}', which JSON does not allow; remove the comma", token)};
  const std::string found = name_of_token(source);
  if (open.empty() && previous == '\0')
    return {here, "", fmt::format("found {}, expected one JSON object, {{\"X\": …}}", found)};
  if (open.empty())
    return {here, "",
            fmt::format("found {} behind the end of the JSON value; a file holds one, so remove what follows", found)};
  const std::string_view expected =
      open.back().bracket == '[' ? expected_in_list(previous) : expected_in_object(previous, after_key);
  return {here, "",
          fmt::format("found {}, expected {} in {}{}", found, expected, name_of_opening(open.back()),
                      slip(token, previous, after_key))};
}

InputFault wrong_word(Position position, std::string_view word) {
  return {position, "", fmt::format("found {}, which is no JSON: {}", escape(word), mend(word))};
}

}  // namespace mha::io
