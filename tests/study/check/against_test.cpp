// --against: what float arithmetic does passes on every backend, what it cannot do fails where it stands.
#include "study/check/against.hpp"

#include "catch.hpp"
#include "compute/random_problem.hpp"
#include "compute/run_helpers.hpp"
#include "show/writers.hpp"

namespace mha::test {
namespace {

// Every op of attention: grouped heads, a batch, rotary positions, a soft cap, a mask with hidden keys.
Problem everything(std::uint32_t seed, Index tokens = 7) {
  Dice dice(seed);
  Sizes s;
  s.batch = 2;
  s.tokens = s.keys = tokens;
  s.heads = 4;
  s.kv_heads = 2;
  s.d_k = 6;
  Problem p = random_problem(dice, s);
  p.rope = Rope{};
  p.rope->dims = 4;
  p.rope->pairing = seed % 2 == 0 ? Pairing::half : Pairing::interleaved;
  p.softcap = 1.5;
  p.masks = {causal_mask(), matrix_mask(Mask::Kind::add, dice.tensor({1, 4, tokens, tokens}))};
  return p;
}

ComparedStep at(const std::vector<ComparedStep>& steps, StepId id) {
  return *std::find_if(steps.begin(), steps.end(), [&](const ComparedStep& step) { return step.step == id; });
}

// The run with one step's result replaced.
Trace with(const Run& run, StepId step, Tensor numbers) {
  Trace trace = run.trace;
  trace.values[static_cast<std::size_t>(*run.plan.find(step))] = std::make_shared<const Tensor>(std::move(numbers));
  return trace;
}

}  // namespace

TEST_CASE("every backend stays within the bound of its arithmetic", "[against][opencl]") {
  for (const Arm& arm : every_backend())
    for (std::uint32_t seed = 1; seed <= 10; ++seed) {
      const Problem p = everything(seed, seed == 10 ? 150 : 7);  // the plan refers to it
      const Run run(p, arm);
      const std::vector<ComparedStep> steps = against_cpu(run.plan, run.trace);
      REQUIRE(steps.size() == run.plan.steps.size());
      for (const ComparedStep& step : steps) {
        INFO(arm.name << " seed " << seed << " " << name_of(step.step).id << ": " << step.share.device << " "
                      << step.share.cpu << " bound " << step.share.bound);
        CHECK(step.passes());
      }
    }
}

TEST_CASE("the CPU in float64 is equal to itself, step by step", "[against]") {
  const Problem p = everything(3);
  const Run run(p);
  for (const ComparedStep& step : against_cpu(run.plan, run.trace)) CHECK(step.share.share() < 0.5);
}

TEST_CASE("a wrong entry fails in its step, and is named", "[against]") {
  const Problem p = everything(2);
  const Run run(p, Dtype::f32);
  for (const StepId id : {StepId::Q, StepId::Q_rot, StepId::scores, StepId::scaled, StepId::capped, StepId::masked,
                          StepId::weights, StepId::head_output, StepId::concat, StepId::output}) {
    Tensor wrong = run[id];
    const Shape& shape = wrong.shape();
    const Entry place{1, shape.heads - 1, shape.rows - 1, shape.cols - 2};
    wrong.at(place.item, place.head, place.row, place.column) += 1e-3;
    const ComparedStep step = at(against_cpu(run.plan, with(run, id, wrong)), id);
    INFO(name_of(id).id);
    CHECK_FALSE(step.passes());
    CHECK(step.absolute.at.item == place.item);
    CHECK(step.absolute.at.head == place.head);
    CHECK(step.absolute.at.row == place.row);
    CHECK(step.absolute.at.column == place.column);
    CHECK(std::abs(step.absolute.absolute() - 1e-3) < 1e-5);
  }
}

TEST_CASE("the bound is narrow: numbers with eleven bits fail in every step that computes", "[against]") {
  const Problem p = everything(4);
  const Run run(p, Dtype::f32);
  for (const Step& step : run.plan.steps) {
    Tensor half = run[step.id];
    for (Index i = 0; i < half.size(); ++i) {
      int exponent = 0;
      const double fraction = std::frexp(half.data()[i], &exponent);
      if (std::isfinite(fraction)) half.data()[i] = std::ldexp(std::nearbyint(fraction * 2048) / 2048, exponent);
    }
    INFO(name_of(step.id).id);
    CHECK_FALSE(at(against_cpu(run.plan, with(run, step.id, half)), step.id).passes());
  }
}

TEST_CASE("a hidden key has weight 0 exactly, and what only moves moves exactly", "[against]") {
  const Problem p = everything(5);
  const Run run(p, Dtype::f32);
  Tensor weights = run[StepId::weights];
  REQUIRE(weights.at(0, 0, 0, 3) == 0);
  weights.at(0, 0, 0, 3) = 1e-30;
  CHECK_FALSE(at(against_cpu(run.plan, with(run, StepId::weights, weights)), StepId::weights).passes());
  Tensor concat = run[StepId::concat];
  concat.at(0, 0, 0, 0) = std::nextafter(concat.at(0, 0, 0, 0), 9.0);
  CHECK_FALSE(at(against_cpu(run.plan, with(run, StepId::concat, concat)), StepId::concat).passes());
}

TEST_CASE("a device that does not hide what the mask hides fails", "[against]") {
  const Problem p = everything(5);
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const Run run(p, dtype);
    Tensor masked = run[StepId::masked];
    REQUIRE(masked.at(0, 0, 0, 3) == -infinity);
    masked.at(0, 0, 0, 3) = 1.5;
    CHECK_FALSE(at(against_cpu(run.plan, with(run, StepId::masked, masked)), StepId::masked).passes());
    masked.at(0, 0, 0, 3) = infinity;
    CHECK_FALSE(at(against_cpu(run.plan, with(run, StepId::masked, masked)), StepId::masked).passes());
  }
}

TEST_CASE("NaN or infinity alone on one side fails; on both it is no difference", "[against]") {
  Problem p = everything(6);
  const Run fine(p, Dtype::f32);
  for (const double odd : {std::nan(""), infinity, -infinity}) {
    Tensor scores = fine[StepId::scores];
    scores.at(0, 0, 2, 1) = odd;
    const ComparedStep step = at(against_cpu(fine.plan, with(fine, StepId::scores, scores)), StepId::scores);
    CHECK_FALSE(step.passes());
    CHECK(step.absolute.absolute() == infinity);
  }
  p.X.at(0, 0, 1, 1) = std::nan("");
  const Run run(p, Dtype::f32);
  CHECK(all_pass(against_cpu(run.plan, run.trace)));
}

TEST_CASE("the page names what fails, in both languages and from either base", "[against]") {
  const Problem p = everything(7);
  const Run run(p, Dtype::f32);
  Tensor wrong = run[StepId::weights];
  wrong.at(1, 2, 3, 1) += 0.5;
  const Trace trace = with(run, StepId::weights, wrong);
  const std::vector<ComparedStep> steps = against_cpu(run.plan, trace);
  PageOptions options;
  const std::string page = write_text(describe(steps, trace, options), {});
  CHECK(page.find("weights      FAIL") != std::string::npos);
  CHECK(page.find("A3[4,2] of item 2: the device has ") != std::string::npos);
  options.language = Language::zh;
  options.index_base = 0;
  const std::string chinese = write_text(describe(steps, trace, options), {});
  CHECK(chinese.find("样本 1 的 A2[3,1]：设备得") != std::string::npos);
  StringSink json;
  write_against(json, steps, trace);
  CHECK(json.text().find("\"pass\": false") != std::string::npos);
  CHECK(json.text().find("{\"entry\": \"A3[4,2]\", \"item\": 2,") != std::string::npos);
}

}  // namespace mha::test
