// New exercises: the same everywhere, small, and certain to expose what their sizes can.
#include "study/exercise/exercise.hpp"

#include <cmath>
#include <fstream>
#include <iterator>

#include "catch.hpp"
#include "io/problem/answer.hpp"
#include "io/problem/problem_writer.hpp"
#include "study/check/check.hpp"
#include "study/mistakes/mistake_problem.hpp"

namespace mha::test {
namespace {

struct Case {
  std::string_view name;
  ExerciseSizes sizes;
  std::set<std::string_view> hidden;           // whatever the numbers
  std::set<std::set<std::string_view>> alike;  // likewise
};

// tokens, d_model, heads, kv_heads, d_k, causal, bias
const std::vector<Case> cases = {
    {"default", {}, {"softmax_overflow"}, {{"scale_sqrt_heads", "scale_sqrt_n"}}},
    {"best", {5, 6, 3, 3, 2, true, true}, {"softmax_overflow"}, {{"mask_fill_weak", "mask_multiplied"}}},
    {"worked example's",
     {3, 4, 2, 2, 2, false, false},
     {"softmax_overflow", "scale_sqrt_heads"},
     {{"scale_dk", "scale_sqrt_dmodel"}}},
    {"grouped", {5, 12, 6, 2, 2, true, true}, {"softmax_overflow"}, {{"mask_fill_weak", "mask_multiplied"}}},
    {"grouped, g = h/g",
     {4, 8, 4, 2, 2, false, true},
     {"softmax_overflow", "gqa_wrong_divisor"},
     {{"scale_dk", "scale_sqrt_heads", "scale_sqrt_n"}}},
    {"wide heads",
     {3, 6, 3, 3, 4, true, false},
     {"softmax_overflow"},
     {{"mask_fill_weak", "mask_multiplied"}, {"scale_sqrt_heads", "scale_sqrt_n"}}},
};

const Difficulty& difficulty(std::string_view name) {
  return *std::find_if(difficulties.begin(), difficulties.end(), [&](const Difficulty& d) { return d.name == name; });
}

std::string problem_text(const Problem& problem) {
  StringSink sink;
  write_problem(sink, problem);
  return sink.text();
}

std::set<std::string_view> hidden_by(const Problem& problem) {
  std::set<std::string_view> possible, shown, hidden;
  for (const Outcome& outcome : outcomes(problem, 1e-3)) {
    possible.insert(outcome.mistake->id);
    if (outcome.shown_by) shown.insert(outcome.mistake->id);
  }
  std::set_difference(possible.begin(), possible.end(), shown.begin(), shown.end(), std::inserter(hidden, hidden.end()));
  return hidden;
}

// Every entry is a multiple of 1/parts and no larger than allowed.
void check_grain(const Tensor& tensor, const Grain& grain) {
  for (Index i = 0; i < tensor.size(); ++i) {
    const double multiple = tensor.data()[i] * grain.parts;
    CHECK(std::abs(multiple - std::round(multiple)) < 1e-9);
    CHECK(std::abs(multiple) <= grain.largest);
  }
}

void check_small(const Problem& problem, const Difficulty& difficulty) {
  check_grain(problem.X, difficulty.X);
  for (const Linear* linear : {&problem.Q, &problem.K, &problem.V, &problem.O}) {
    check_grain(linear->W, difficulty.weights);
    if (linear->b) check_grain(*linear->b, difficulty.weights);
  }
  const Plan plan = make_plan(problem);
  const Written steps = written(plan, simulate(plan));
  const Tensor& scaled = *steps[static_cast<std::size_t>(StepId::scaled)];
  for (Index i = 0; i < scaled.size(); ++i) CHECK(std::abs(scaled.data()[i]) <= difficulty.largest_score + 1e-9);
  const Tensor& weights = *steps[static_cast<std::size_t>(StepId::weights)];
  for (Index i = 0; i < weights.size(); ++i) CHECK((weights.data()[i] == 0 || weights.data()[i] > 0.004));
}

BlindSpots blind_spots(const ExerciseSizes& sizes) {
  return ExerciseMaker(sizes, difficulty("normal")).blind_spots();
}

}  // namespace

TEST_CASE("every mistake that the sizes can show is in the open, at each difficulty", "[exercise]") {
  for (const Case& c : cases)
    for (const Difficulty& level : difficulties) {
      const ExerciseMaker maker(c.sizes, level);
      for (const std::uint32_t seed : {1U, 2U}) {
        CAPTURE(c.name, level.name, seed);
        const Problem problem = maker.draw(seed);
        check_small(problem, level);
        CHECK(hidden_by(problem) == c.hidden);
        CHECK(groups(problem, StepId::X, 1e-3) == c.alike);
      }
    }
}

TEST_CASE("the same seed gives the same exercise, another one another", "[exercise]") {
  const ExerciseMaker maker({}, difficulty("normal"));
  const std::string seven = problem_text(maker.draw(7));
  CHECK(problem_text(ExerciseMaker({}, difficulty("normal")).draw(7)) == seven);
  CHECK(problem_text(maker.draw(8)) != seven);
  CHECK(maker.draw(7).title.en == "Exercise 7");
}

TEST_CASE("the exercise of seed 7 is what it was on every other platform", "[exercise]") {
  const std::string name = std::string(MHA_TESTS_DIR) + "/golden/exercise_seed7_problem.json";
  std::ifstream file(name);
  const std::string approved{std::istreambuf_iterator<char>(file), {}};
  const std::string actual = problem_text(ExerciseMaker({3, 6, 3, 3, 2, true, true}, difficulty("normal")).draw(7));
  if (actual != approved) std::ofstream(name + ".actual") << actual;
  INFO("to approve what is drawn now: mv " << name << ".actual " << name);
  CHECK(actual == approved);
}

TEST_CASE("what sizes hide is told, and nothing of the sizes that hide nothing", "[exercise]") {
  for (const Case& c : cases) {
    CAPTURE(c.name);
    const BlindSpots best = blind_spots(well_chosen(c.sizes));
    CHECK(best.hidden.empty());
    CHECK(best.alike.empty());
  }
  const BlindSpots toy = blind_spots({3, 4, 2, 2, 2, false, false});
  CHECK(toy.hidden == Ids{"scale_sqrt_heads"});
  CHECK(toy.alike == IdGroups{{"scale_dk", "scale_sqrt_dmodel"}});
  const BlindSpots one_head = blind_spots({3, 4, 1, 1, 4, false, true});
  for (const std::string_view id : {"same_weights", "merge_without_transpose", "reshape_without_transpose", "not_split"})
    CHECK(std::count(one_head.hidden.begin(), one_head.hidden.end(), id) == 1);
  const BlindSpots one_token = blind_spots({1, 6, 3, 3, 2, true, true});
  for (const std::string_view id : {"softmax_columns", "mask_ignored", "attention_transposed", "no_scale"})
    CHECK(std::count(one_token.hidden.begin(), one_token.hidden.end(), id) == (id == "no_scale" ? 0 : 1));
  CHECK(blind_spots({4, 8, 4, 2, 2, false, true}).hidden == Ids{"gqa_wrong_divisor"});
}

TEST_CASE("sizes for which no small numbers are found are an error that says what to change", "[exercise]") {
  const ExerciseMaker maker({1, 1, 1, 1, 1, false, false}, difficulty("easy"));
  CHECK_THROWS_WITH(maker.draw(1), Catch::Contains("--tokens") && Catch::Contains("--difficulty hard"));
}

TEST_CASE("a student's seed follows from the name and the seed", "[exercise]") {
  CHECK(student_seed(1, "Anna") == 986187913);
  CHECK(student_seed(1, "张三") == 705135620);
  CHECK(student_seed(2, "Anna") == 1760272927);
}

TEST_CASE("each of the teacher's mistakes, handed in, is recognised", "[exercise]") {
  const Problem problem = ExerciseMaker({5, 6, 3, 3, 2, true, true}, difficulty("normal")).draw(7);
  const Checker checker(problem);
  StringSink sink;
  write_mistakes(sink, problem);
  std::string_view text = sink.text();
  std::set<std::string_view> seen;
  constexpr std::string_view begin = "\n  {\n", end = "\n  }";
  for (std::size_t first = text.find(begin); first != std::string_view::npos; first = text.find(begin)) {
    text.remove_prefix(first + 3);
    const std::string_view entry = text.substr(0, text.find(end) + end.size());
    const Report report = checker.check(read_answer_line(entry, "mistakes.json", 1));
    REQUIRE_FALSE(report.findings.empty());
    const std::string_view id = entry.substr(entry.find("\"id\": \"") + 7, 60);
    bool named = false;
    for (const Suspect& suspect : report.findings.front().suspects) {
      const std::string quoted = std::string(suspect.mistake->id) + "\"";
      if (id.starts_with(quoted)) named = seen.insert(suspect.mistake->id).second || true;
    }
    INFO(id.substr(0, id.find('"')));
    CHECK(named);
  }
  std::size_t shown = 0;
  for (const Mistake& mistake : mistakes()) shown += shown_first(problem, mistake) ? 1 : 0;
  CHECK(seen.size() == shown);
}

}  // namespace mha::test
