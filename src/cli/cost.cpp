// mha cost and mha shapes: what a layer costs, counted from its shapes; and the page of `mha run` with shapes alone, as
// PyTorch code sees them too. Sizes are enough: those of a file or an example, of a published model, or numbers.
#include "study/cost/cost.hpp"
#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/options.hpp"
#include "core/suggest.hpp"

namespace mha::cli {
namespace {

// As written on the command line.
struct SizeTexts {
  std::vector<std::string> problem;
  std::optional<std::string> model;
  std::array<std::optional<std::string>, study::size_names.size()> sizes;
  bool bias = false, allow_outside = false;
};

study::Sizes sizes_from(const SizeTexts& texts) {
  study::Sizes sizes;
  for (std::size_t i = 0; i < texts.sizes.size(); ++i) {
    const study::SizeName& name = study::size_names[i];
    if (texts.sizes[i]) sizes.*name.size = parse_number("--" + std::string(name.name), *texts.sizes[i], 1, name.most);
  }
  sizes.bias = texts.bias;
  return sizes;
}

void declare_sizes(CommandLine& app, SizeTexts& texts) {
  declare_arguments(app, "PROBLEM", texts.problem,
                    {"a file, - for standard input, or an example's name (default: worked)",
                     "文件、-（标准输入）或内置示例的名称（默认 worked）"});
  declare_option(
      app, "--model", texts.model, "NAME",
      {"a layer of a published model instead; `mha models` lists them", "改用已发表模型的一层；`mha models` 列出它们"});
  for (std::size_t i = 0; i < texts.sizes.size(); ++i) {
    const study::SizeName& name = study::size_names[i];
    declare_option(app, ("--" + std::string(name.name)).c_str(), texts.sizes[i], "N", name.help);
  }
  declare_flag(app, "--bias", texts.bias, {"with biases everywhere", "处处加上偏置"});
  declare_allow_outside(app, texts.allow_outside);
}

// "heads=1,d-k=64" as sizes.
study::Sizes parse_sizes(std::string_view option, std::string_view text) {
  study::Sizes sizes;
  const std::vector<std::string_view> names = column_of(study::size_names, &study::SizeName::name);
  for (const std::string_view item : split_at_commas(option, text)) {
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos)
      throw Error({"{} '{}': expected a size and its number, such as heads=1", "{} '{}'：应为大小的名称和数，例如 heads=1"},
                  option, text);
    const study::SizeName& name = study::size_names[parse_choice(option, item.substr(0, equals), names)];
    if (sizes.*name.size) throw Error({"{} '{}': {} stands there twice", "{} '{}'：{} 写了两次"}, option, text, name.name);
    sizes.*name.size = parse_number(fmt::format("{} {}", option, name.name), item.substr(equals + 1), 1, name.most);
  }
  return sizes;
}

struct SizedProblem {
  Problem problem;
  const study::PublishedModel* model = nullptr;
};

// `packed`: where sizes or a model say nothing, all heads in one matrix. Without any of them the worked example. A sweep
// through numbers of tokens names the first one.
SizedProblem sized_problem(const SizeTexts& texts, bool packed, World& world, const std::string& sweep = "") {
  study::Sizes sizes = sizes_from(texts);
  if (!sizes.tokens && texts.problem.empty() && (texts.model || sizes.any()) && sweep.starts_with("tokens="))
    sizes.tokens = parse_sizes("--sweep", std::string_view(sweep).substr(0, sweep.find(','))).tokens;
  const std::string name = one_problem(texts.problem);
  if (texts.model && !texts.problem.empty())
    throw Error({"--model {} and the problem '{}': leave one of them out", "--model {} 和题目 '{}' 只能写一个"},
                *texts.model, texts.problem[0]);
  if (texts.model) {
    const study::PublishedModel& model =
        study::models[parse_choice("--model", *texts.model, column_of(study::models, &study::PublishedModel::name))];
    if (!sizes.tokens)
      throw Error({"--model {}: for how many tokens? Add --tokens N", "--model {}：多少个词元？请加上 --tokens N"},
                  *texts.model);
    return {study::problem_of(model, packed, sizes), &model};
  }
  if (texts.problem.empty() && sizes.any()) {
    if (!sizes.tokens || !sizes.d_model || !sizes.heads)
      throw Error({"sizes make a layer of their own from --d-model, --heads and --tokens; or name a PROBLEM or a --model",
                   "用大小组成一层需要 --d-model、--heads 和 --tokens；也可以写一道题目或 --model"});
    return {study::shaped(study::blank_problem(packed), sizes)};
  }
  Problem problem = read_problem(name, world, texts.allow_outside);
  return {sizes.any() ? study::shaped(problem, sizes) : std::move(problem)};
}

struct CostOptionTexts {
  SizeTexts sizes;
  std::optional<std::string> layers, dtype, against, sweep;
  PageOptionTexts page;
  OutputTexts output;
  bool labels = false;  // of mha shapes
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
  const show::PageOptions page = page_from(texts.page, world);
  const SizedProblem sized = sized_problem(texts.sizes, false, world, texts.sweep.value_or(""));
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
    output.write(page, [&](const auto& options) {
      return others.empty() ? cost_page(*cost, options.language) : cost_comparison(*cost, others, options.language);
    });
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

Action setup_shapes(CommandLine& app) {
  auto options = std::make_shared<CostOptionTexts>();
  declare_sizes(app, options->sizes);
  declare_flag(app, "--labels", options->labels,
               {"names for entries, which show where reshape and transpose put each",
                "给元素起名，看 reshape 和 transpose 把各个元素放到哪里"});
  declare_output(app, options->output, page_only);
  declare_page_options(app, options->page, false);
  declare_examples(
      app, {},
      {{"mha shapes --d-model 8 --heads 2 --tokens 3 --batch 2  ", {"every step", "每一步"}},
       {"mha shapes --d-model 8 --heads 2 --tokens 3 --labels   ", {"where each entry goes", "各元素到哪里去"}},
       {"mha shapes --model llama-3-8b --tokens 4096            ", {"of a published model", "已发表模型的"}}});
  return [options](World& world) {
    const show::PageOptions page = page_from(options->page, world);
    Output output(options->output, page_only, style_from(options->page, world), world);
    const Problem problem = sized_problem(options->sizes, true, world).problem;
    output.open();
    output.write(page, [&](const auto& in) { return study::shapes_page(problem, options->labels, in.language); });
    output.finish();
  };
}

}  // namespace mha::cli
