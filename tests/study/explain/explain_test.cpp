// Explanations say what was computed: their numbers are those of the trace, their sums add up, and they end in what is
// given.
#include "study/explain/explain.hpp"

#include <map>

#include "catch.hpp"
#include "compute/run_helpers.hpp"
#include "core/error.hpp"
#include "show/writers.hpp"
#include "study/check/random_study_problem.hpp"

namespace mha::test {
namespace {

constexpr double tolerance = 1e-12;

// A computed problem, and its explanations.
struct Explained {
  explicit Explained(Problem p, PageOptions with = {}, Dtype dtype = Dtype::f64)
      : problem(std::move(p)),
        plan(make_plan(problem)),
        options(std::move(with)),
        trace(run(plan, {std::vector<bool>(plan.values.size(), true), dtype, {}})),
        scene(scenes_of(problem, plan, trace, options)) {}

  std::vector<Explanation> all(StepId step, Index head, Depth depth = 1) const {
    return explain(scene, {step, 0, head, {}, {}}, depth);
  }
  Explanation one(std::string_view entry, Depth depth = 1) const { return explain(scene, range(entry), depth).front(); }
  EntryRange range(std::string_view entry) const { return parse_entry(entry, problem, plan, options.index_base); }
  std::string page(std::string_view entry, Depth depth = 1) const {
    return write_text(describe(scene, {{range(entry), explain(scene, range(entry), depth)}}), {100});
  }

  Problem problem;
  Plan plan;
  PageOptions options;
  Trace trace;
  Scenes scene;
};

Problem worked_problem() {
  return worked_size_problem(1);
}

// a and b, or both the same infinity.
bool close(double a, double b) {
  return a == b || std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
}

void check_sum(const Explanation& entry) {
  const Derivation& derivation = *entry.derivation;
  if (derivation.summands.empty()) return;
  double sum = 0;
  for (std::size_t i = 0; i < derivation.summands.size(); ++i)
    CHECK(close(derivation.sums[i], sum += derivation.summands[i].value));
  if (derivation.step->op == Op::softmax) {
    const double own = derivation.summands[static_cast<std::size_t>(entry.at.column)].value;
    CHECK(close(own / sum, entry.number));
  } else {
    CHECK(close(sum, entry.number));
  }
}

// Every branch ends in what is given or in what was explained before.
void check_ends(const Explanation& entry, const Plan& plan, std::map<std::string, int>& explained) {
  if (entry.derivation) {
    ++explained[entry.entry];
    CHECK_FALSE(entry.operands.empty());
  } else if (!entry.explained_before) {
    CHECK(plan.value(entry.value).role != Value::Role::step);
  }
  for (const Explanation& operand : entry.operands) check_ends(operand, plan, explained);
}

int levels(const Explanation& entry) {
  int deepest = 0;
  for (const Explanation& operand : entry.operands) deepest = std::max(deepest, levels(operand));
  return deepest + (entry.derivation ? 1 : 0);
}

std::string refusal(const Explained& explained, std::string_view entry) {
  try {
    explained.range(entry);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("every entry of every step has its value, and its sum adds up to it", "[study][explain]") {
  for (const StudyVariant& variant : study_variants) {
    INFO(variant.name);
    const Explained explained(variant.draw(2));
    for (const Step& step : explained.plan.steps)
      for (Index head = 0; head < explained.problem.heads; ++head) {
        const Tensor& right = *explained.trace.value(step.out);
        const std::vector<Explanation> entries = explained.all(step.id, head);
        REQUIRE(static_cast<Index>(entries.size()) == right.shape().rows * right.shape().cols);
        for (const Explanation& entry : entries) {
          const Index own = broadcast(head, right.shape().heads, explained.problem.heads);
          CHECK(close(entry.number, right.at(0, own, entry.at.row, entry.at.column)));
          REQUIRE(entry.derivation);
          check_sum(entry);
        }
      }
  }
}

TEST_CASE(
    "a softmax is explained with its maximum where the powers are too large to follow, an output with the share of each "
    "head",
    "[study][explain]") {
  const Explained explained(study_problem(3));
  for (const Explanation& weight : explained.all(StepId::weights, 1)) {
    const Tensor& masked = *explained.trace.value(explained.plan.find(StepId::masked).value());
    const double* row = masked.matrix(0, 1) + weight.at.row * 5;
    const double largest = *std::max_element(row, row + 5);
    CHECK(weight.derivation->maximum.has_value() == (largest < -2 || largest > 8));
    CHECK(weight.derivation->maximum.value_or(largest) == largest);
  }
  for (const Explanation& output : explained.all(StepId::output, 0)) {
    double sum = output.derivation->summands.back().value;  // the bias
    CHECK(output.derivation->head_shares.size() == 3);
    for (const double share : output.derivation->head_shares) sum += share;
    CHECK(close(sum, output.number));
  }
}

TEST_CASE("down to all depths, an explanation ends in what is given and tells every entry once", "[study][explain]") {
  for (const StudyVariant& variant : study_variants) {
    INFO(variant.name);
    const Explained explained(variant.draw(1));
    std::map<std::string, int> told;
    check_ends(explained.one("Y[1,2]", std::nullopt), explained.plan, told);
    CHECK(told.size() > 10);
    for (const auto& [entry, count] : told) {
      INFO(entry);
      CHECK(count == 1);
    }
  }
}

TEST_CASE("a depth is a number of steps, and only the values behind them are needed", "[study][explain]") {
  const Problem problem = worked_problem();
  const Plan plan = make_plan(problem);
  const PageOptions options;
  for (const int depth : {1, 2, 3, 5}) {
    const Trace trace = run(plan, {values_behind(plan, {StepId::output, 0, 0, 0, 0}, depth), Dtype::f64, {}});
    const Scenes scene = scenes_of(problem, plan, trace, options);
    CHECK(levels(explain(scene, {StepId::output, 0, 0, 0, 0}, depth).front()) == depth);
  }
  CHECK_FALSE(values_behind(plan, {StepId::scores, 0, 0, 0, 0}, 1)[static_cast<std::size_t>(plan.find(StepId::V).value())]);
}

TEST_CASE("what is given is told as given", "[study][explain]") {
  const Explained explained(worked_problem());
  const Explanation x = explained.one("X[1,4]", std::nullopt);
  CHECK_FALSE(x.derivation);
  CHECK(x.number == explained.problem.X.at(0, 0, 0, 3));
  CHECK(has(explained.page("X[1,4]"), "given, not computed"));
}

TEST_CASE("pages put names first, then numbers", "[study][explain]") {
  const Explained explained(study_problem(1));
  const std::string score = explained.page("scores2[1,3]");
  CHECK(has(score, "S⁽²⁾[1,3] = Q⁽²⁾[1,1]·K⁽²⁾[3,1] + Q⁽²⁾[1,2]·K⁽²⁾[3,2]"));
  CHECK(has(score, "sum so far"));
  CHECK(has(explained.page("Q3[2,1]"), "b_Q⁽³⁾[1]"));
  CHECK(has(explained.page("Z1[2,1]"), "Z⁽¹⁾[2,1] = S⁽¹⁾[2,1] / √d_k"));
  CHECK(has(explained.page("M1[1,2]"), "causal: key 2 comes after query 1"));
  CHECK(has(explained.page("A1[2,1]"), "e^M⁽¹⁾[2,1] / (e^M⁽¹⁾[2,1] + "));
  CHECK(has(explained.page("concat[1,3]"), "Concat[1,3] = head⁽²⁾[1,1] ="));
  CHECK(has(explained.page("Y[1,1]", 2), "├ Concat[1,1]"));
  const Explained packed(packed_problem(1));
  CHECK(has(packed.page("Q2[1,1]"), "Q⁽²⁾[1,1] = Q[1,3] ="));
  CHECK(has(packed.page("Q[1,3]"), "columns 3–4 go to head 2"));
}

TEST_CASE("a row tells the sum of its softmax once", "[study][explain]") {
  const std::string page = Explained(worked_problem()).page("A1[2,*]");
  CHECK(has(page, "A⁽¹⁾[2,*]"));
  CHECK(has(page, "A⁽¹⁾[2,3]"));
  CHECK(page.find("sum so far") == page.rfind("sum so far"));
}

TEST_CASE("entries are named by id or symbol, with the head's number behind it", "[study][explain]") {
  const Explained explained(worked_problem());
  const auto same = [&](std::string_view a, std::string_view b) {
    const EntryRange x = explained.range(a), y = explained.range(b);
    return x.step == y.step && x.head == y.head && x.row == y.row && x.column == y.column;
  };
  CHECK(same("A2[3,1]", "weights2[3,1]"));
  CHECK(same("Y[2,1]", "output[2,1]"));
  CHECK_FALSE(same("A2[3,1]", "A1[3,1]"));
  CHECK(explained.range("head2[1,*]").head == 1);
  CHECK_FALSE(explained.range("head2[1,*]").column);
  PageOptions from_zero;
  from_zero.index_base = 0;
  const Explained zero(worked_problem(), from_zero);
  CHECK(zero.range("A0[2,0]").row == 2);
  CHECK(zero.range("A0[2,0]").head == 0);
  CHECK(zero.one("A1[2,0]").entry == "A⁽¹⁾[2,0]");
  CHECK(Explained(packed_problem(1)).range("Q[1,5]").step == StepId::packed_Q);
}

TEST_CASE("what a problem does not have is refused with what it has", "[study][explain]") {
  const Explained explained(worked_problem());
  CHECK(has(refusal(explained, "Y[4,1]"), "rows 1 to 3 and columns 1 to 4, counted from 1"));
  CHECK(has(refusal(explained, "Y[1,0]"), "columns 1 to 4"));
  CHECK(has(refusal(explained, "A3[1,1]"), "heads 1 to 2"));
  CHECK(has(refusal(explained, "A[1,1]"), "A1[1,1]"));
  CHECK(has(refusal(explained, "Y1[1,1]"), "Y[1,1]"));
  CHECK(has(refusal(explained, "masked1[1,1]"), "no step 'masked'"));
  CHECK(has(refusal(explained, "wieghts1[1,1]"), "\"weights1\""));
  for (const char* entry : {"Y[1]", "Y[,1]", "Y[1.5,1]", "Y[-1,1]", "Y[99999999999999999999,1]"}) {
    INFO(entry);
    CHECK_FALSE(refusal(explained, entry).empty());
  }
}

TEST_CASE("as JSON, f32 numbers are written as f32 and infinities as words", "[study][explain]") {
  const Explained explained(study_problem(1), {}, Dtype::f32);
  StringSink sink;
  write_explanations(sink, explained.scene, {explained.one("M1[1,2]"), explained.one("Q1[1,1]")});
  CHECK(has(sink.text(), "\"format\": \"mha-explanation\""));
  CHECK(has(sink.text(), "\"dtype\": \"f32\""));
  CHECK(has(sink.text(), "\"value\": \"-inf\""));
  CHECK(has(sink.text(), "\"entry\": \"Q⁽¹⁾[1,1]\""));
  const double q = explained.one("Q1[1,1]").number;
  CHECK(has(sink.text(), fmt::format("\"value\": {}", static_cast<float>(q))));
}

}  // namespace mha::test
