// The signs by which a mistake on no list is told.
#include "catch.hpp"
#include "study/check/check_helpers.hpp"

namespace mha::test {
namespace {

using MatrixChange = std::function<void(PlainMatrix&)>;

// What is said of head 2 of this step after the change, nothing else being given but the steps before it.
std::string sign(StepId step, const MatrixChange& change, const Problem& problem = study_problem(1)) {
  PlainTrace trace = plain_right(problem);
  change(trace.steps.at(step)[1]);
  std::erase_if(trace.steps, [&](const auto& entry) { return entry.first > step; });
  const Report report = check_trace(Checker(problem), trace);
  CAPTURE(told(report));
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings.front().suspects.empty());
  if (!report.findings.front().sign) return "";
  return std::string(report.findings.front().sign->what.en) + " " + report.findings.front().sign->number;
}

bool begins(const std::string& text, std::string_view words) {
  return text.rfind(words, 0) == 0;
}

MatrixChange each(const std::function<double(double)>& function) {
  return [function](PlainMatrix& m) { m = each_entry(m, function); };
}

}  // namespace

TEST_CASE("arrangement, scale, bias, sign, slip", "[signs]") {
  CHECK(begins(sign(StepId::Q, [](PlainMatrix& m) { std::reverse(m.numbers.begin(), m.numbers.end()); }),
               "the right numbers in other places"));
  CHECK(sign(StepId::scaled, each([](double z) { return z * 1.25; })).ends_with(" 1.25"));
  CHECK(begins(sign(StepId::V,
                    [](PlainMatrix& m) {
                      for (Index i = 0; i < m.rows; ++i) m.at(i, 0) += 0.3, m.at(i, 1) -= 0.7;
                    }),
               "the same difference in every row"));
  CHECK(begins(sign(StepId::Q,
                    [](PlainMatrix& m) {
                      for (Index i = 0; i < m.rows; ++i) m.at(i, i % 2) *= -1;
                    }),
               "the numbers are right but for their signs"));
  CHECK(begins(sign(StepId::Q, [](PlainMatrix& m) { m.at(2, 1) += 1; }), "all other entries are right"));
  CHECK(sign(StepId::Q, [](PlainMatrix& m) {
          for (Index i = 0; i < m.rows * m.cols; ++i)
            m.numbers[static_cast<std::size_t>(i)] += static_cast<double>(i * i + 1);
        }).empty());
}

TEST_CASE("weights that do not sum as they should", "[signs]") {
  const Problem open = unmasked_problem(1);
  CHECK(sign(StepId::weights, each([](double a) { return 0.9 * a; }), open).ends_with(" 0.9"));
  CHECK(begins(sign(
                   StepId::weights,
                   [](PlainMatrix& m) {
                     for (Index i = 0; i < m.rows; ++i)
                       for (Index j = 0; j < m.cols; ++j) m.at(i, j) *= 1 - 0.1 * static_cast<double>(i + 1);
                   },
                   open),
               "rows sum to less than 1"));
  CHECK(begins(sign(
                   StepId::weights,
                   [](PlainMatrix& m) {
                     for (Index j = 0; j < m.cols; ++j) {
                       double sum = 0;
                       for (Index i = 0; i < m.rows; ++i) sum += std::sqrt(m.at(i, j));
                       for (Index i = 0; i < m.rows; ++i) m.at(i, j) = std::sqrt(m.at(i, j)) / sum;
                     }
                   },
                   open),
               "the columns sum to 1"));
  CHECK(begins(sign(
                   StepId::weights,
                   [](PlainMatrix& m) {
                     double sum = 0;
                     for (double& a : m.numbers) sum += a = std::sqrt(a);
                     for (double& a : m.numbers) a /= sum;
                   },
                   open),
               "the whole matrix sums to 1"));
}

TEST_CASE("weight where the mask hides the key; no numbers at all", "[signs]") {
  CHECK(begins(sign(StepId::weights,
                    [](PlainMatrix& m) {
                      for (Index i = 0; i < m.rows; ++i)
                        for (Index j = 0; j < m.cols; ++j) m.at(i, j) = 0.7 * m.at(i, j) + 0.3 / 5;
                    }),
               "weight where the mask hides the key"));
  CHECK(begins(sign(StepId::scaled,
                    [](PlainMatrix& m) {
                      for (Index i = 0; i < m.rows; ++i) m.at(i, 0) = m.at(i, 1) = std::nan("");
                    }),
               "NaN or infinite entries"));
}

}  // namespace mha::test
