// mha decode: a causal problem token by token, with a cache of keys and values.
#include "study/decode/decode.hpp"
#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/options.hpp"

namespace mha::cli {
namespace {

struct DecodeTexts {
  std::vector<std::string> problem;
  std::optional<std::string> prompt;
  SelectionTexts selection;
  OutputTexts output;
  PageOptionTexts page;
  bool allow_outside = false;
  ComputationOptionTexts computation;
};

void tell_decoding(const DecodeTexts& texts, World& world) {
  Output output(texts.output, page_json_or_steps, style_from(texts.page, world), world);
  const Arithmetic arithmetic = arithmetic_from(texts.computation);
  show::PageOptions page = page_from(texts.page, world, arithmetic.rounding.value_or(show::PageOptions{}.precision));
  const std::string name = one_problem(texts.problem, "causal");
  Problem problem = read_problem(name, world, texts.allow_outside);
  choose_one_item(texts.computation, page, problem);
  problem.batched = false;  // what is left is one item
  choose(texts.selection, {&problem, 1}, page);
  const int tokens = static_cast<int>(problem.queries());
  const int prompt = texts.prompt ? parse_number("--prompt", *texts.prompt, 1, tokens) : 1;
  output.open();
  compute::RunOptions options{
      {}, arithmetic.dtype, arithmetic.rounding, device_from(arithmetic, world), arithmetic.threads};
  const study::Decoding decoding = study::decode(problem, prompt, page.index_base, std::move(options));
  warn_of(problem, decoding.whole, decoding.run, page, world);
  if (output.kind() == Format::Kind::json)
    study::write_decoding(output.sink(), problem, decoding, page.selection);
  else if (output.kind() == Format::Kind::steps)
    study::write_decoding_csv(output.sink(), problem, decoding, page.selection);
  else
    output.write(page, [&](const auto& in) { return study::decoding_page(problem, decoding, in); });
  output.finish();
}

}  // namespace

Action setup_decode(CommandLine& app) {
  auto texts = std::make_shared<DecodeTexts>();
  declare_arguments(app, "PROBLEM", texts->problem,
                    {"a causal problem: a file, - for standard input, or an example's name (default: causal)",
                     "因果题目：文件，- 表示标准输入，或示例的名称（默认 causal）"});
  declare_option(app, "--prompt", texts->prompt, "K",
                 {"so many tokens at once in the first step (1)", "第一步一次计算多少个词元（默认 1）"});
  declare_selection(app, texts->selection);
  declare_output(app, texts->output, page_json_or_steps);
  declare_computation_options(app, texts->computation);
  declare_page_options(app, texts->page);
  declare_allow_outside(app, texts->allow_outside);
  declare_flag(app, "--full", texts->page.full, {"print large matrices whole", "完整打印大矩阵"});
  declare_examples(app, {},
                   {{"mha decode                                 ", {"the example causal", "示例 causal"}},
                    {"mha decode mine.json --prompt 3            ", {"first three at once", "先算三个词元"}},
                    {"mha decode causal --heads 1 --steps weights", {" the rows of weights", " 各行权重"}},
                    {"mha decode mine.json --format json         ", {"for a program", "供程序读取"}}});
  return [texts](World& world) { tell_decoding(*texts, world); };
}

}  // namespace mha::cli
