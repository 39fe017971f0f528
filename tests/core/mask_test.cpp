// Masks as numbers: each kind on a small case, alignment, and rows that may look nowhere.
#include "core/mask.hpp"

#include <limits>

#include "catch.hpp"

namespace mha::test {
namespace {

// n queries, m keys, two heads; only the sizes matter here.
Problem sized(Index n, Index m) {
  Problem p;
  p.heads = 2;
  p.X = Tensor({1, 1, n, 1});
  if (m != n) p.X_kv = Tensor({1, 1, m, 1});
  return p;
}

// 1 where the key may be seen, row after row.
std::string open_entries(const Tensor& mask) {
  std::string text;
  for (Index i = 0; i < mask.size(); ++i) text += mask.data()[i] == 0 ? '1' : '0';
  return text;
}

std::string drawn(Mask mask, Index n, Index m) {
  return open_entries(mask_tensor(mask, sized(n, m)));
}

Mask of_kind(Mask::Kind kind, std::optional<Align> align = {}) {
  Mask mask;
  mask.kind = kind;
  mask.align = std::move(align);
  return mask;
}

}  // namespace

TEST_CASE("causal hides the keys after the query, in either corner", "[mask]") {
  using Kind = Align::Kind;
  CHECK(drawn(of_kind(Mask::Kind::causal), 3, 3) == "100110111");
  CHECK(drawn(of_kind(Mask::Kind::causal, Align{Kind::top_left, {}}), 2, 4) == "10001100");
  CHECK(drawn(of_kind(Mask::Kind::causal, Align{Kind::bottom_right, {}}), 2, 4) == "11101111");
  CHECK(drawn(of_kind(Mask::Kind::causal, Align{Kind::offset, {1}}), 2, 4) == "11001110");
  CHECK(drawn(of_kind(Mask::Kind::causal, Align{Kind::offset, {-1}}), 2, 2) == "0010");
}

TEST_CASE("a mask that follows from a rule is never there as a whole", "[mask]") {
  const Problem problem = sized(3000000, 3000000);  // nine million million entries
  Mask window = of_kind(Mask::Kind::window);
  window.left = 1;
  window.right = 0;
  std::vector<double> room;
  for (const Mask& mask : {of_kind(Mask::Kind::causal), window, of_kind(Mask::Kind::alibi)}) {
    const Tensor numbers = mask_tensor(mask, problem);
    REQUIRE(numbers.stored() != nullptr);
    const double* row = numbers.row({1, 2, 3000000, 3000000}, 0, 1, 2, room);
    CHECK(row[2] == 0);
    CHECK(row[2999999] < -1000);
  }
}

TEST_CASE("a window counts from where the query stands", "[mask]") {
  Mask window = of_kind(Mask::Kind::window);
  window.left = 1;
  window.right = 0;
  CHECK(drawn(window, 3, 3) == "100110011");
  window.right.reset();
  CHECK(drawn(window, 3, 3) == "111111011");
  window.left.reset();
  window.right = 1;
  CHECK(drawn(window, 3, 3) == "110111111");
}

TEST_CASE("alibi slopes are those of the paper, for counts that are no power of two as well", "[mask]") {
  CHECK(alibi_slopes(8) == std::vector<double>{0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625});
  CHECK(alibi_slopes(1) == std::vector<double>{0.00390625});
  CHECK(alibi_slopes(3) == std::vector<double>{0.0625, 0.00390625, 0.25});
  const std::vector<double> twelve = alibi_slopes(12);
  CHECK(twelve.size() == 12);
  CHECK(twelve[7] == 0.00390625);
  CHECK(twelve[8] == std::exp2(-0.5));
  CHECK(twelve[11] == std::exp2(-3.5));
}

TEST_CASE("alibi adds −slope·distance in each head", "[mask]") {
  const Tensor mask = mask_tensor(of_kind(Mask::Kind::alibi), sized(2, 2));
  CHECK(mask.shape() == Shape{1, 2, 2, 2});
  CHECK(mask.at(0, 0, 0, 1) == -0.0625);
  CHECK(mask.at(0, 1, 1, 0) == -0.00390625);
  CHECK(mask.at(0, 0, 0, 0) == 0);
}

TEST_CASE("rows without a key are found in each item and head", "[mask]") {
  Problem p = sized(2, 2);
  Tensor block({1, 2, 2, 2});
  block.fill(0);
  block.at(0, 1, 0, 0) = 1;
  Mask mask = of_kind(Mask::Kind::block);
  mask.matrix = block;
  const Tensor first = mask_tensor(mask, p);
  const Tensor second = mask_tensor(of_kind(Mask::Kind::causal), p);
  CHECK(rows_without_key(block.shape(), {&first}).empty());
  CHECK(rows_without_key(block.shape(), {&first, &second}) == std::vector<Row>{{0, 1, 0}});
}

}  // namespace mha::test
