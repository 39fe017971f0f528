// JSON text to a tree: numbers to the last bit, the place of everything, and a sentence for each slip.
#include "io/json/reader.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <limits>

#include "catch.hpp"

using namespace mha;
using namespace mha::test;
using namespace std::string_literals;

namespace {

constexpr std::string_view lists_of_text[] = {"tokens"};

Node read_text(std::string_view text) {
  Source source(text);
  return read_json(source, lists_of_text);
}

std::string said(const InputFault& fault) {
  return fmt::format("{}:{}: {}{}{}", fault.position().line, fault.position().column, fault.path(),
                     fault.path().empty() ? "" : ": ", fault.what());
}

// What is wrong with a text: "LINE:COLUMN: PATH: sentence"; empty where nothing is.
std::string fault_in_json(std::string_view text) {
  try {
    read_text(text);
  } catch (const InputFault& fault) {
    return said(fault);
  }
  return "";
}

// The same by way of a file descriptor, so in chunks.
std::string fault_in_json_file(std::string_view text) {
  std::FILE* file = std::tmpfile();
  std::fwrite(text.data(), 1, text.size(), file);
  std::rewind(file);
  std::string result;
  try {
    Source source(::fileno(file));
    read_json(source, lists_of_text);
  } catch (const InputFault& fault) {
    result = said(fault);
  }
  std::fclose(file);
  return result;
}

double number(const std::string& written) {
  const Node node = read_text("[" + written + "]");
  REQUIRE(node.as<Grid>() != nullptr);
  return node.as<Grid>()->numbers[0];
}

const Node& member(const Node& node, std::string_view key) {
  for (const Member& found : *node.as<Object>())
    if (found.key == key) return found.node;
  FAIL("no member " << key);
  return node;
}

}  // namespace

TEST_CASE("numbers are the nearest doubles") {
  CHECK(number("0.1") == 0.1);
  CHECK(number("9007199254740993") == 9007199254740992.0);
  CHECK(number("123456789012345678901234567890") == 123456789012345678901234567890.0);
  CHECK(number("-18446744073709551617") == -18446744073709551616.0);
  CHECK(number("1E+2") == 100);
  CHECK(number("1.7976931348623157e308") == std::numeric_limits<double>::max());
  CHECK(number("4.9e-324") == std::numeric_limits<double>::denorm_min());
  CHECK(number("1e-320") == 1e-320);
  CHECK(number("0." + std::string(400, '0') + "1e401") == 1);
  CHECK(number("1" + std::string(400, '0') + "e-400") == 1);
}

TEST_CASE("a zero keeps its sign, and what is too small is zero") {
  CHECK((number("-0") == 0 && std::signbit(number("-0"))));
  CHECK((number("-0.0") == 0 && std::signbit(number("-0.0"))));
  CHECK((number("1e-400") == 0 && !std::signbit(number("1e-400"))));
  CHECK((number("-1e-400") == 0 && std::signbit(number("-1e-400"))));
  CHECK(number("1e-99999999999999999999") == 0);
  CHECK(number("0e999999999999999999999") == 0);
  CHECK(number("0." + std::string(400, '0') + "1") == 0);
}

TEST_CASE("what is too large is an error with its place") {
  CHECK(fault_in_json("{\"X\": [[1, 1e400]]}") == "1:12: X[0][1]: 1e400 is too large; numbers go up to 1.797e308");
  CHECK(fault_in_json("{\"scale\": -1e309}") == "1:11: scale: -1e309 is too large; numbers go up to 1.797e308");
  CHECK(fault_in_json("[1e99999999999999999999]") ==
        "1:2: [0]: 1e99999999999999999999 is too large; numbers go up to 1.797e308");
  CHECK_FALSE(fault_in_json("[1" + std::string(400, '0') + "]").empty());
}

TEST_CASE("numbers lie row after row, and odd entries are on record") {
  const Node node = read_text(R"([[[1, 2], [3, true]], [["-inf", NaN], [null, "x"]]])");
  const Grid& grid = *node.as<Grid>();
  CHECK(grid.axes == std::vector<Index>{2, 2, 2});
  CHECK(grid.numbers[2] == 3);
  CHECK(grid.numbers[3] == 1);
  CHECK(grid.numbers[4] == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(grid.numbers[5]));
  using Kind = OddEntry::Kind;
  REQUIRE(grid.odd.size() == 5);
  CHECK(grid.odd.front().path == "[0][1][1]");
  const OddEntry* const odd = &grid.odd[3];
  CHECK(odd->kind == Kind::null);
  CHECK(odd->path == "[1][1][0]");
  CHECK(odd->position.column == 40);
  CHECK(grid.odd.back().found.en == "the text \"x\"");
}

TEST_CASE("lists of texts and of objects stay lists") {
  const Node node = read_text(R"({"a": [["x", 1]], "b": [{"c": [1]}], "tokens": ["-inf", 1], "d": ["-inf", 1]})");
  const Node& text = member(node, "a").as<List>()->front();
  CHECK(text.path == "a[0]");
  CHECK(text.as<List>()->at(1).as<Scalar>()->value == 1);
  CHECK(member(member(node, "b").as<List>()->front(), "c").as<Grid>() != nullptr);
  CHECK(*member(node, "tokens").as<List>()->front().as<std::string>() == "-inf");
  CHECK(member(node, "d").as<Grid>() != nullptr);
}

TEST_CASE("everything knows where it stood") {
  const Node node = read_text("{\r\n \"é\": 1,\n \"b\":\n  [[1],\n   [2]], \"日本\": {\"c d\": \"x\"}}");
  CHECK(member(node, "é").position.line == 2);
  CHECK(member(node, "é").position.column == 7);
  CHECK(member(node, "b").position.line == 4);
  CHECK(member(node, "b").position.column == 3);
  const Node& inner = member(member(node, "日本"), "c d");
  CHECK(inner.position.line == 5);
  CHECK(inner.position.column == 24);
  CHECK(inner.path == "[\"日本\"][\"c d\"]");
}

TEST_CASE("a byte order mark is no character") {
  CHECK(fault_in_json("\xEF\xBB\xBF[1, x]").starts_with("1:5: "));
}

TEST_CASE("keys that are none of ours are passed over, whatever they hold") {
  const Node node =
      read_text(R"({"_a": [1, [1e999, {"b": 1, "b": 2}], NaN], "_a": 1, "$schema": {"_": {}}, "X": {"_b": [], "c": 1}})");
  REQUIRE(node.as<Object>()->size() == 1);
  CHECK(member(node, "X").as<Object>()->size() == 1);
  CHECK(member(member(node, "X"), "c").as<Scalar>()->value == 1);
}

TEST_CASE("a key given twice") {
  CHECK(fault_in_json("{\"a\": 1,\n \"b\": {\"a\": 1},\n \"a\": 2}") ==
        "3:2: the key \"a\" is given twice, first at line 1, column 2; remove one of the two");
  CHECK(fault_in_json(R"({"h": [{"a": 1, "\u0061": 2}]})") ==
        "1:17: h[0]: the key \"a\" is given twice, first at line 1, column 9; remove one of the two");
}

TEST_CASE("what is not rectangular") {
  CHECK(fault_in_json("{\"X\": [[1, 2], [3]]}") ==
        "1:16: X[1]: the length is 1 here but 2 in X[0]; rows of a matrix all have one length");
  CHECK(fault_in_json("[[[1], [2]], [[3]]]") ==
        "1:14: [1]: the length is 1 here but 2 in [0]; rows of a matrix all have one length");
  CHECK(fault_in_json("[[[1], [2]], [[3], [4, 5]]]") ==
        "1:20: [1][1]: the length is 2 here but 1 in [0][0]; rows of a matrix all have one length");
  CHECK(fault_in_json("[[1], []]") == "1:7: [1]: the length is 0 here but 1 in [0]; rows of a matrix all have one length");
  CHECK(fault_in_json("[[], [1]]") == "1:6: [1]: the length is 1 here but 0 in [0]; rows of a matrix all have one length");
  CHECK(fault_in_json("[[1], 2]") ==
        "1:7: [1]: a single entry stands where a list belongs; the entries before it are lists");
  CHECK(
      fault_in_json("[1, [2]]") ==
      "1:5: [1]: a list stands where a number belongs; the entries before it are numbers. If the list that begins at line "
      "1, column 1 ends before it, add the missing ']'");
  CHECK(fault_in_json("[1, {}]") == "1:5: [1]: an object stands where a number belongs; the entries before it are numbers");
}

TEST_CASE("null among objects") {
  CHECK(fault_in_json(R"({"heads": [null, {"W_Q": 1}]})") ==
        "1:12: heads[0]: null stands in a list of objects; write the object that belongs here, or leave the entry out");
  CHECK(fault_in_json("[[], {}]") ==
        "1:6: [1]: an object stands where a number belongs; the entries before it are numbers");
  CHECK(fault_in_json(R"({"heads": [1, null, {}]})") ==
        "1:21: heads[2]: an object stands where a number belongs; the entries before it are numbers");
}

TEST_CASE("brackets nest only so deep") {
  const std::string sentence =
      ": more than 64 lists and objects inside one another; a matrix is a list of rows: [[1, 0], [0, 1]]";
  CHECK(fault_in_json(std::string(200000, '[')) == "1:65" + sentence);
  CHECK(fault_in_json("{\"_\": " + std::string(200000, '[')) == "1:70" + sentence);
  CHECK(fault_in_json(std::string(64, '[') + std::string(64, ']')).empty());
}

TEST_CASE("what is no JSON") {
  struct {
    std::string text, fault;
  } const rows[] = {
      {"", "1:1: it is empty; mha reads one JSON object, {\"X\": [[1, 0], [0, 1]], …}"},
      {"\n \n", "3:1: it is empty; mha reads one JSON object, {\"X\": [[1, 0], [0, 1]], …}"},
      {"[1,\n2,\n]", "3:1: a comma stands before the closing ']', which JSON does not allow; remove the comma"},
      {"{\"a\": 1,}", "1:9: a comma stands before the closing '}', which JSON does not allow; remove the comma"},
      {"[1 2]",
       "1:4: found 2, expected ',' or ']' in the list that begins at line 1, column 1; a comma is missing before it"},
      {"[[1][2]]",
       "1:5: found '[', expected ',' or ']' in the list that begins at line 1, column 1; a comma is missing before it"},
      {"{\"a\": 1 \"b\": 2}",
       "1:9: found a text, expected ',' or '}' in the object that begins at line 1, column 1; a comma is missing before "
       "it"},
      {"[1,,2]",
       "1:4: found ',', expected a value in the list that begins at line 1, column 1; remove the comma or write "
       "what is missing before it"},
      {"{\"a\" 1}", "1:6: found 1, expected ':' and a value in the object that begins at line 1, column 1"},
      {"{\"a\": }", "1:7: found '}', expected a value in the object that begins at line 1, column 1"},
      {"{1: 2}", "1:2: found 1, expected a key in double quotes or '}' in the object that begins at line 1, column 1"},
      {"{\"a\": 1, 2}", "1:10: found 2, expected a key in double quotes in the object that begins at line 1, column 1"},
      {"[\n [1}", "2:2: the list that begins here is not closed before line 2, column 4; add the missing ']'"},
      {"{\"X\": [[1, 0],\n \"heads\": 1}",
       "1:7: the list that begins here is not closed before line 2, column 2; add the missing ']'"},
      {"{} {}", "1:4: found '{' behind the end of the JSON value; a file holds one, so remove what follows"},
      {"]", "1:1: found ']', expected one JSON object, {\"X\": …}"},
      {"{\"a\": [1, 2",
       "1:12: the file ends before the list that begins at line 1, column 7 is closed; add the missing ']', or fetch the "
       "rest "
       "of the file"},
      {"{\"_a\": [[1], ",
       "1:14: the file ends before the list that begins at line 1, column 8 is closed; add the missing ']', "
       "or fetch the rest of the file"},
      {"[.5]", "1:2: found .5, which is no JSON: write a digit before the point: 0.5"},
      {"[-.5]", "1:2: found -.5, which is no JSON: write a digit before the point: -0.5"},
      {"[1.]", "1:2: found 1., which is no JSON: write a digit behind the point: 1.0"},
      {"[+1]", "1:2: found +1, which is no JSON: numbers carry no plus sign: 1"},
      {"[01]", "1:2: found 01, which is no JSON: leading zeros are not allowed: 1"},
      {"[-007.5]", "1:2: found -007.5, which is no JSON: leading zeros are not allowed: -7.5"},
      {"[1e]", "1:2: found 1e, which is no JSON: a number is decimal, such as -0.5 or 1.5e-3"},
      {"[0x1F]", "1:2: found 0x1F, which is no JSON: a number is decimal, such as -0.5 or 1.5e-3"},
      {"[1] // x",
       "1:5: found //, which is no JSON: JSON has no comments; a key that starts with _ may hold a remark: "
       "\"_remark\": \"…\""},
      {"/* x */ [1]",
       "1:1: found /*, which is no JSON: JSON has no comments; a key that starts with _ may hold a remark: "
       "\"_remark\": \"…\""},
      {"{'a': 1}", "1:2: found 'a', which is no JSON: texts and keys stand in double quotes: \"…\""},
      {"{“a”: 1}", "1:2: found “a”, which is no JSON: texts and keys stand in straight double quotes: \"…\""},
      {"{a: 1}", "1:2: found a, which is no JSON: texts and keys stand in double quotes"},
      {"[True]", "1:2: found True, which is no JSON: write true"},
      {"[nan]", "1:2: found nan, which is no JSON: JSON has no such number"},
      {"[-inf]", "1:2: found -inf, which is no JSON: in an add mask write it as text: \"-inf\""},
      {"[−1]", "1:2: found −1, which is no JSON: a minus sign in JSON is the plain hyphen: -1"},
      {"[1, ...]", "1:5: found ..., which is no JSON: mha needs every entry; a printed matrix with dots has lost some"},
      {"[1]\0"s, "1:4: found \\u0000, which is no JSON: texts and keys stand in double quotes"},
      {"[1\xFF]", "1:2: found 1\\xff, which is no JSON: a number is decimal, such as -0.5 or 1.5e-3"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    CHECK(fault_in_json(row.text) == row.fault);
    CHECK(fault_in_json_file(row.text) == row.fault);
  }
}

TEST_CASE("what is wrong inside a text") {
  struct {
    std::string text, fault;
  } const rows[] = {
      {"{\"é", "1:2: the text that begins here is never closed; add the missing double quote"},
      {"{\"é\": \"a\nb\"}",
       "1:9: a line break, tab or other control character stands inside a text; close the text with \" or "
       "write \\n, \\t or \\u001b"},
      {"[\"ab\xFF\"]", "1:5: a text holds bytes that are no UTF-8; save the file as UTF-8"},
      {"[\"ab\xC3\"]", "1:6: a text holds bytes that are no UTF-8; save the file as UTF-8"},
      {"[\"a\\q\"]", "1:5: after a backslash a text has one of \" \\ / b f n r t u; write a backslash itself as \\\\"},
      {"[\"\\u12\"]", "1:7: \\u in a text is followed by four hexadecimal digits, such as \\u03b1"},
      {"[\"\\ud800x\"]", "1:9: half of a surrogate pair stands alone in a text; write the character itself"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.text);
    CHECK(fault_in_json(row.text) == row.fault);
    CHECK(fault_in_json_file(row.text) == row.fault);
  }
}

TEST_CASE("other encodings are named, with the way out") {
  const auto sentence = [](std::string_view name, std::string_view converter) {
    return fmt::format("1:1: this is {}; mha reads UTF-8. Save it as UTF-8, or convert it: iconv -f {} -t UTF-8 OLD > NEW",
                       name, converter);
  };
  CHECK(fault_in_json("{\0\"\0X\0"s) == sentence("UTF-16", "UTF-16LE"));
  CHECK(fault_in_json("\xFF\xFE{\0}\0"s) == sentence("UTF-16", "UTF-16LE"));
  CHECK(fault_in_json("\xFE\xFF\0{\0}"s) == sentence("UTF-16", "UTF-16BE"));
  CHECK(fault_in_json("\0{\0\"\0X"s) == sentence("UTF-16", "UTF-16BE"));
  CHECK(fault_in_json("{\0\0\0\"\0\0\0"s) == sentence("UTF-32", "UTF-32LE"));
  CHECK(fault_in_json("\xFF\xFE\0\0{\0\0\0"s) == sentence("UTF-32", "UTF-32LE"));
  CHECK(fault_in_json_file("\0\0\xFE\xFF\0\0\0{"s) == sentence("UTF-32", "UTF-32BE"));
}

// Where a text ends within an escape or a character as well: what was cut off is told, never read beyond.
TEST_CASE("a truncated input") {
  const std::string document =
      R"({"title": "\\\u00e9\ud83d\ude42 苹果\n", "tokens": ["é", "\""], "X": [[1.5e-3, -0], [null, NaN]]})";
  for (std::size_t size = 0; size < document.size(); ++size) {
    const std::string text = document.substr(0, size);
    const std::string across_chunks = std::string(65536 - size / 2, ' ') + text;
    CAPTURE(text);
    CHECK_FALSE(fault_in_json(text).empty());
    CHECK(fault_in_json_file(text) == fault_in_json(text));
    CHECK(fault_in_json_file(across_chunks) == fault_in_json(across_chunks));
  }
  const std::string never_closed = "1:10: the text that begins here is never closed; add the missing double quote";
  for (const char* text : {"{\"title\":\"\\", "{\"title\":\"\xE4", "{\"title\":\"\\u12"})
    CHECK(fault_in_json_file(text) == never_closed);
}

// The buffer holds 65536 bytes: whatever lies across its end is read as if it did not.
TEST_CASE("chunks leave no mark") {
  const std::string document = "{\"a\": [[-1.25e-3, true],\n [\"-inf\", NaN]], \"日本\": \"x\\\"é\\u00e9\", \"b\": [01]}";
  for (std::size_t before = 0; before <= document.size() + 4; ++before) {
    const std::string text = std::string(65536 - before, before % 2 == 0 ? ' ' : '\n') + document;
    CAPTURE(before);
    const std::string fault = fault_in_json(text);
    CHECK(fault.ends_with("found 01, which is no JSON: leading zeros are not allowed: 1"));
    CHECK(fault_in_json_file(text) == fault);
  }
}

TEST_CASE("a number or text longer than the buffer") {
  const std::string digits(200000, '1');
  CHECK(fault_in_json_file("[0." + digits + ", x]").starts_with("1:200006: found x"));
  CHECK(fault_in_json_file("[\"" + digits + "é\", x]").starts_with("1:200007: found x"));
}
