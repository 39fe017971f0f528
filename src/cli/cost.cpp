// mha cost: what a layer costs, counted from its shapes.

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/sizes.hpp"
#include "cli/values.hpp"
#include "core/suggest.hpp"
#include "study/cost/cost_page.hpp"

namespace mha::cli {
namespace {

struct CostOptionTexts {
  SizeTexts sizes;
  std::optional<std::string> layers, dtype, against, sweep;
  PageOptionTexts page;
  OutputTexts output;
};

// What a sweep goes through where it names no numbers: powers of two that divide, and the problem's own.
std::vector<Index> usual_steps(std::string_view name, const Problem& problem) {
  const bool groups = name == "kv-heads";
  parse_choice("--sweep", std::string(name), column_of(study::size_names, &study::SizeName::name));
  if (!groups && name != "heads")
    throw Error({"--sweep {0}: through which numbers? Write --sweep {0}=128,256,512",
                 "--sweep {0}：取哪些数？请写 --sweep {0}=128,256,512"},
                name);
  std::vector<Index> steps{groups ? problem.kv_heads : problem.heads};
  const Index whole = groups ? problem.heads : problem.d_model();
  const Index least = groups || problem.kv_heads == problem.heads ? 1 : problem.kv_heads;
  for (Index step = least; step <= whole && steps.size() < 12; step *= 2)
    if (whole % step == 0 && step != steps.front()) steps.push_back(step);
  std::sort(steps.begin(), steps.end());
  return steps;
}

// "heads", "heads=1,2,4", "tokens=128,256"
std::vector<std::string> changes_of_sweep(const std::string& text, const Problem& problem) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  std::vector<std::string> changes;
  if (equals == std::string::npos)
    for (const Index step : usual_steps(name, problem)) changes.push_back(fmt::format("{}={}", name, step));
  else
    for (const std::string_view item : split_at_commas("--sweep", std::string_view(text).substr(equals + 1)))
      changes.push_back(fmt::format("{}={}", name, item));
  return changes;
}

void tell_cost(const CostOptionTexts& texts, World& world) {
  Output output(texts.output, page_or_json, style_from(texts.page, world), world);
  const Language language = language_from(texts.page.lang, world);
  const SizedProblem sized = sized_problem(texts.sizes, false, world);
  const std::string usual = sized.model != nullptr ? "f16" : "f64";
  const std::vector<std::string_view> types = column_of(study::number_types, &study::NumberType::name);
  const study::NumberType& type = study::number_types[parse_choice("--dtype", texts.dtype.value_or(usual), types)];
  std::optional<Index> layers = sized.model != nullptr ? std::optional(sized.model->layers) : std::nullopt;
  if (texts.layers) layers = parse_number("--layers", *texts.layers, 1, 1 << 20);
  if (layers && !sized.problem.layers.empty())
    throw Error({"--layers: this problem has layers of its own ({}); leave it out", "--layers：这道题自己有 {} 层，请去掉"},
                sized.problem.layers.size());
  if (texts.against && texts.sweep)
    throw Error({"--against compares with one other, --sweep with several: leave one out",
                 "--against 与一种对照，--sweep 与多种对照：只能写一个"});
  std::vector<study::OtherCost> others;
  const auto add = [&](const char* option, const std::string& change) {
    others.push_back({change, study::cost_of(study::shaped(sized.problem, parse_sizes(option, change)), type, layers)});
  };
  if (texts.against) add("--against", *texts.against);
  if (texts.sweep)
    for (const std::string& change : changes_of_sweep(*texts.sweep, sized.problem.layer(0))) add("--sweep", change);
  const auto cost = study::cost_of(sized.problem, type, layers);
  output.open();
  if (output.kind() == Format::Kind::json)
    study::write_cost(output.sink(), *cost, sized.model != nullptr ? sized.model->name : "",
                      texts.against ? "against" : "sweep", others);
  else
    output.write(others.empty() ? cost_page(*cost, language) : cost_comparison(*cost, others, language));
  output.finish();
}

}  // namespace

Action setup_cost(CommandLine& app) {
  auto texts = std::make_shared<CostOptionTexts>();
  declare_sizes(app, texts->sizes);
  declare_option(app, "--layers", texts->layers, "N",
                 {"so many layers of this kind (a model's own)", "这样的层有多少（模型用自己的层数）"});
  declare_option(app, "--dtype", texts->dtype, "f64|f32|f16|bf16",
                 {"how large a number is (f64; of a model f16)", "每个数有多大（f64；模型为 f16）"});
  declare_option(app, "--against", texts->against, "LIST",
                 {"beside the same with other sizes, such as heads=1", "与换了大小的同一层对照，例如 heads=1"});
  declare_option(
      app, "--sweep", texts->sweep, "NAME",
      {"heads: a line for each number of heads; or tokens=128,256,512", "heads：每种头数一行；或 tokens=128,256,512"});
  declare_output(app, texts->output, page_or_json);
  declare_page_options(app, texts->page, false);
  declare_examples(
      app, {},
      {{"mha cost --d-model 512 --heads 8 --tokens 128              ", {"with the formulas", "公式和数值"}},
       {"mha cost --model bert-base --tokens 512 --against heads=1  ", {"what one head costs", "一个头的开销"}},
       {"mha cost --model llama-3-8b --tokens 64 --sweep kv-heads   ", {"what groups save", "分组能省多少"}},
       {"mha cost mine.json --format json                           ", {"for a program", "供程序读取"}}});
  return [texts](World& world) { tell_cost(*texts, world); };
}

}  // namespace mha::cli
