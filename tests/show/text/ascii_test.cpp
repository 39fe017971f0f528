// The ASCII spelling of everything that the program draws.
#include "show/text/pen.hpp"

#include "catch.hpp"

namespace mha::test {
namespace {

TEST_CASE("signs are respelled") {
  CHECK(to_ascii("Q⁽¹²⁾ = X · W_Q⁽¹⁾ᵀ") == "Q(12) = X * W_Q(1)^T");
  CHECK(to_ascii("3×4 → 2–5") == "3x4 -> 2-5");
  CHECK(to_ascii("(−∞) Σ …") == "(-inf) sum ...");
  CHECK(to_ascii("K̃⁽ᵏᵛ¹⁾") == "K~(kv1)");
}

TEST_CASE("a root takes the word that follows") {
  CHECK(to_ascii("1/√d_k = 1/√2") == "1/sqrt(d_k) = 1/sqrt(2)");
}

TEST_CASE("other characters stay") {
  CHECK(to_ascii("查询 é") == "查询 é");
}

}  // namespace
}  // namespace mha::test
