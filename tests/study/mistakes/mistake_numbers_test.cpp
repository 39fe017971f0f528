// Mistakes worked out by hand.
#include <cmath>

#include "catch.hpp"
#include "study/mistakes/mistake_problem.hpp"

namespace mha::test {
namespace {

// 2 tokens, d_model 4, h = d_k = 2; every W picks two columns of X, so Q⁽¹⁾ is X's first half and Q⁽²⁾ its second.
Problem picking() {
  Problem p;
  p.heads = p.kv_heads = 2;
  p.X = matrix({{1, 2, 3, 4}, {5, 6, 7, 8}});
  Tensor pick({1, 2, 4, 2});
  pick.fill(0);
  for (Index head = 0; head < 2; ++head)
    for (Index c = 0; c < 2; ++c) pick.at(0, head, 2 * head + c, c) = 1;
  p.Q.W = p.K.W = p.V.W = pick;
  p.O.W = matrix({{1, 0, 0, 1}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}});
  return p;
}

Tensor head(const Tensor& all, Index number) {
  const Shape& s = all.shape();
  Tensor result({1, 1, s.rows, s.cols});
  std::copy_n(all.matrix(0, number - 1), result.size(), result.data());
  return result;
}

void check_equal(const Tensor& a, const Tensor& b) {
  CHECK(a.shape() == b.shape());
  CHECK(distance(a, b) < 1e-12);
}

Tensor once(const Problem& p, std::string_view id, StepId step) {
  return get(results(p, id).front(), step);
}

}  // namespace

TEST_CASE("the split, by hand", "[mistakes]") {
  for (const Problem& p : {picking(), packed_form(picking()), torch_form(packed_form(picking()))}) {
    // 1 2 3 4 5 6 7 8 read as two 2×2 matrices
    check_equal(head(once(p, "reshape_without_transpose", StepId::Q), 1), matrix({{1, 2}, {3, 4}}));
    check_equal(head(once(p, "reshape_without_transpose", StepId::V), 2), matrix({{5, 6}, {7, 8}}));
    check_equal(head(once(p, "strided_heads", StepId::K), 2), matrix({{2, 4}, {6, 8}}));
    check_equal(head(once(p, "heads_reversed", StepId::Q), 1), matrix({{3, 4}, {7, 8}}));
    check_equal(once(p, "not_split", StepId::Q), matrix({{1, 2, 3, 4}, {5, 6, 7, 8}}));
    check_equal(once(p, "not_split", StepId::scaled), matrix({{15, 35}, {35, 87}}));  // (30, 70, 174)/√4
    check_equal(head(once(p, "same_weights", StepId::Q), 2), matrix({{1, 2}, {5, 6}}));
  }
}

TEST_CASE("slices of X meet the diagonal blocks only", "[mistakes]") {
  Problem p = picking();
  p.Q.W = Dice(5).tensor({1, 2, 4, 2});
  p.Q.b = matrix({{100, 200}});
  p.Q.b = Tensor({1, 2, 1, 2});
  for (Index i = 0; i < 4; ++i) p.Q.b->data()[i] = 100.0 * static_cast<double>(i + 1);
  const auto W = [&](Index of, Index r, Index c) { return p.Q.W.at(0, of - 1, r, c); };
  // Token 1, head 2: (3, 4) times rows 3 and 4 of W_Q⁽²⁾; shared: times rows 1 and 2 of W_Q⁽¹⁾; b_Q⁽²⁾ = (300, 400).
  const Tensor own = once(p, "split_input", StepId::Q), shared = once(p, "split_input_shared", StepId::Q);
  for (Index c = 0; c < 2; ++c) {
    const double bias = 300 + 100 * static_cast<double>(c);
    CHECK(std::abs(own.at(0, 1, 0, c) - (3 * W(2, 2, c) + 4 * W(2, 3, c) + bias)) < 1e-12);
    CHECK(std::abs(shared.at(0, 1, 0, c) - (3 * W(1, 0, c) + 4 * W(1, 1, c) + bias)) < 1e-12);
  }
}

TEST_CASE("the columns of W_QKV, read wrongly", "[mistakes]") {
  Problem p = packed_form(picking(), true);
  // Column number as the weight of X's first entry: Q 0…3, K 4…7, V 8…11.
  for (Linear* linear : {&p.Q, &p.K, &p.V}) linear->W.fill(0);
  for (Index c = 0; c < 4; ++c) {
    p.Q.W.at(0, 0, 0, c) = static_cast<double>(c);
    p.K.W.at(0, 0, 0, c) = static_cast<double>(c + 4);
    p.V.W.at(0, 0, 0, c) = static_cast<double>(c + 8);
  }
  p.X = matrix({{1, 0, 0, 0}, {0, 0, 0, 0}});
  check_equal(head(once(p, "packed_interleaved", StepId::Q), 2), matrix({{6, 7}, {0, 0}}));
  check_equal(head(once(p, "packed_interleaved", StepId::K), 1), matrix({{2, 3}, {0, 0}}));
  check_equal(head(once(p, "packed_interleaved", StepId::V), 2), matrix({{10, 11}, {0, 0}}));
  const Variants orders = mistake("packed_order").variants(p);
  REQUIRE(orders.size() == 5);
  bool found = false;
  for (const Variant& order : orders) {
    if (order.detail != "W_QKV = K | V | Q") continue;
    found = true;
    const Written numbers = written(order.plan, simulate(order.plan));
    check_equal(get(numbers, StepId::packed_K), matrix({{0, 1, 2, 3}, {0, 0, 0, 0}}));
    check_equal(get(numbers, StepId::packed_V), matrix({{4, 5, 6, 7}, {0, 0, 0, 0}}));
    check_equal(get(numbers, StepId::packed_Q), matrix({{8, 9, 10, 11}, {0, 0, 0, 0}}));
  }
  CHECK(found);
}

TEST_CASE("scores, by hand", "[mistakes]") {
  const Problem p = picking();  // Q⁽¹⁾ = K⁽¹⁾ = V⁽¹⁾ = (1 2 / 5 6)
  check_equal(head(once(p, "reshape_for_transpose", StepId::scores), 1), matrix({{11, 14}, {35, 46}}));
  check_equal(head(once(p, "k_not_transposed", StepId::scores), 1), matrix({{11, 14}, {35, 46}}));
  check_equal(head(once(p, "elementwise_product", StepId::scores), 1), matrix({{1, 4}, {25, 36}}));
  // S⁽¹⁾ = (5 17 / 17 61)
  check_equal(head(once(p, "scale_dk", StepId::scaled), 1), matrix({{2.5, 8.5}, {8.5, 30.5}}));
  check_equal(head(once(p, "no_scale", StepId::scaled), 1), matrix({{5, 17}, {17, 61}}));
  check_equal(head(once(p, "scale_sqrt_n", StepId::scaled), 1),
              matrix({{5 / std::sqrt(2), 17 / std::sqrt(2)}, {17 / std::sqrt(2), 61 / std::sqrt(2)}}));
}

// 1 head, 3 tokens, d 1, Q = (1, 1, 1), K = (1, 2, 3): every row of Z is (1, 2, 3).
Problem counting() {
  Problem p;
  p.X = matrix({{1, 1}, {1, 2}, {1, 3}});
  p.Q.W = matrix({{1}, {0}});
  p.K.W = p.V.W = matrix({{0}, {1}});
  p.O.W = matrix({{1}});
  p.masks = {causal_mask()};
  return p;
}

TEST_CASE("masks, by hand", "[mistakes]") {
  const Problem p = counting();
  check_equal(once(p, "mask_multiplied", StepId::masked), matrix({{1, 0, 0}, {1, 2, 0}, {1, 2, 3}}));
  check_equal(once(p, "mask_added", StepId::masked), matrix({{2, 2, 3}, {2, 3, 3}, {2, 3, 4}}));
  check_equal(once(p, "mask_added_inverted", StepId::masked), matrix({{1, 3, 4}, {1, 2, 4}, {1, 2, 3}}));
  check_equal(once(p, "mask_fill_weak", StepId::masked), matrix({{1, -10, -10}, {1, 2, -10}, {1, 2, 3}}));
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  check_equal(once(p, "mask_inverted", StepId::masked), matrix({{-inf, 2, 3}, {-inf, -inf, 3}, {-inf, -inf, -inf}}));
  check_equal(once(p, "mask_transposed", StepId::masked), matrix({{1, 2, 3}, {-inf, 2, 3}, {-inf, -inf, 3}}));
  check_equal(once(p, "causal_strict", StepId::masked), matrix({{-inf, -inf, -inf}, {1, -inf, -inf}, {1, 2, -inf}}));
  check_equal(once(p, "causal_one_ahead", StepId::masked), matrix({{1, 2, -inf}, {1, 2, 3}, {1, 2, 3}}));
  check_equal(once(p, "mask_plus_inf", StepId::masked), matrix({{1, inf, inf}, {1, 2, inf}, {1, 2, 3}}));
  check_equal(once(p, "mask_nan", StepId::masked), matrix({{nan, -inf, -inf}, {nan, nan, -inf}, {nan, nan, nan}}));
  check_equal(once(p, "mask_nan", StepId::weights), matrix({{nan, nan, nan}, {nan, nan, nan}, {nan, nan, nan}}));
  const double e = std::exp(1), sum = 1 + e + e * e;
  check_equal(once(p, "mask_after_softmax", StepId::weights),
              matrix({{1 / sum, 0, 0}, {1 / sum, e / sum, 0}, {1 / sum, e / sum, e * e / sum}}));
  // The row without a key, as 0 and as NaN.
  const std::vector<Written> strict = results(p, "causal_strict");
  REQUIRE(strict.size() == 4);
  CHECK(get(strict[0], StepId::output).at(0, 0, 0, 0) == 0);
  CHECK(std::isnan(get(strict[1], StepId::output).at(0, 0, 0, 0)));
  CHECK(get(strict[1], StepId::output).at(0, 0, 1, 0) == 1);
  // The first tokens are a prompt, whose keys are all there.
  check_equal(get(strict[2], StepId::masked), matrix({{1, -inf, -inf}, {1, -inf, -inf}, {1, 2, -inf}}));
  check_equal(get(strict[3], StepId::masked), matrix({{1, -inf, -inf}, {1, 2, -inf}, {1, 2, -inf}}));
}

TEST_CASE("a mask that adds and one that hides: what hides is mistaken, what adds stays", "[mistakes]") {
  Problem p = counting();
  p.masks.push_back(matrix_mask(Mask::Kind::add, matrix({{10, 20, 30}, {10, 20, 30}, {10, 20, 30}})));
  check_equal(once(p, "mask_multiplied", StepId::masked), matrix({{11, 0, 0}, {11, 22, 0}, {11, 22, 33}}));
  check_equal(once(p, "mask_added", StepId::masked), matrix({{12, 22, 33}, {12, 23, 33}, {12, 23, 34}}));
  check_equal(once(p, "mask_ignored", StepId::masked), matrix({{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}));
  const Variants parts = mistake("mask_part_ignored").variants(p);
  REQUIRE(parts.size() == 2);
  CHECK(parts[0].detail == "causal");
  CHECK(parts[1].detail == "add");
}

TEST_CASE("padding on queries hides rows; a forgotten padding comes first", "[mistakes]") {
  Problem p = counting();
  p.masks.push_back(padding_mask({1, 0, 1}));
  const double inf = std::numeric_limits<double>::infinity();
  check_equal(once(p, "padding_on_queries", StepId::masked), matrix({{1, -inf, -inf}, {-inf, -inf, -inf}, {1, 2, 3}}));
  CHECK(mistake("mask_part_ignored").variants(p).front().detail == "padding");
}

TEST_CASE("the other corner of a causal mask", "[mistakes]") {
  Problem p = counting();
  p.X_kv = p.X;
  p.X = matrix({{1, 1}, {1, 2}});
  const double inf = std::numeric_limits<double>::infinity();
  check_equal(once(p, "causal_corner", StepId::masked), matrix({{1, 2, -inf}, {1, 2, 3}}));
  const double root = std::sqrt(2.0);  // n is the number of queries
  check_equal(once(p, "scale_sqrt_n", StepId::scaled),
              matrix({{1 / root, 2 / root, 3 / root}, {1 / root, 2 / root, 3 / root}}));
  p.masks = {causal_mask(Align::Kind::bottom_right)};
  check_equal(once(p, "causal_corner", StepId::masked), matrix({{1, -inf, -inf}, {1, 2, -inf}}));
}

TEST_CASE("softmax, by hand", "[mistakes]") {
  Problem p = counting();
  p.masks.clear();
  check_equal(once(p, "softmax_base2", StepId::weights),
              matrix({{1. / 7, 2. / 7, 4. / 7}, {1. / 7, 2. / 7, 4. / 7}, {1. / 7, 2. / 7, 4. / 7}}));
  check_equal(once(p, "sum_normalised", StepId::weights),
              matrix({{1. / 6, 2. / 6, 3. / 6}, {1. / 6, 2. / 6, 3. / 6}, {1. / 6, 2. / 6, 3. / 6}}));
  check_equal(once(p, "no_softmax", StepId::weights), matrix({{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}));
  const double third = 1. / 3;
  check_equal(once(p, "softmax_columns", StepId::weights),
              matrix({{third, third, third}, {third, third, third}, {third, third, third}}));
  const std::vector<Written> plus_one = results(p, "softmax_plus_one");
  REQUIRE(plus_one.size() == 2);
  const double e = std::exp(1);
  CHECK(std::abs(get(plus_one[0], StepId::weights).at(0, 0, 0, 0) - e / (1 + e + e * e + e * e * e)) < 1e-12);
  CHECK(std::abs(get(plus_one[1], StepId::weights).at(0, 0, 0, 2) - 1 / (2 + 1 / e + 1 / e / e)) < 1e-12);
}

TEST_CASE("behind the heads, by hand", "[mistakes]") {
  Problem p = picking();
  p.V.b = Tensor({1, 2, 1, 2});
  p.V.b->fill(0);
  p.Q.W.fill(0);  // uniform weights: head⁽¹⁾ = (3 4 / 3 4), head⁽²⁾ = (5 6 / 5 6)
  check_equal(once(p, "merge_without_transpose", StepId::concat), matrix({{3, 4, 3, 4}, {5, 6, 5, 6}}));
  check_equal(once(p, "concat_reversed", StepId::concat), matrix({{5, 6, 3, 4}, {5, 6, 3, 4}}));
  check_equal(once(p, "concat_interleaved", StepId::concat), matrix({{3, 5, 4, 6}, {3, 5, 4, 6}}));
  check_equal(once(p, "heads_averaged", StepId::output), matrix({{4, 5}, {4, 5}}));
  check_equal(once(p, "heads_summed", StepId::output), matrix({{8, 10}, {8, 10}}));
  check_equal(once(p, "heads_max", StepId::output), matrix({{5, 6}, {5, 6}}));
  check_equal(once(p, "concat_rows", StepId::output), matrix({{3, 4}, {3, 4}, {5, 6}, {5, 6}}));
  check_equal(once(p, "wo_missing", StepId::output), matrix({{3, 4, 5, 6}, {3, 4, 5, 6}}));
  check_equal(once(p, "wo_transposed", StepId::output), matrix({{9, 4, 5, 6}, {9, 4, 5, 6}}));
  check_equal(once(p, "residual_added", StepId::output), matrix({{4, 6, 8, 13}, {8, 10, 12, 17}}));
}

TEST_CASE("grouped heads, by hand", "[mistakes]") {
  Problem p = picking();
  p.heads = 6;
  p.grouped = true;
  p.Q.W = Dice(6).tensor({1, 6, 4, 2});
  p.O.W = Dice(7).tensor({1, 1, 12, 4});
  // K⁽¹⁾ is the first half of X, K⁽²⁾ the second; the right ones are 1 1 1 2 2 2.
  const auto groups = [&](const Tensor& K) {
    std::vector<int> found;
    for (Index i = 0; i < 6; ++i) found.push_back(K.at(0, i, 0, 0) == 1 ? 1 : 2);
    return found;
  };
  CHECK(groups(get(right_result(p), StepId::K)) == std::vector<int>{1, 1, 1, 2, 2, 2});
  for (const StepId step : {StepId::K, StepId::V}) {
    CHECK(groups(once(p, "gqa_tiled", step)) == std::vector<int>{1, 2, 1, 2, 1, 2});
    CHECK(groups(once(p, "gqa_wrong_divisor", step)) == std::vector<int>{1, 1, 2, 2, 1, 1});
    CHECK(groups(once(p, "gqa_first_only", step)) == std::vector<int>{1, 1, 1, 1, 1, 1});
  }
}

TEST_CASE("rotary positions and soft cap, by hand", "[mistakes]") {
  Problem p = counting();
  p.X = matrix({{1, 0, 1, 2}, {1, 0, 1, 2}});
  p.Q.W = p.K.W = p.V.W = matrix({{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}});
  p.O.W = matrix({{1}, {0}, {0}, {0}});
  p.rope = Rope{};
  p.rope->dims = 4;
  p.rope->base = 1;  // every pair turns by the position itself
  const double c = std::cos(1), s = std::sin(1);
  const auto row_of_token_2 = [&](std::string_view id) {
    const Tensor Q = once(p, id, StepId::Q_rot);
    return matrix({{Q.at(0, 0, 1, 0), Q.at(0, 0, 1, 1), Q.at(0, 0, 1, 2), Q.at(0, 0, 1, 3)}});
  };
  check_equal(row_of_token_2("rope_missing"), matrix({{1, 0, 1, 2}}));
  check_equal(row_of_token_2("rope_direction"), matrix({{c + s, 2 * s, c - s, 2 * c}}));
  check_equal(row_of_token_2("rope_pairing"), matrix({{c, s, c - 2 * s, s + 2 * c}}));
  check_equal(row_of_token_2("rope_from_one"),
              matrix({{std::cos(2) - std::sin(2), -2 * std::sin(2), std::sin(2) + std::cos(2), 2 * std::cos(2)}}));
  // Token 1 attends to itself alone and keeps V's row 1 (position 0, not turned).
  const std::vector<Written> on_values = results(p, "rope_on_values");
  REQUIRE(on_values.size() >= 2);
  check_equal(get(on_values[0], StepId::V), get(right_result(p), StepId::V));
  CHECK(distance(get(on_values[1], StepId::V), get(right_result(p), StepId::V)) > 0.1);
  for (const Written& written : on_values) {
    CHECK(get(written, StepId::head_output).at(0, 0, 0, 3) == 2);
    CHECK(distance(get(written, StepId::head_output), get(right_result(p), StepId::head_output)) > 0.1);
  }

  Problem capped = counting();
  capped.softcap = 2;
  const double t = 2 * std::tanh(0.5);
  check_equal(once(capped, "softcap_after_mask", StepId::capped),
              matrix({{t, -2, -2}, {t, 2 * std::tanh(1), -2}, {t, 2 * std::tanh(1), 2 * std::tanh(1.5)}}));
  check_equal(once(capped, "softcap_missing", StepId::capped), matrix({{1, 2, 3}, {1, 2, 3}, {1, 2, 3}}));
}

}  // namespace mha::test
