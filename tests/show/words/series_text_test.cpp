// Sums and lists, whole or shortened.
#include "show/words/phrases.hpp"

#include "catch.hpp"

namespace mha::test {
namespace {

TEST_CASE("a long series keeps its beginning and its end") {
  const auto letter = [](Index i) { return std::string(1, static_cast<char>('a' + i)); };
  CHECK(series_text(1, 4, letter) == "a");
  CHECK(series_text(4, 4, letter) == "a + b + c + d");
  CHECK(series_text(5, 4, letter) == "a + b + c + … + e");
  CHECK(series_text(26, 4, letter, ", ") == "a, b, c, …, z");
  CHECK(series_text(26, 2, letter, " | ") == "a | … | z");
}

}  // namespace
}  // namespace mha::test
