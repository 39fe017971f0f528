// mha bench: how long each step takes, and how near that is to what the machine can do.
#include <fmt/format.h>

#include <cmath>
#include <random>

#include "cli/commands.hpp"
#include "cli/input.hpp"
#include "cli/values.hpp"
#include "compute/cost.hpp"
#include "compute/cpu_variants.hpp"
#include "compute/measure.hpp"
#include "io/json/writer.hpp"

namespace mha::cli {
namespace {

// As written on the command line.
struct BenchOptionTexts {
  std::vector<std::string> problem;
  std::optional<std::string> keep, repeat, format, tokens, d_model, heads;
  ComputationOptionTexts computation;
  bool allow_outside = false;
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
    throw Error(
        fmt::format("--d-model {} --heads {}: the heads share d_model evenly, so it must be a multiple of their number",
                    d_model, heads));
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
  if (texts.problem.size() > 1)
    throw Error(fmt::format("one problem at a time, but '{}' and '{}' were given", texts.problem[0], texts.problem[1]));
  if (!texts.tokens && !texts.d_model && !texts.heads)
    return read_problem(texts.problem.empty() ? "worked" : texts.problem.front(), world, texts.allow_outside);
  if (!texts.problem.empty())
    throw Error("a problem and --tokens, --d-model or --heads: these make a random layer, which takes the problem's place");
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
  Bench(const BenchOptionTexts& texts, World& world) : world_(world) {
    const Arithmetic arithmetic = arithmetic_from(texts.computation);
    options_.dtype = arithmetic.dtype;
    options_.threads = arithmetic.threads;
    options_.device = device_from(arithmetic, world);
    if (texts.repeat) repeat_ = parse_number("--repeat", *texts.repeat, 1, 1000000);
    json_ = format_named(texts.format, page_or_json).kind == Format::Kind::json;
    const bool output_only = texts.keep && parse_choice("--keep", *texts.keep, {"all", "output"}) == 1;
    problem_ = problem_from(texts, world);
    plan_ = make_plan(problem_);
    Selection kept;
    if (output_only) {
      kept.steps.assign(step_count, false);
      kept.steps[static_cast<std::size_t>(StepId::output)] = true;
    }
    options_.keep = compute::values_to_keep(plan_, kept, false);
  }

  void tell_everything() {
    times_ = compute::measure(plan_, options_, repeat_);
    if (json_)
      write_json();
    else
      world_.out.write(text(compute::measure_reach(options_)));
  }

 private:
  Rates rates(std::size_t i) const {
    return rates_of(compute::cost_of(plan_, plan_.steps[i]), times_.step_ms[i].median, options_.dtype);
  }

  void write_json() const {
    io::JsonWriter json(world_.out);
    json.begin_object();
    json.text("device", options_.device.description);
    json.text("dtype", dtype_name(options_.dtype));
    json.integer("threads", times_.threads);
    json.integer("repeat", repeat_);
    json.key("total_ms");
    json.begin_object(io::Spread::line);
    json.number("median", times_.total_ms.median);
    json.number("min", times_.total_ms.least);
    json.end();
    json.key("steps");
    json.begin_array();
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      json.begin_object(io::Spread::line);
      json.text("step", name_of(plan_.steps[i].id).id);
      json.number("ms", times_.step_ms[i].median);
      json.number("gflops", rates(i).gflops);
      json.number("gbytes_per_s", rates(i).gbytes_per_s);
      json.end();
    }
    json.end();
    json.end();
    json.finish();
  }

  std::string text(const compute::Reach& reach) const {
    std::string page = fmt::format(
        "{} tokens · {} keys · d_model {} · heads {} · {} {}{} · repeats {}\n\n", problem_.queries(), problem_.keys(),
        problem_.d_model(), problem_.heads, options_.device.description, dtype_name(options_.dtype),
        options_.device.is_cpu()
            ? fmt::format(", kernels {} · threads {}", compute::cpu_kernels_name(plan_), times_.threads)
            : "",
        repeat_);
    page += fmt::format("{:<14}{:>12}{:>12}{:>12}{:>12}\n", "step", "median ms", "least ms", "GFLOP/s", "GB/s");
    compute::Cost all;
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      const compute::Cost cost = compute::cost_of(plan_, plan_.steps[i]);
      all.operations += cost.operations;
      all.numbers += cost.numbers;
      page += row(name_of(plan_.steps[i].id).id, times_.step_ms[i], rates(i));
    }
    page += row("all", times_.total_ms, rates_of(all, times_.total_ms.median, options_.dtype));
    page += fmt::format("{:<14}{:>36.1f}{:>12.1f}\n", options_.device.is_cpu() ? "this machine" : "this device",
                        reach.gflops, reach.gbytes_per_s);
    page +=
        "\nthe last line: a plain product of two large matrices, and a plain copy (read and written)\n"
        "steps that run as one block share its time in proportion to what the threads spent on each\n";
    return page;
  }

  static std::string row(std::string_view name, const compute::Spread& ms, const Rates& rates) {
    return fmt::format("{:<14}{:>12.3f}{:>12.3f}{:>12.1f}{:>12.1f}\n", name, ms.median, ms.least, rates.gflops,
                       rates.gbytes_per_s);
  }

  World& world_;
  Problem problem_;
  Plan plan_;
  compute::RunOptions options_;
  int repeat_ = 15;
  bool json_ = false;
  compute::Measurement times_;
};

}  // namespace

Action setup_bench(CLI::App& app) {
  auto texts = std::make_shared<BenchOptionTexts>();
  declare_arguments(app, "PROBLEM", texts->problem, "a file, - for standard input, or an example's name (default: worked)");
  declare_device_options(app, texts->computation);
  declare_option(app, "--keep", texts->keep, "all|output", "which results stand whole at the end (all)");
  declare_option(app, "--repeat", texts->repeat, "N", "rounds that count, after two to warm up (15)");
  declare_format(app, texts->format, page_or_json);
  declare_option(app, "--tokens", texts->tokens, "N",
                 "instead of a problem: a layer of random numbers with N tokens (512)");
  declare_option(app, "--d-model", texts->d_model, "N", "its width (768)");
  declare_option(app, "--heads", texts->heads, "N", "its heads (12)");
  declare_allow_outside(app, texts->allow_outside);
  declare_footer(app,
                 "examples:\n"
                 "  mha bench mine.json --dtype f32                        each step of a problem\n"
                 "  mha bench --tokens 512 --d-model 768 --heads 12        a layer as in BERT\n"
                 "  mha bench mine.json --keep output --format json        for a program to read\n");
  return [texts](World& world) {
    Bench(*texts, world).tell_everything();
    return Exit::fine;
  };
}

}  // namespace mha::cli
