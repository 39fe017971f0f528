// Which problem is meant where sizes are enough.
#include "cli/sizes.hpp"

#include "cli/input.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "core/suggest.hpp"

namespace mha::cli {
namespace {

study::Sizes sizes_from(const SizeTexts& texts) {
  study::Sizes sizes;
  for (std::size_t i = 0; i < texts.sizes.size(); ++i) {
    const study::SizeName& name = study::size_names[i];
    if (texts.sizes[i]) sizes.*name.size = parse_number("--" + std::string(name.name), *texts.sizes[i], 1, name.most);
  }
  sizes.bias = texts.bias;
  return sizes;
}

}  // namespace

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

SizedProblem sized_problem(const SizeTexts& texts, bool packed, World& world) {
  const study::Sizes sizes = sizes_from(texts);
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

study::Sizes parse_sizes(std::string_view option, std::string_view text) {
  study::Sizes sizes;
  const std::vector<std::string_view> names = column_of(study::size_names, &study::SizeName::name);
  for (const std::string_view item : split_at_commas(option, text)) {
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos)
      throw Error({"{} '{}': expected a size and its number, such as heads=1", "{} '{}'：应为大小的名称和数，例如 heads=1"},
                  option, text);
    const study::SizeName& name = study::size_names[parse_choice(option, item.substr(0, equals), names)];
    sizes.*name.size = parse_number(fmt::format("{} {}", option, name.name), item.substr(equals + 1), 1, name.most);
  }
  return sizes;
}

}  // namespace mha::cli
