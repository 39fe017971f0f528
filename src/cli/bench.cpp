// mha bench: how long each step takes, and how near that is to what the machine can do.

#include <list>
#include <random>

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/options.hpp"
#include "compute/cost.hpp"
#include "compute/cpu_variants.hpp"
#include "compute/engine.hpp"
#include "core/gradient.hpp"
#include "io/json/writer.hpp"
#include "show/pages/page.hpp"
#include "study/compare/compare.hpp"

namespace mha::cli {
namespace {

constexpr Text bench_facts{"{} tokens · {} keys · d_model {} · heads {} · {} · repeats {}",
                           "{} 个词元 · {} 个键 · d_model {} · 头数 {} · {} · 重复 {} 次"};
constexpr Text on_cpu{", kernels {} · threads {}", "，内核 {} · 线程 {}"};
constexpr Text median_column{"median ms", "中位数 ms"};
constexpr Text least_column{"least ms", "最少 ms"};
constexpr Text rate_column{"GFLOP/s", "GFLOP/s"};
constexpr Text traffic_column{"GB/s", "GB/s"};
constexpr Text all_steps{"all", "全部"};
constexpr Text how_reach_is_meant{
    "The last line: a plain product of two large matrices, and a plain copy (read and written); or the best of the steps "
    "above.",
    "最后一行：两个大矩阵的普通乘积，以及普通复制（读和写）；如果上面有更快的步骤，则取其中最好的。"};

// As written on the command line.
struct BenchOptionTexts {
  std::vector<std::string> problem;
  std::optional<std::string> keep, repeat, tokens, d_model, heads, lang;
  OutputTexts output;
  ComputationOptionTexts computation;
  bool allow_outside = false, loop = false, gradient = false;
};

// Numbers from −1 to 1, the same on every machine.
Tensor random_tensor(Shape shape, double factor, std::mt19937& engine) {
  Tensor tensor(shape);
  for (Index i = 0; i < tensor.size(); ++i) tensor.data()[i] = (static_cast<double>(engine()) / 2147483648.0 - 1) * factor;
  return tensor;
}

// A layer as in BERT: packed weights with biases, as many heads as are asked for, d_k = d_v = d_model / heads.
Problem random_layer(Index tokens, Index d_model, Index heads) {
  if (d_model % heads != 0)
    throw Error({"--d-model {} --heads {}: the heads share d_model evenly, so it must be a multiple of their number",
                 "--d-model {} --heads {}：各头平分 d_model，因此它应为头数的倍数"},
                d_model, heads);
  std::mt19937 engine(2017);
  const double root = std::sqrt(3.0 / static_cast<double>(d_model));  // the projections are then about as large as X
  const auto linear = [&] {
    Linear result;
    result.W = random_tensor({1, 1, d_model, d_model}, root, engine);
    result.b = random_tensor({1, 1, 1, d_model}, 0.1, engine);
    return result;
  };
  Problem problem;
  problem.X = random_tensor({1, 1, tokens, d_model}, 1, engine);
  problem.packed = true;
  problem.heads = problem.kv_heads = heads;
  for (Linear* weights : {&problem.Q, &problem.K, &problem.V, &problem.O}) *weights = linear();
  return problem;
}

Problem problem_from(const BenchOptionTexts& texts, World& world) {
  const std::string name = one_problem(texts.problem);
  if (!texts.tokens && !texts.d_model && !texts.heads) return read_problem(name, world, texts.allow_outside);
  if (!texts.problem.empty())
    throw Error({"a problem and --tokens, --d-model or --heads: these make a random layer, which takes the problem's place",
                 "既有题目又有 --tokens、--d-model 或 --heads：后者生成一层随机数来代替题目"});
  const int tokens = texts.tokens ? parse_number("--tokens", *texts.tokens, 1, 1 << 20) : 512;
  const int d_model = texts.d_model ? parse_number("--d-model", *texts.d_model, 1, 1 << 16) : 768;
  const int heads = texts.heads ? parse_number("--heads", *texts.heads, 1, 1 << 16) : 12;
  return random_layer(tokens, d_model, heads);
}

struct Rates {
  double gflops = 0, gbytes_per_s = 0;
};

// None for what takes less than a microsecond: a step that only names a part of another's numbers.
Rates rates_of(const compute::Cost& cost, double ms, Dtype dtype) {
  if (ms < 1e-3) return {};
  return {cost.operations / ms * 1e-6, cost.numbers * (dtype == Dtype::f32 ? 4 : 8) / ms * 1e-6};
}

class Bench {
 public:
  Bench(const BenchOptionTexts& texts, World& world)
      : output_(texts.output, page_or_json, style_from({}, world), world),
        page_(language_from(texts.lang, world)),
        is_looped_(texts.loop) {
    const Arithmetic arithmetic = arithmetic_from(texts.computation);
    options_.dtype = arithmetic.dtype;
    options_.threads = arithmetic.threads;
    options_.device = device_from(arithmetic, world);
    if (texts.repeat) repeat_ = parse_number("--repeat", *texts.repeat, 1, 1000000);
    const bool output_only = texts.keep && parse_choice("--keep", *texts.keep, {"all", "output"}) == 1;
    problem_ = problem_from(texts, world);
    plan_ = make_plan(problem_);
    if (texts.gradient) plan_ = with_gradient(std::move(plan_), problem_.loss.value_or(Loss{Loss::Kind::sum, {}}));
    if (output_only) {
      kept_.steps.assign(step_count, false);
      kept_.steps[static_cast<std::size_t>(StepId::output)] = true;
    }
    options_.keep = compute::values_to_keep(plan_, kept_, false);
    output_.open();
  }

  void tell_everything() {
    times_ = compute::measure(plan_, options_, repeat_);
    if (is_looped_) time_loop();
    if (output_.kind() == Format::Kind::json)
      write_json();
    else
      output_.write(page_, [this, reach = compute::measure_reach(options_)](const auto& options) {
        page_.language = options.language;
        return page(reach);
      });
    output_.finish();
  }

 private:
  // The steps from the projections to the head outputs, reading what stands before them; of a head whose keys and values an
  // earlier one has computed, without those.
  compute::Timed timed(const Problem& layer, bool shares_keys) const {
    compute::RunOptions options = options_, before;
    Plan plan = make_plan(layer);
    const Plan whole = plan;
    std::erase_if(plan.steps, [&](const Step& step) {
      const bool is_shared = step.id != StepId::packed_Q && step.id != StepId::Q && step.id < StepId::scores;
      return step.id < StepId::packed_Q || step.id > StepId::head_output ||
             (shares_keys && is_shared && step.id != StepId::Q_rot);
    });
    before.keep.assign(plan.values.size(), false);
    for (const Step& step : plan.steps)
      for (const ValueId id : step.in)
        before.keep[static_cast<std::size_t>(id)] = whole.writer_of(id) != nullptr && plan.writer_of(id) == nullptr;
    const Trace given = compute::run(whole, before);
    for (std::size_t id = 0; id < plan.values.size(); ++id)
      if (before.keep[id]) {
        plan.values[id].role = Value::Role::constant;
        plan.values[id].constant = given.values[id];
      }
    options.keep = compute::values_to_keep(plan, kept_, false);
    return {std::move(plan), std::move(options)};
  }

  // Of every layer all heads at once and then each head alone, in each round.
  void time_loop() {
    if (options_.device.is_cpu()) compute::choose_cpu_variant(compute::cpu_kernels_name(plan_));
    std::vector<compute::Timed> plans;
    std::vector<bool> at_once;
    const study::Layered layers = study::layered(problem_);
    std::list<Problem> heads;  // whose numbers the plans read
    for (const Problem& layer : layers.problems)
      for (Index head = -1; head < layer.heads; ++head) {
        at_once.push_back(head < 0);
        if (head >= 0) heads.push_back(study::one_head(layer, head));
        plans.push_back(timed(head < 0 ? layer : heads.back(), head > 0 && head % (layer.heads / layer.kv_heads) > 0));
      }
    std::array<std::vector<double>, 2> sums;
    for (const std::vector<double>& round : compute::measure_in_turn(plans, repeat_)) {
      for (std::vector<double>& sum : sums) sum.push_back(0);
      for (std::size_t i = 0; i < round.size(); ++i) sums[at_once[i] ? 0 : 1].back() += round[i];
    }
    for (std::vector<double>& sum : sums) std::sort(sum.begin(), sum.end());
    heads_ms_ = {sums[0][sums[0].size() / 2], sums[1][sums[1].size() / 2]};
  }

  // "scores", and of the backward pass "dS".
  std::string name_of_step(std::size_t i) const {
    const Step& step = plan_.steps[i];
    return plan_.is_backward(step) ? plan_.value(step.out).symbol : std::string(name_of(step.id).id);
  }

  Rates rates(std::size_t i, double ms) const {
    if (options_.device.is_cpu() && compute::copies_nothing(plan_, plan_.steps[i])) return {};
    return rates_of(compute::cost_of(plan_, plan_.steps[i]), ms, options_.dtype);
  }
  Rates rates(std::size_t i) const { return rates(i, times_.step_ms[i].median); }

  void write_json() {
    io::JsonWriter json(output_.sink());
    json.begin_object();
    json.text("device", options_.device.description);
    json.text("dtype", dtype_name(options_.dtype));
    json.integer("threads", times_.threads);
    json.integer("repeat", repeat_);
    json.begin_object("total_ms", io::Spread::line);
    json.number("median", times_.total_ms.median);
    json.number("min", times_.total_ms.least);
    json.end();
    if (heads_ms_) {
      json.begin_object("heads_ms", io::Spread::line);
      json.number("at_once", (*heads_ms_)[0]);
      json.number("loop", (*heads_ms_)[1]);
      json.end();
    }
    json.begin_array("steps");
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      json.begin_object(io::Spread::line);
      json.text("step", name_of_step(i));
      json.number("ms", times_.step_ms[i].median);
      json.number("gflops", rates(i).gflops);
      json.number("gbytes_per_s", rates(i).gbytes_per_s);
      json.end();
    }
    json.finish();
  }

  // What this machine has been seen to do: no step is faster than the machine.
  show::Document page(compute::Reach reach) const {
    for (std::size_t i = 0; i < plan_.steps.size(); ++i)
      for (const double ms : {times_.step_ms[i].median, times_.step_ms[i].least}) {
        const Rates seen = rates(i, ms);
        reach.gflops = std::max(reach.gflops, seen.gflops);
        reach.gbytes_per_s = std::max(reach.gbytes_per_s, seen.gbytes_per_s);
      }
    const bool cpu = options_.device.is_cpu();
    show::PageBuilder page(page_.language);
    std::string where = fmt::format("{} {}", options_.device.description, dtype_name(options_.dtype));
    if (cpu) where += page.say(on_cpu, compute::cpu_kernels_name(plan_), times_.threads);
    page.paragraph(bench_facts, problem_.queries(), problem_.keys(), problem_.d_model(), problem_.heads, where, repeat_);
    show::Table table{page.header(Text{"step", "步骤"}, median_column, least_column, rate_column, traffic_column), {}, {}};
    table.numeric = {false, true, true, true, true};
    compute::Cost all;
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      const compute::Cost cost = compute::cost_of(plan_, plan_.steps[i]);
      all.operations += cost.operations;
      all.numbers += cost.numbers;
      table.rows.push_back(row(name_of_step(i), times_.step_ms[i], rates(i)));
    }
    table.rows.push_back(row(page.say(all_steps), times_.total_ms, rates_of(all, times_.total_ms.median, options_.dtype)));
    table.rows.push_back({page.say(cpu ? Text{"this machine", "本机"} : Text{"this device", "该设备"}), std::string(),
                          std::string(), fmt::format("{:.1f}", reach.gflops), fmt::format("{:.1f}", reach.gbytes_per_s)});
    page.add(std::move(table));
    if (heads_ms_)
      page.paragraph({"From the projections to the head outputs: {:.3f} ms for all heads at once, {:.3f} ms head by head.",
                      "从投影到各头的输出：所有头一次算出 {:.3f} ms，逐头计算 {:.3f} ms。"},
                     (*heads_ms_)[0], (*heads_ms_)[1]);
    page.paragraph(how_reach_is_meant);
    page.paragraph({"Steps that run as one block share its time in proportion to what the threads spent on each.",
                    "同一块中一起计算的各步，按各线程在每步上花费的时间分摊该块的时间。"});
    return page.take();
  }

  // A step that only names a part of another's numbers has no rates.
  static std::vector<show::Words> row(std::string name, const compute::Spread& ms, const Rates& rates) {
    const auto rate = [&](double number) { return rates.gbytes_per_s > 0 ? fmt::format("{:.1f}", number) : ""; };
    return {std::move(name), fmt::format("{:.3f}", ms.median), fmt::format("{:.3f}", ms.least), rate(rates.gflops),
            rate(rates.gbytes_per_s)};
  }

  Output output_;
  show::PageOptions page_;
  Problem problem_;
  Plan plan_;
  compute::RunOptions options_;
  Selection kept_;
  int repeat_ = 15;
  bool is_looped_;
  std::optional<std::array<double, 2>> heads_ms_;  // with --loop: at once, head by head
  compute::Measurement times_;
};

}  // namespace

Action setup_bench(CommandLine& app) {
  auto texts = std::make_shared<BenchOptionTexts>();
  declare_arguments(app, "PROBLEM", texts->problem,
                    {"a file, - for standard input, or an example's name (default: worked)",
                     "文件，- 表示标准输入，或示例的名称（默认 worked）"});
  declare_device_options(app, texts->computation);
  declare_option(app, "--keep", texts->keep, "all|output",
                 {"which results stand whole at the end (all)", "最后保留哪些完整结果（默认 all）"});
  declare_option(app, "--repeat", texts->repeat, "N",
                 {"rounds that count, after two to warm up (15)", "计入的轮数，另有两轮预热（默认 15）"});
  declare_flag(app, "--loop", texts->loop,
               {"time the heads one by one as well, as in a loop", "另外像循环那样逐头计算并计时"});
  declare_flag(app, "--gradient", texts->gradient,
               {"the backward pass as well, of the problem's loss or of the sum of its result",
                "还包括反向传播：按题目的损失，没有则按结果之和"});
  declare_output(app, texts->output, page_or_json);
  declare_language(app, texts->lang, {"page", "页面"});
  declare_option(app, "--tokens", texts->tokens, "N",
                 {"instead of a problem: a layer of random numbers with N tokens (512)",
                  "不用题目：一层随机数，有 N 个词元（默认 512）"});
  declare_option(app, "--d-model", texts->d_model, "N", {"its width (768)", "它的宽度（默认 768）"});
  declare_option(app, "--heads", texts->heads, "N", {"its heads (12)", "它的头数（默认 12）"});
  declare_allow_outside(app, texts->allow_outside);
  declare_examples(
      app, {},
      {{"mha bench mine.json --dtype f32                        ", {"each step of a problem", "题目的每一步"}},
       {"mha bench --tokens 512 --d-model 768 --heads 12        ", {"a layer as in BERT", "与 BERT 相同的一层"}},
       {"mha bench --tokens 512 --dtype f32 --gradient          ", {"forward and backward", "前向与反向"}},
       {"mha bench mine.json --keep output --format json        ", {"for a program to read", "供程序读取"}}});
  return [texts](World& world) { Bench(*texts, world).tell_everything(); };
}

}  // namespace mha::cli
