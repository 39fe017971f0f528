// mha explain: how any entry of any step comes about.

#include "study/explain/explain.hpp"
#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/options.hpp"
#include "compute/engine.hpp"
#include "core/gradient.hpp"
#include "core/suggest.hpp"
#include "io/problem/answer.hpp"

namespace mha::cli {
namespace {

constexpr int deepest = 20;  // more than any plan has steps behind one another

// As written on the command line.
struct ExplainTexts {
  std::vector<std::string> words;  // the problem, if it is named, and the entries
  std::optional<std::string> depth, loss;
  OutputTexts output;
  PageOptionTexts page;
  bool allow_outside = false;
  ComputationOptionTexts computation;
};

struct ProblemAndEntries {
  std::string problem = "worked";
  std::vector<std::string> entries;
};

// What is no entry is the problem.
ProblemAndEntries told_apart(const std::vector<std::string>& words) {
  ProblemAndEntries result;
  std::vector<std::string> problems;
  for (const std::string& word : words) (study::looks_like_entry(word) ? result.entries : problems).push_back(word);
  for (const std::string& word : problems)
    if (problems.size() > 1 || result.entries.empty())
      if (io::matrix_name(word))
        throw Error(
            {"'{0}' is a whole matrix; write an entry, such as {0}[1,1]", "'{0}' 是整个矩阵；请写一个元素，例如 {0}[1,1]"},
            word);
  if (problems.size() > 1)
    throw Error({"one problem at a time, but '{}' were given; an entry is written such as Y[1,1]",
                 "一次只能有一道题目，而这里给出了 '{}'；元素写作 Y[1,1] 这样"},
                listed(problems, {"' and '", "' 和 '"}));
  if (result.entries.empty())
    throw Error({"which entry? Write it such as 'Y[1,1]', or 'A1[2,*]' for a row",
                 "讲解哪个元素？请写成 'Y[1,1]' 这样，整行写 'A1[2,*]'"});
  if (!problems.empty()) result.problem = problems.front();
  return result;
}

study::Depth parse_depth(const std::string& text) {
  if (text == "all") return std::nullopt;
  return parse_number("--depth", text, 1, deepest);
}

// The steps behind the entries, computed.
Trace trace_of(const Plan& plan, const std::vector<study::ExplainedRange>& ranges, study::Depth depth,
               const Arithmetic& arithmetic, const World& world) {
  std::vector<bool> keep(plan.values.size(), false);
  for (const study::ExplainedRange& explained : ranges) {
    const std::vector<bool> behind = study::values_behind(plan, explained.range, depth);
    for (std::size_t id = 0; id < keep.size(); ++id) keep[id] = keep[id] || behind[id];
  }
  return compute::run(
      plan, {std::move(keep), arithmetic.dtype, arithmetic.rounding, device_from(arithmetic, world), arithmetic.threads});
}

void write_explained_json(const show::Scenes& layers, const std::vector<study::ExplainedRange>& ranges, io::Sink& sink) {
  std::vector<study::Explanation> all;
  for (const study::ExplainedRange& explained : ranges)
    all.insert(all.end(), explained.entries.begin(), explained.entries.end());
  study::write_explanations(sink, layers, all);
}

void explain_entries(const ExplainTexts& texts, World& world) {
  const auto [name, entries] = told_apart(texts.words);
  const study::Depth depth = texts.depth ? parse_depth(*texts.depth) : 1;
  const Arithmetic arithmetic = arithmetic_from(texts.computation);
  show::PageOptions page = page_from(texts.page, world, arithmetic.rounding.value_or(show::PageOptions{}.precision));
  Output output(texts.output, page_or_json, style_from(texts.page, world), world);
  const bool json = output.kind() == Format::Kind::json;
  Problem problem = read_problem(name, world, texts.allow_outside);
  const bool backward = std::any_of(entries.begin(), entries.end(), study::names_gradient);
  if (backward) problem.loss = loss_from(texts.loss, problem, world);
  if (texts.loss && !backward)
    throw Error({"--loss is for entries of the backward pass, such as dW_Q1[1,2], and none is asked for; leave it out",
                 "--loss 用于反向传播的元素，例如 dW_Q1[1,2]，而这里没有要这样的元素；请去掉它"});
  choose_one_item(texts.computation, page, problem);
  Plan plan = make_plan(problem);
  if (backward) plan = with_gradient(std::move(plan), *problem.loss);
  std::vector<study::ExplainedRange> ranges;
  for (const std::string& entry : entries)
    ranges.push_back({study::parse_entry(entry, problem, plan, page.index_base), {}});
  output.open();
  const Trace trace = trace_of(plan, ranges, depth, arithmetic, world);
  warn_of(problem, plan, trace, page, world);
  if (json) page.index_base = 1;  // as in all files
  const auto tell = [&](const show::PageOptions& options) {
    const show::Scenes layers = show::scenes_of(problem, plan, trace, options);
    for (study::ExplainedRange& explained : ranges) explained.entries = study::explain(layers, explained.range, depth);
    if (!json) return describe(layers, ranges);
    write_explained_json(layers, ranges, output.sink());
    return show::Document{};
  };
  json ? void(tell(page)) : output.write(page, tell);
  output.finish();
}

}  // namespace

Action setup_explain(CommandLine& app) {
  auto texts = std::make_shared<ExplainTexts>();
  declare_arguments(app, "ENTRY", texts->words,
                    {"entries such as Y[2,1], A1[3,2], packed.Q[1,5]; * is all of a row or column. Before them the "
                     "problem: a file, - for standard input, or an example's name (default: worked)",
                     "元素，例如 Y[2,1]、A1[3,2]、packed.Q[1,5]；* 表示整行或整列。前面可以写题目：文件，- "
                     "表示标准输入，或示例的名称（默认 worked）"});
  declare_option(app, "--depth", texts->depth, "N|all",
                 {"steps to go back: 1 the entry alone, all down to X and the weights (1)",
                  "往回讲几步：1 只讲元素本身，all 一直到 X 和权重矩阵（默认 1）"});
  declare_loss(app, texts->loss);
  declare_output(app, texts->output, page_or_json);
  declare_computation_options(app, texts->computation);
  declare_page_options(app, texts->page);
  declare_allow_outside(app, texts->allow_outside);
  declare_examples(
      app, {},
      {{"mha explain 'Y[1,1]'                       ", {"an entry of the worked 3×4 example", "3×4 手算示例的一个元素"}},
       {"mha explain mine.json 'scores2[1,1]' 'A2[1,1]'"},
       {"mha explain mine.json 'A1[2,*]'            ", {"a row", "一行"}},
       {"mha explain 'Y[1,1]' --depth all           ", {"down to X and the weights", "一直讲到 X 和权重矩阵"}},
       {"mha explain 'dW_Q1[1,2]' --loss sum       ", {"an entry of the backward pass", "反向传播的一个元素"}},
       {"mha explain 'head1[2,2]' --round 3         ", {"each step rounded, as with a pencil", "每步四舍五入，如同笔算"}}});
  return [texts](World& world) { explain_entries(*texts, world); };
}

}  // namespace mha::cli
