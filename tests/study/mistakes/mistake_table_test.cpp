// The table of mistakes: what each of them gives, one approved line for each in tests/study/mistakes/mistake_numbers.txt.
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "catch.hpp"
#include "study/check/random_study_problem.hpp"
#include "study/mistakes/mistake_problem.hpp"

namespace mha::test {
namespace {

constexpr const char* golden_file = MHA_TESTS_DIR "/study/mistakes/mistake_numbers.txt";

// All numbers of all steps in one: their mean, each weighed by its place, so that none can change or move unseen.
double digest(const Written& numbers) {
  double sum = 0, count = 0;
  for (const auto& step : numbers)
    for (Index i = 0; step && i < step->size(); ++i, ++count) {
      const double x = step->data()[i];
      sum += (std::isnan(x) ? 5 : std::isinf(x) ? std::copysign(7, x) : x) * (1 + std::fmod(count, 11));
    }
  return sum / count;
}

// A problem's name, the form, the first step that is not right, and the numbers.
std::string line_part(std::string_view problem, const Outcome& outcome) {
  std::string what(problem);
  if (!outcome.detail.empty()) what += fmt::format(" ({})", outcome.detail);
  const std::string_view step = outcome.shown_by ? name_of(*outcome.shown_by).id : std::string_view("hidden");
  return fmt::format("; {}: {} {:.5g}", what, step, digest(outcome.numbers));
}

// The mean of squares from some target, so that there is a way back.
Problem with_loss(Problem problem) {
  Dice dice(1);
  problem.loss = Loss{Loss::Kind::mse, tenths(dice, {problem.batch(), 1, problem.queries(), problem.d_result()}, 20)};
  return problem;
}

Problem batch_problem() {
  Problem problem = study_problem(1);
  Dice dice(2);
  problem.X = tenths(dice, {2, 1, problem.queries(), problem.d_model()}, 15);
  problem.batched = true;
  return problem;
}

// A line for each mistake: its row of the table, and what each form of it gives on every study problem; one that is made on
// the way back where these have a loss.
std::vector<std::string> actual_lines() {
  std::vector<std::string> lines;
  for (const Mistake& mistake : mistakes())
    lines.push_back(fmt::format("{} {} {}", mistake.id, mistake.frequency, name_of(mistake.first).id));
  const auto add = [&](std::string_view name, const Problem& problem, bool backward) {
    for (const Outcome& outcome : outcomes(problem))
      if (is_gradient(outcome.mistake->first) == backward)
        lines[static_cast<std::size_t>(outcome.mistake - mistakes().data())] += line_part(name, outcome);
  };
  for (const StudyVariant& variant : study_variants) {
    const Problem problem = variant.draw(1);
    add(variant.name, problem, false);
    add(variant.name, with_loss(problem), true);
  }
  add("batch", with_loss(batch_problem()), true);
  return lines;
}

std::vector<std::string> approved_lines() {
  std::vector<std::string> lines;
  std::ifstream file(golden_file);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("every mistake gives the approved numbers", "[mistakes]") {
  const std::vector<std::string> actual = actual_lines();
  if (std::getenv("MHA_APPROVE") != nullptr) {
    std::ofstream file(golden_file);
    for (const std::string& line : actual) file << line << '\n';
  }
  const std::vector<std::string> approved = approved_lines();
  INFO("to approve the lines of now: MHA_APPROVE=1 build/tests/mha_study_test \"every mistake gives*\"");
  for (const std::string& line : actual) {
    INFO("not approved: " << line);
    CHECK(std::find(approved.begin(), approved.end(), line) != approved.end());
  }
  CHECK(approved.size() == actual.size());
}

TEST_CASE("a mistake is found by its id", "[mistakes]") {
  for (const Mistake& mistake : mistakes()) CHECK(find_mistake(mistake.id) == &mistake);
  CHECK(find_mistake("no_such_mistake") == nullptr);
}

TEST_CASE("every mistake says in both languages what was done, and no two say the same", "[mistakes]") {
  std::set<std::string_view> en, zh;
  for (const Mistake& mistake : mistakes()) {
    CAPTURE(mistake.id);
    CHECK(mistake.what.en.find(": ") != std::string_view::npos);  // what was done: the remedy
    CHECK(mistake.what.zh.find("：") != std::string_view::npos);
    CHECK(en.insert(mistake.what.en).second);
    CHECK(zh.insert(mistake.what.zh).second);
  }
}

TEST_CASE("within a row of the computation the mistakes follow one another", "[mistakes]") {
  // All that first show in a step before the scores come before all that first show behind the softmax, and so on.
  const auto place = [](std::string_view id) {
    return std::find_if(mistakes().begin(), mistakes().end(), [&](const Mistake& m) { return m.id == id; }) -
           mistakes().begin();
  };
  const std::array order = {"weights_transposed",
                            "split_input",
                            "gqa_tiled",
                            "rope_missing",
                            "scores_transposed",
                            "no_scale",
                            "softcap_missing",
                            "mask_ignored",
                            "softmax_columns",
                            "attention_transposed",
                            "merge_without_transpose",
                            "wo_missing"};
  for (std::size_t i = 1; i < order.size(); ++i) CHECK(place(order[i - 1]) < place(order[i]));
}

}  // namespace mha::test
