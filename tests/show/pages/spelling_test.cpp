// Entries that are spelled out: which one, its terms, and the reason where a mask hides it.
#include "catch.hpp"
#include "show/pages/small_problem.hpp"

namespace mha::test {
namespace {

struct Computation {
  Problem problem = small_problem();
  Plan plan = make_plan(problem);
  Trace trace = small_trace(plan);
  PageOptions options;

  // Changes to the problem need a plan of their own.
  void plan_again() {
    plan = make_plan(problem);
    trace = empty_trace(plan);
  }
  std::string page() const { return unwrapped(write_text(describe(problem, plan, trace, options), {})); }
};

TEST_CASE("each operation spells its entry out") {
  const std::string page = Computation().page();
  for (const char* line : {
           " Q⁽¹⁾[1,1] = 1·1 + 2·0 = 1",
           " S⁽²⁾[1,1] = 2·2 = 4",
           " Z⁽¹⁾[1,1] = 1 × 0.5 = 0.500",
           " M⁽¹⁾[1,2] = 0.000 + (−∞) = −∞ causal: key 2 (reads) comes after query 1 (he)",
           " A⁽²⁾[2,1] = e^1.000 / (e^1.000 + e^0.500) = 2.718 / 4.367 = 0.622",
           " head⁽²⁾[1,1] = 1.000·2 + 0.000·1 = 2.000",
           " Concat[1,2] = head⁽²⁾[1,1] = 2.000",
           " Y[1,1] = 1.000·1 head 1: 1.000 + 2.000·0 head 2: 0.000 = 1.000",
       }) {
    INFO(line);
    CHECK(contains(page, line));
  }
}

TEST_CASE("all entries or none") {
  Computation computation;
  computation.options.work = PageOptions::Work::none;
  CHECK_FALSE(contains(computation.page(), "[1,1]"));
  computation.options.work = PageOptions::Work::all;
  const std::string page = computation.page();
  for (const char* entry : {"Q⁽²⁾[2,1] = ", "Z⁽¹⁾[2,2] = ", "A⁽¹⁾[1,2] = e^−∞ / (e^0.500 + e^−∞) = ", "Y[2,2] = "})
    CHECK(contains(page, entry));
}

TEST_CASE("the maximum is subtracted in sight where exponentials are too large to follow") {
  Computation computation;
  keep(computation.plan, computation.trace, StepId::masked,
       tensor({1, 2, 2, 2}, {800, hidden, 800, 798, 1, hidden, -9, -10}));
  CHECK(contains(computation.page(), "A⁽¹⁾[2,1] = e^0 / (e^0 + e^-2) = 1.000 / 1.135 = 0.500 the maximum, 800,"));
  CHECK(contains(computation.page(), "the maximum, 800, is subtracted first"));
  CHECK(contains(computation.page(), "the maximum, -9, is subtracted first"));
}

TEST_CASE("a row without a key has weight 0 for a reason") {
  Computation computation;
  computation.problem.masks[0].kind = Mask::Kind::block;
  computation.problem.masks[0].matrix = tensor({1, 1, 2, 2}, {1, 1, 0, 1});
  computation.plan_again();
  keep(computation.plan, computation.trace, StepId::masked, filled({1, 2, 2, 2}, hidden));
  keep(computation.plan, computation.trace, StepId::weights, filled({1, 2, 2, 2}, 0));
  const std::string page = computation.page();
  CHECK(contains(page, " A⁽¹⁾[1,1] = 0 query 1 (he) may attend to no key"));
  CHECK(contains(page, " ! query 1 (he) may attend to no key: weights 0, head output 0"));
}

TEST_CASE("NaN and overflowed scores are not taken for rows without a key") {
  Computation computation;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  keep(computation.plan, computation.trace, StepId::masked,
       tensor({1, 2, 2, 2}, {nan, hidden, nan, nan, -hidden, 1, 0, 0}));
  keep(computation.plan, computation.trace, StepId::weights, filled({1, 2, 2, 2}, nan));
  const std::string page = computation.page();
  CHECK(contains(page, "A⁽¹⁾[2,1] = e^NaN / (e^NaN + e^NaN) = NaN / NaN = NaN"));
  CHECK(contains(page, "A⁽²⁾[1,1] = e^NaN / (e^NaN + e^−∞) = NaN / NaN = NaN the maximum, ∞, is subtracted first"));
  CHECK_FALSE(contains(page, "may attend to no key"));
}

// The reason that stands beside the first hidden or changed entry of the masked scores of head 1.
std::string reason_of(const Mask& mask, Tensor masked) {
  Computation computation;
  computation.problem.masks = {mask};
  computation.problem.tokens.clear();
  computation.plan_again();
  computation.options.selection = only({StepId::masked});
  keep(computation.plan, computation.trace, StepId::scaled, filled({1, 2, 2, 2}, 0));
  keep(computation.plan, computation.trace, StepId::masked, std::move(masked));
  const std::string page = computation.page();
  const std::size_t start = page.find("M⁽¹⁾[");
  return page.substr(start, page.find(" ──", start) - start);
}

Mask mask_of(Mask::Kind kind) {
  Mask mask;
  mask.kind = kind;
  return mask;
}

TEST_CASE("every mask says why it hides an entry") {
  const auto hiding_first = [] { return tensor({1, 2, 2, 2}, {hidden, 0, 0, 0, 0, 0, 0, 0}); };
  Mask mask = mask_of(Mask::Kind::padding);
  mask.matrix = tensor({1, 1, 1, 2}, {0, 1});
  CHECK(contains(reason_of(mask, hiding_first()), " padding: key 1 is no token"));

  mask = mask_of(Mask::Kind::allow);
  mask.matrix = tensor({1, 1, 2, 2}, {0, 1, 1, 1});
  CHECK(contains(reason_of(mask, hiding_first()), " the allow mask has 0 here"));

  mask.kind = Mask::Kind::block;
  mask.matrix = tensor({1, 1, 2, 2}, {1, 0, 0, 0});
  CHECK(contains(reason_of(mask, hiding_first()), " the block mask has 1 here"));

  mask.kind = Mask::Kind::add;
  mask.matrix = tensor({1, 1, 2, 2}, {hidden, 0, 0, 0});
  CHECK(contains(reason_of(mask, hiding_first()), " the mask adds −∞ here"));

  mask = mask_of(Mask::Kind::causal);
  mask.align = Align{Align::Kind::offset, {-1}};
  CHECK(contains(reason_of(mask, hiding_first()), " = −∞ causal: key 1 comes after query 1, which stands at key 0"));

  mask = mask_of(Mask::Kind::window);
  mask.right = 0;
  mask.left = 0;
  CHECK(contains(reason_of(mask, tensor({1, 2, 2, 2}, {0, hidden, hidden, 0, 0, 0, 0, 0})),
                 " window: key 2 is 1 after query 1, more than 0"));
  mask.right = std::nullopt;
  CHECK(contains(reason_of(mask, tensor({1, 2, 2, 2}, {0, 0, hidden, 0, 0, 0, 0, 0})),
                 " window: key 1 is 1 before query 2, more than 0"));

  mask = mask_of(Mask::Kind::alibi);
  mask.slopes = std::vector<double>{0.25, 0.5};
  CHECK(contains(reason_of(mask, tensor({1, 2, 2, 2}, {0, -0.25, -0.25, 0, 0, -0.5, -0.5, 0})),
                 "M⁽¹⁾[1,2] = 0 + (-0.25) = -0.250 alibi: minus the head's slope 0.25 × distance 1"));
}

TEST_CASE("rotation shows its angle and the pair of columns") {
  for (const Pairing pairing : {Pairing::half, Pairing::interleaved}) {
    Computation computation;
    for (Linear* linear : {&computation.problem.Q, &computation.problem.K}) linear->W = filled({1, 2, 2, 5}, 1);
    computation.problem.rope = Rope{100, pairing, 4, 0, {}, {}};
    computation.plan_again();
    computation.options.work = PageOptions::Work::all;
    computation.options.selection = only({StepId::Q_rot});
    keep(computation.plan, computation.trace, StepId::Q,
         tensor({1, 2, 2, 5}, {1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2, 3, 4, 5}));
    keep(computation.plan, computation.trace, StepId::Q_rot, filled({1, 2, 2, 5}, 0.5));
    const std::string page = computation.page();
    const bool half = pairing == Pairing::half;
    CHECK(contains(page, half ? "Q̃⁽¹⁾[2,1] = 1·cos(1.000) − 3·sin(1.000) = 1·0.540 − 3·0.841 = 0.500"
                              : "Q̃⁽¹⁾[2,1] = 1·cos(1.000) − 2·sin(1.000) = 1·0.540 − 2·0.841 = 0.500"));
    CHECK(contains(page, half ? "Q̃⁽¹⁾[2,4] = 2·sin(0.100) + 4·cos(0.100) = 2·0.100 + 4·0.995 = 0.500"
                              : "Q̃⁽¹⁾[2,4] = 3·sin(0.100) + 4·cos(0.100) = 3·0.100 + 4·0.995 = 0.500"));
    CHECK(contains(page, "angle 1·100^(-2/4) = 0.100 at position 1"));
    CHECK(contains(page, "Q̃⁽¹⁾[2,5] = Q⁽¹⁾[2,5] = 0.500 this column is not turned"));
  }
}

TEST_CASE("long sums keep their first terms and the last") {
  Computation computation;
  computation.problem.X = filled({1, 1, 2, 20}, 1);
  for (Linear* linear : {&computation.problem.Q, &computation.problem.K, &computation.problem.V})
    linear->W = filled({1, 2, 20, 1}, 3);
  computation.problem.Q.b = filled({1, 2, 1, 1}, -7);
  computation.plan_again();
  keep(computation.plan, computation.trace, StepId::Q, filled({1, 2, 2, 1}, 53));
  CHECK(contains(computation.page(), "Q⁽¹⁾[1,1] = 1·3 + 1·3 + 1·3 + … + 1·3 + (-7) = 53 (20 terms)"));
}

}  // namespace
}  // namespace mha::test
