// The worksheet of an exercise: everything that is given, nothing that is to be found.
#include "study/exercise/exercise.hpp"

#include "catch.hpp"
#include "core/plan.hpp"
#include "show/writers.hpp"

namespace mha::test {
namespace {

Problem exercise(const ExerciseSizes& sizes) {
  return ExerciseMaker(sizes, difficulties[1]).draw(7);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t result = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++result;
  return result;
}

// Blanks of all matrices on the page.
Index blanks(const Document& page) {
  Index result = 0;
  for (const Block& block : page.blocks)
    if (const auto* equation = std::get_if<Equation>(&block)) {
      const auto* last = std::get_if<Matrix>(&equation->parts.back());
      REQUIRE(last != nullptr);
      for (const Cell& cell : last->cells)
        if (cell.text.find_first_not_of('_') == std::string::npos) ++result;
    }
  return result;
}

}  // namespace

TEST_CASE("every entry of every step is a blank", "[worksheet]") {
  const Problem problem = exercise({3, 6, 3, 3, 2, true, true});
  const Plan plan = make_plan(problem);
  Index entries = 0;
  for (const Step& step : plan.steps) entries += plan.value(step.out).shape.size();
  CHECK(blanks(worksheet(problem, {})) == entries);
}

TEST_CASE("shared keys and values are asked for once", "[worksheet]") {
  const Problem problem = exercise({4, 8, 4, 2, 2, false, false});
  const Document page = worksheet(problem, {});
  const Plan plan = make_plan(problem);
  Index entries = 0;
  for (const Step& step : plan.steps) entries += plan.value(step.out).shape.size();
  CHECK(blanks(page) == entries);
  const std::string text = write_text(page, {});
  CHECK(count(text, "the same as in head 1") == 2);
  CHECK(count(text, "the same as in head 3") == 2);
}

TEST_CASE("what is given stands in the equations, what is computed by its symbol", "[worksheet]") {
  const std::string text = write_text(worksheet(exercise({3, 6, 3, 3, 2, true, true}), {}), {});
  CHECK(count(text, "W_Q⁽²⁾") == 2);  // in the formula and over the matrix
  CHECK(count(text, "Z⁽¹⁾  +") == 1);
  CHECK(count(text, "−∞  −∞") == 3);
  CHECK(count(text, "Concat\n") + count(text, "Concat  ·") >= 1);
  CHECK(count(text, "√d_k = √2 = 1.414") == 3);
}

TEST_CASE("decimals set the blanks, the name is filled in where it is known", "[worksheet]") {
  const Problem problem = exercise({});
  WorksheetOptions options;
  CHECK(count(write_text(worksheet(problem, options), {}), "Name: …") == 1);
  options.decimals = 1;
  options.student = "Anna";
  const std::string text = write_text(worksheet(problem, options), {});
  CHECK(count(text, "Name: Anna\n") == 1);
  CHECK(count(text, "1 decimal") == 1);
  CHECK(count(text, " ____ ") > 0);
  CHECK(count(text, "_____") == 0);
}

TEST_CASE("the Chinese worksheet has no English sentence", "[worksheet]") {
  WorksheetOptions options;
  options.language = Language::zh;
  const std::string text = write_text(worksheet(exercise({}), options), {});
  for (const char* word : {" the ", "Name", "Exercise", "entry"}) CHECK(count(text, word) == 0);
  CHECK(count(text, "练习 7") == 1);
  CHECK(count(text, "姓名：") == 1);
}

}  // namespace mha::test
