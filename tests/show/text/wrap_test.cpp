// Where lines may break.
#include "show/text/wrap.hpp"

#include "catch.hpp"

namespace mha::test {
namespace {

using Lines = std::vector<std::string>;

TEST_CASE("English breaks at spaces, and a long word stays whole") {
  CHECK(fill(pieces_of("one two three"), 7) == Lines{"one two", "three"});
  CHECK(fill(pieces_of("a verylongword b"), 5) == Lines{"a", "veryl", "ongwo", "rd b"});
  CHECK(fill(pieces_of(""), 5) == Lines{""});
}

TEST_CASE("Chinese breaks between characters, but never before closing or after opening punctuation") {
  CHECK(fill(pieces_of("查询与键"), 4) == Lines{"查询", "与键"});
  CHECK(fill(pieces_of("查询，键"), 4) == Lines{"查", "询，", "键"});
  CHECK(fill(pieces_of("查（询）键"), 6) == Lines{"查", "（询）", "键"});
  CHECK(fill(pieces_of("用 softmax 函数"), 12) == Lines{"用 softmax", "函数"});
}

TEST_CASE("an operator stays with what follows it") {
  CHECK(fill(terms_of("1·2 + 3·4 + 5·6"), 9) == Lines{"1·2 + 3·4", "+ 5·6"});
  CHECK(fill(terms_of("e^1 / (e^1 + e^2)"), 7) == Lines{"e^1", "/ (e^1", "+ e^2)"});
}

}  // namespace
}  // namespace mha::test
