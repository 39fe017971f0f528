// What check says of single answers: verdicts, places, tolerances, and what the rules around them are.
#include <limits>

#include "catch.hpp"
#include "study/check/check_helpers.hpp"

namespace mha::test {
namespace {

// Two tokens, one head of width 1, whole numbers: Q = K = V = X·(1), S = Q·Kᵀ, Y = head.
Problem tiny() {
  Problem p;
  p.X = Tensor({1, 1, 2, 1});
  p.X.data()[0] = 1;
  p.X.data()[1] = 2;
  Tensor one({1, 1, 1, 1});
  one.fill(1);
  p.Q.W = p.K.W = p.V.W = p.O.W = one;
  return p;
}

Report check_tiny(const std::string& answer, const ToleranceOptions& tolerance = {}) {
  const Problem problem = tiny();
  return Checker(problem, tolerance).check(read_answer_line(answer, "answer", 1));
}

Verdict verdict_at(const Report& report, StepId step, std::optional<Index> head) {
  for (const StepVerdict& verdict : report.steps)
    if (verdict.step == step && verdict.head == head) return verdict.verdict;
  FAIL("no such step");
  return Verdict::not_given;
}

const StepVerdict& step_at(const Report& report, StepId step, std::optional<Index> head) {
  return *std::find_if(report.steps.begin(), report.steps.end(),
                       [&](const StepVerdict& verdict) { return verdict.step == step && verdict.head == head; });
}

PlainTrace changed(PlainTrace trace, StepId step, std::size_t head, const std::function<void(PlainMatrix&)>& change) {
  change(trace.steps.at(step)[head]);
  return trace;
}

}  // namespace

TEST_CASE("NaN where a number is expected is wrong, and so is a lost sign", "[check]") {
  CHECK(check_tiny(R"({"S1": [[1, 2], [2, 4]]})").is_right());
  CHECK_FALSE(check_tiny(R"({"S1": [["nan", 2], [2, 4]]})").is_right());
  CHECK_FALSE(check_tiny(R"({"S1": [[NaN, 2], [2, 4]]})").is_right());
  CHECK_FALSE(check_tiny(R"({"S1": [["inf", 2], [2, 4]]})").is_right());
  const Report flipped = check_tiny(R"({"S1": [[-1, -2], [2, 4]]})");
  REQUIRE(flipped.findings.size() == 1);
  CHECK(std::isnan(check_tiny(R"({"S1": [["nan", 2], [2, 4]]})").steps[4].max_difference));
  CHECK(flipped.findings.front().sign->what.en.find("sign") != std::string_view::npos);
}

TEST_CASE("where anything could come out nothing is the same", "[check]") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK_FALSE(is_same(1, 2, infinity));
  CHECK(is_same(1, 1, infinity));
  CHECK(is_same(-infinity, -infinity, 0.5));
}

TEST_CASE("numbers that 16 bits hold are told from decimals and from 32 bits", "[check]") {
  const auto speaks_for = [](const Floats& kind, const std::vector<double>& numbers, const io::Writing& writing) {
    return evidence(kind, numbers, nullptr, writing) > 0;
  };
  CHECK(speaks_for(float_kinds[1], {0.70361328125, 0.195556640625}, {12, 12, false}));
  CHECK_FALSE(speaks_for(of_32_bits, {0.70361328125, 0.195556640625}, {12, 12, false}));
  CHECK(speaks_for(of_32_bits, {0.70710677, 0.29289323}, {8, 8, false}));
  CHECK_FALSE(speaks_for(float_kinds[1], {0.70710677, 0.29289323}, {8, 8, false}));
  const std::vector<double> decimals = {0.707, 0.293};  // which prove nothing
  for (const Floats& kind : float_kinds) CHECK(evidence(kind, decimals, nullptr, {3, 3, false}) < 5);
}

TEST_CASE("a number is right to the decimals that are written in its matrix", "[check]") {
  // A = softmax of (1, 2) and (2, 4): 0.26894 0.73106 / 0.11920 0.88080
  CHECK(check_tiny(R"({"A1": [[0.27, 0.73], [0.12, 0.88]]})").is_right());
  CHECK(check_tiny(R"({"A1": [[0.269, 0.731], [0.119, 0.881]]})").is_right());
  CHECK_FALSE(check_tiny(R"({"A1": [[0.27, 0.73], [0.12, 0.8808]]})").is_right());  // 0.27 is not 0.2689
  CHECK_FALSE(check_tiny(R"({"A1": [[0.27, 0.73], [0.12, 0.90]]})").is_right());
  CHECK(check_tiny(R"({"Q1": [[1.000], [2.000]], "A1": [[0.27, 0.73], [0.12, 0.88]]})").is_right());
  CHECK_FALSE(check_tiny(R"({"S1": [[1.00, 2.00], [2.00, 4.00]], "A1": [[0.28, 0.73], [0.12, 0.88]]})").is_right());
  CHECK(check_tiny(R"({"X": [[1.0000], [2.0000]], "A1": [[0.27, 0.73], [0.12, 0.88]]})").is_right());  // X is copied
  CHECK(check_tiny(R"({"A1": [[0.2689414213699951, 0.7310585786300049], [0.1192029220221175, 0.8807970779778823]]})")
            .is_right());
  CHECK_FALSE(check_tiny(R"({"A1": [[0.2689414213699951, 0.7310585786300049], [0.1192029220221175, 0.8807970778778823]]})")
                  .is_right());
}

TEST_CASE("numbers of 32-bit floats are right to their own precision", "[check]") {
  CHECK(check_tiny(R"({"A1": [[0.26894143, 0.7310586], [0.11920293, 0.880797]]})").is_right());
  CHECK(check_tiny(R"({"A1": [[0.2689414322376251, 0.7310585975646973], [0.11920292675495148, 0.8807970881462097]]})")
            .is_right());
}

TEST_CASE("the tolerance can be set: flat, as a share, or by significant figures", "[check]") {
  const std::string off = R"({"A1": [[0.2789, 0.7211], [0.1192, 0.8808]]})";  // by 0.01
  CHECK_FALSE(check_tiny(off).is_right());
  CHECK(check_tiny(off, {0.011, {}, {}}).is_right());
  CHECK_FALSE(check_tiny(off, {0.009, {}, {}}).is_right());
  CHECK(check_tiny(off, {{}, 0.04, {}}).is_right());
  CHECK_FALSE(check_tiny(off, {{}, 0.03, {}}).is_right());
  const std::string exact_before = off.substr(0, off.size() - 1) + R"(, "Z1": [[1, 2], [2, 4]]})";
  CHECK_FALSE(check_tiny(exact_before, {{}, {}, 3}).is_right());
  CHECK(check_tiny(exact_before, {{}, {}, 1}).is_right());
  CHECK(check_tiny(R"({"A1": [[0.27, 0.73], [0.12, 0.8808]]})", {{}, {}, 2}).is_right());
}

TEST_CASE("whole numbers in the output alone do not let everything pass", "[check]") {
  // Y = 1.731, 1.881
  CHECK(check_tiny(R"({"Y": [[2], [2]]})").is_right());
  CHECK_FALSE(check_tiny(R"({"Y": [[4], [2]]})").is_right());
}

TEST_CASE("each step is judged from the person's own numbers before it", "[check]") {
  const Problem problem = study_problem(1);
  const Checker checker(problem);
  PlainTrace trace = plain_right(problem);
  const auto off = [](PlainMatrix& m) { m.at(1, 0) += 0.5; };
  const PlainTrace slipped = changed(trace, StepId::V, 1, off);  // and worked with the right V
  const Report report = check_trace(checker, slipped);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings.front().step == StepId::V);
  CHECK(report.findings.front().heads == std::vector<Index>{1});
  CHECK(report.findings.front().suspects.empty());
  CHECK(verdict_at(report, StepId::V, 0) == Verdict::right);
  CHECK(verdict_at(report, StepId::V, 1) == Verdict::wrong);
  CHECK(verdict_at(report, StepId::head_output, 1) == Verdict::right);
  CHECK(step_at(report, StepId::V, 1).entries_wrong == 1);
  CHECK(step_at(report, StepId::V, 1).max_difference == Approx(0.5));

  // Worked on with the wrong V: what follows is right in itself, in that head and behind it.
  PlainSetting setting(plain_layer(problem));
  setting.layer.V[1].b.at(0, 0) += 0.5;
  const Report followed = check_trace(checker, attend(setting));
  REQUIRE(followed.findings.size() == 1);
  CHECK(verdict_at(followed, StepId::V, 1) == Verdict::wrong);
  CHECK(verdict_at(followed, StepId::weights, 1) == Verdict::right);
  CHECK(verdict_at(followed, StepId::head_output, 0) == Verdict::right);
  CHECK(verdict_at(followed, StepId::head_output, 1) == Verdict::following);
  CHECK(verdict_at(followed, StepId::output, {}) == Verdict::following);
  CHECK(followed.findings.front().sign->what.en.find("bias") != std::string_view::npos);
}

TEST_CASE("a forgotten b_K shows in K and not in the weights, which are simply right", "[check]") {
  const Problem problem = study_problem(2);
  const Report report = check_trace(Checker(problem), worked_out(problem, "bias_forgotten_k"));
  CHECK(verdict_at(report, StepId::K, 0) == Verdict::wrong);
  CHECK(verdict_at(report, StepId::scores, 0) == Verdict::following);
  CHECK(verdict_at(report, StepId::weights, 0) == Verdict::right);
  CHECK(verdict_at(report, StepId::output, {}) == Verdict::right);
}

TEST_CASE("a mistake that changes several steps is one finding", "[check]") {
  const Problem problem = study_problem(3);
  const Report report = check_trace(Checker(problem), worked_out(problem, "weights_transposed"));
  REQUIRE(report.findings.size() == 1);
  for (const StepId step : {StepId::Q, StepId::K, StepId::V}) CHECK(verdict_at(report, step, 2) == Verdict::wrong);
  CHECK(verdict_at(report, StepId::scores, 0) == Verdict::following);
}

TEST_CASE("a mistake made in one head only is named, with the head", "[check]") {
  const Problem problem = study_problem(4);
  const PlainTrace right = plain_right(problem);
  PlainTrace trace = right;
  PlainMatrix& Z = trace.steps.at(StepId::scaled)[2];
  Z = trace.steps.at(StepId::scores)[2];
  trace = only(trace, {StepId::scores, StepId::scaled});
  const Report report = check_trace(Checker(problem), trace);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings.front().heads == std::vector<Index>{2});
  CHECK(report.findings.front().in_these_heads_only);
  CHECK(is_suspected(report.findings.front(), "no_scale"));
}

TEST_CASE("what is not given is not judged; blanks neither", "[check]") {
  const Report part = check_tiny(R"({"S1": [[1, 2], [2, 4]]})");
  CHECK(verdict_at(part, StepId::scores, 0) == Verdict::right);
  CHECK(verdict_at(part, StepId::Q, 0) == Verdict::not_given);
  CHECK(verdict_at(part, StepId::output, {}) == Verdict::not_given);
  const Report with_blank = check_tiny(R"({"S1": [[1, null], [2, 4]]})");
  CHECK((with_blank.is_incomplete() && !with_blank.is_right()));
  CHECK(with_blank.blanks == 1);
  CHECK_FALSE(check_tiny(R"({"S1": [[1, null], [3, 4]]})").is_right());
  const Report blank = check_tiny(R"({"Q1": [[null], [null]], "S1": [[1, 2], [2, 4]]})");
  CHECK(verdict_at(blank, StepId::Q, 0) == Verdict::not_given);
}

TEST_CASE("another shape, or another number of heads, is wrong", "[check]") {
  const Report shape = check_tiny(R"({"Q1": [[1, 2]]})");
  REQUIRE(shape.findings.size() == 1);
  CHECK(shape.findings.front().sign->number == "1×2 ≠ 2×1");
  CHECK_FALSE(step_at(shape, StepId::Q, 0).same_shape);
  const Report heads = check_tiny(R"({"Q1": [[1], [2]], "Q2": [[1], [2]]})");
  REQUIRE(heads.findings.size() == 1);
  CHECK(heads.findings.front().heads == std::vector<Index>{1});
  CHECK(heads.findings.front().sign->what.en.find("fewer heads") != std::string_view::npos);
  CHECK(check_tiny(R"({"Q100000": [[1], [2]]})").findings.size() == 1);
}

TEST_CASE("a wrong X is a wrong copy, and what follows from it is right in itself", "[check]") {
  const Report report = check_tiny(R"({"X": [[1], [3]], "Q1": [[1], [3]], "S1": [[1, 3], [3, 9]]})");
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings.front().step == StepId::X);
  CHECK(verdict_at(report, StepId::scores, 0) == Verdict::following);
}

TEST_CASE("a large negative number stands for -inf only while no weight leaks", "[check]") {
  Problem problem = tiny();
  problem.masks = {plain_causal_mask()};
  const Checker checker(problem);
  const auto masked = [&](const std::string& hidden) {
    return check_text(checker, R"({"M1": [[1, )" + hidden + R"(], [2, 4]], "A1": [[1, 0], [0.1192, 0.8808]]})");
  };
  CHECK(masked(R"("-inf")").remarks.empty());
  CHECK(masked("null").remarks.empty());
  CHECK(masked("-Infinity").is_right());
  for (const char* number :
       {"-1e9", "-999999998", "-3.4028234663852886e38", "-1.7976931348623157e308", "-10000", "-9998", "-65504", "-50"}) {
    CAPTURE(number);
    CHECK(masked(number).is_right());
    CHECK(masked(number).remarks.size() == 1);
  }
  CHECK_FALSE(masked("-10").is_right());
  CHECK_FALSE(masked("-30").is_right());
  CHECK_FALSE(masked("\"inf\"").is_right());
  CHECK_FALSE(masked("1e9").is_right());
}

TEST_CASE("-inf is right as well where the problem adds -1e9", "[check]") {
  Problem problem = tiny();
  Tensor bias({1, 1, 2, 2});
  bias.fill(0);
  bias.data()[1] = -1e9;
  problem.masks = {matrix_mask(Mask::Kind::add, bias)};
  const Checker checker(problem);
  CHECK(check_text(checker, R"({"M1": [[1, "-inf"], [2, 4]], "A1": [[1, 0], [0.1192, 0.8808]]})").is_right());
  CHECK(check_text(checker, R"({"M1": [[1, -1e9], [2, 4]]})").is_right());
  CHECK_FALSE(check_text(checker, R"({"M1": [[1, -1], [2, 4]]})").is_right());
}

TEST_CASE("several heads in one list of matrices", "[check]") {
  const Problem problem = study_problem(1);
  const Checker checker(problem);
  CHECK(check_text(checker, R"({"Q": [[[1]], [[2]], [[3]]]})").findings.front().heads == std::vector<Index>{0, 1, 2});
  const PlainTrace right = plain_right(problem);
  const std::string flat = answer_text(only(right, {StepId::weights}), AnswerForm::flat);
  std::string list = R"({"weights": [)";
  for (const PlainMatrix& head : right.steps.at(StepId::weights)) {
    PlainTrace one;
    one.steps[StepId::output] = {head};
    const std::string text = answer_text(one);
    list += (list.back() == '[' ? "" : ", ") + text.substr(text.find('['), text.rfind(']') - text.find('[') + 1);
  }
  const Report report = check_text(checker, list + "]}");
  CHECK(report.is_right());
  for (Index head = 0; head < 3; ++head) CHECK(verdict_at(report, StepId::weights, head) == Verdict::right);
}

TEST_CASE("K1 to Kg beside more heads are those of the key/value heads", "[check]") {
  const Problem problem = grouped_problem(1);  // 6 query heads, 2 key/value heads
  const Checker checker(problem);
  PlainTrace right = plain_right(problem);
  PlainTrace groups = right;
  for (const StepId step : {StepId::K, StepId::V}) {
    const PlainHeads& all = right.steps.at(step);
    groups.steps[step] = {all[0], all[3]};
  }
  const Report report = check_trace(checker, groups, AnswerForm::flat);
  CHECK(told(report) == "right");
  CHECK(verdict_at(report, StepId::K, 5) == Verdict::right);
  // Of the first two query heads alone they are what they are called.
  PlainTrace two = only(right, {StepId::Q, StepId::K});
  for (auto& [step, heads] : two.steps) heads.resize(2);
  CHECK(told(check_trace(checker, two, AnswerForm::flat)) == "right");
}

TEST_CASE("a batch is checked item by item", "[check]") {
  Problem problem = tiny();
  problem.batched = true;
  problem.X = Tensor({2, 1, 2, 1});
  for (Index i = 0; i < 4; ++i) problem.X.data()[i] = static_cast<double>(i + 1);
  const Checker checker(problem);
  CHECK(check_text(checker, R"({"S1": [[[1, 2], [2, 4]], [[9, 12], [12, 16]]]})").is_right());
  const Report report = check_text(checker, R"({"S1": [[[1, 2], [2, 4]], [[9, 12], [12, 17]]]})");
  REQUIRE(report.findings.size() == 1);
  CHECK(step_at(report, StepId::scores, 0).entries_wrong == 1);
  CHECK_FALSE(check_text(checker, R"({"S1": [[1, 2], [2, 4]]})").is_right());
}

}  // namespace mha::test
