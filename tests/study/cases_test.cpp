// The cases of tests/cases, computed by something that is not mha, and the examples: every backend with every dtype.
#include <filesystem>
#include <fstream>

#include "catch.hpp"
#include "compute/run_helpers.hpp"
#include "io/problem/answer.hpp"
#include "io/problem/problem_reader.hpp"

namespace mha::test {
namespace {

// The head's matrices of a value, batch item after batch item.
Tensor matrices_of(const Tensor& value, Index head) {
  const Shape& shape = value.shape();
  Tensor result({shape.batch, 1, shape.rows, shape.cols});
  for (Index item = 0; item < shape.batch; ++item)
    std::copy_n(value.matrix(item, head), shape.rows * shape.cols, result.matrix(item, 0));
  return result;
}

Tensor as_tensor(const AnswerMatrix& matrix, const Shape& shape) {
  return {shape, matrix.numbers};
}

}  // namespace

TEST_CASE("every case comes out of every backend", "[cases][opencl]") {
  for (const auto& folder : std::filesystem::directory_iterator(MHA_TESTS_DIR "/cases")) {
    const Problem problem = read_problem_file((folder.path() / "problem.json").string());
    const Answer expected = read_answer_file((folder.path() / "trace.json").string());
    REQUIRE(expected.matrices.size() > 3);
    // Those with gradients have gated layers of large numbers on one another, where floats lose more.
    const double times = folder.path().filename().string().starts_with("gradient_") ? 10 : 1;
    for (const Arm& arm : every_backend()) {
      const Run actual(problem, arm);
      for (const AnswerMatrix& matrix : expected.matrices) {
        if (is_gradient(matrix.step)) continue;  // of the plan of the way back
        const Index head = name_of(matrix.step).per_head ? matrix.head.value_or(0) : 0;
        const int layer = matrix.layer.value_or(0);
        const Problem& own = problem.layer(layer);
        const Tensor& whole = *actual.trace.value(actual.plan.find(placed(matrix.step, own.is_post_norm()), layer).value());
        const Tensor mine = matrices_of(whole, broadcast(head, whole.shape().heads, own.heads));
        INFO(folder.path() << " " << arm.name << " " << name_of(matrix.step).id << " head " << head);
        CHECK(difference(mine, as_tensor(matrix, mine.shape())) < times * arm.exactness);
      }
    }
  }
}

TEST_CASE("every example is the same on every backend", "[cases][opencl]") {
  for (const EmbeddedFile& example : examples()) {
    const Problem problem = read_problem_text(example.text, example.name);
    const Run expected(problem);
    for (const Arm& arm : every_backend()) {
      const Run actual(problem, arm);
      for (const Step& step : expected.plan.steps) {
        INFO(example.name << " " << arm.name << " " << name_of(step.id).id);
        CHECK(difference(*actual.trace.value(step.out), *expected.trace.value(step.out)) < arm.exactness);
      }
    }
  }
}

}  // namespace mha::test
