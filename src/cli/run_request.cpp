// The command line of mha run and mha gradient: their options, declared and read.
#include "cli/run_request.hpp"

#include "cli/commands.hpp"

namespace mha::cli {
namespace {

constexpr std::array run_formats = {Format::Kind::page, Format::Kind::json, Format::Kind::steps, Format::Kind::arrays};

// --format goes before the ending, but arrays are what no --format names.
const Format& format_of_export(const std::string& path, const Format& otherwise, bool is_named) {
  const Format* format = format_of_file(path, run_formats);
  if (format != nullptr && is_named && format->kind == Format::Kind::arrays)
    throw Error({"-o '{}' is a file of arrays, and --format {} is another; leave --format out",
                 "-o '{}' 是数组文件，而 --format {} 是另一种格式；请去掉 --format"},
                path, otherwise.name);
  return format_of_output(path, run_formats, otherwise, is_named, true);
}

// "dA,dZ", "dS-dQ" in either order, "dW_Q", "parameters". The forward steps stand on the page where they are asked for, and
// in every file.
void choose_gradients(const RunOptionTexts& texts, Selection& selection) {
  selection.steps.assign(step_count, texts.with_forward);
  if (!texts.selection.steps) return;
  constexpr std::string_view parameters = "parameters";
  std::string names;
  selection.parameters = false;
  for (const std::string_view item : split_at_commas("--steps", *texts.selection.steps)) {
    const std::size_t before = selection.of_parameters.size();
    for (const StepName& row : row_names)
      if (is_of_parameter(row.step) && (item == parameters || item == row.id || item == row.symbol))
        selection.of_parameters.push_back(row.symbol), selection.parameters = true;
    if (selection.of_parameters.size() > before) continue;
    const std::size_t dash = item.find('-');
    const auto plain = [](std::string_view name) { return std::string(name.substr(name.starts_with('d') ? 1 : 0)); };
    std::string first = plain(item.substr(0, dash)), last = dash < item.size() ? plain(item.substr(dash + 1)) : "";
    if (!last.empty() && parse_steps(last) > parse_steps(first)) first.swap(last);  // as on the way back
    names += (names.empty() ? "" : ",") + first + (dash < item.size() ? "-" + last : "");
  }
  selection.gradients = names.empty() ? std::vector<bool>(step_count, false) : parse_steps(names);
}

show::PageOptions page_of_run(const RunOptionTexts& texts, const World& world, const Arithmetic& arithmetic) {
  show::PageOptions page = page_from(texts.page, world, arithmetic.rounding.value_or(show::PageOptions{}.precision));
  if (texts.gradient) choose_gradients(texts, page.selection);
  if (texts.work)
    page.work = static_cast<show::PageOptions::Work>(parse_choice("--work", *texts.work, {"first", "all", "none"}));
  return page;
}

RunRequest run_request_from(const RunOptionTexts& texts, const World& world) {
  RunRequest request;
  request.problem = one_problem(texts.problem);
  request.format = &format_named(texts.format, run_formats);
  for (const std::string& path : texts.output)
    request.outputs.emplace_back(path, &format_of_export(path, *request.format, texts.format.has_value()));
  request.arithmetic = arithmetic_from(texts.computation);
  if (texts.against) {
    std::vector<std::string_view> known{"cpu"};
    if (texts.gradient) known.emplace_back("difference");
    request.against_cpu = parse_choice("--against", *texts.against, known) == 0;
    request.against_difference = !request.against_cpu;
  }
  if (request.against_difference && (request.arithmetic.rounding || request.arithmetic.dtype == Dtype::f32))
    throw Error({"--against difference needs every digit; leave out --round and --dtype f32",
                 "--against difference 需要每一位数字；请去掉 --round 和 --dtype f32"});
  if (texts.descend) request.rate = parse_tolerance("--descend", *texts.descend);
  if (texts.times) request.times = parse_number("--times", *texts.times, 1, 100000);
  if (!texts.descend && (texts.times || texts.next))
    throw Error({"{} goes with --descend, which says how far a step goes: --descend 0.1",
                 "{} 与 --descend 同用，后者给出步长：--descend 0.1"},
                texts.times ? "--times" : "--next");
  if (request.against_cpu && request.arithmetic.rounding)
    throw Error({"--against shows what the arithmetic of a device does; leave out --round, which changes every step",
                 "--against 显示设备的算术误差；请去掉会改变每一步的 --round"});
  request.page = page_of_run(texts, world, request.arithmetic);
  request.style = style_from(texts.page, world);
  if (texts.view) request.style.lines = parse_choice("--view", *texts.view, {"map", "lines"}) == 1;
  if (texts.columns) request.style.columns = parse_number("--columns", *texts.columns, 1, 100);
  std::vector<const Format*> written;
  for (const auto& output : request.outputs) written.push_back(output.second);
  if (written.empty() || texts.against) written.push_back(request.format);
  if (texts.next) written.push_back(&format_named({}, page_only));  // which tells of the descent as well
  refuse_unread(written, world);
  return request;
}

void declare_run_options(CommandLine& app, RunOptionTexts& texts) {
  declare_arguments(app, "PROBLEM", texts.problem,
                    {"a file, - for standard input, or an example's name (default: worked)",
                     "文件，- 表示标准输入，或示例的名称（默认 worked）"});
  declare_repeatable(
      app, "-o,--output", texts.output, "FILE",
      say({"write to this file (repeatable); its ending says what: {}", "写到这个文件（可重复）；扩展名决定写什么：{}"},
          endings_text(run_formats)));
  declare_selection(app, texts.selection, texts.gradient);
  declare_format(app, texts.format, run_formats);
  declare_option(app, "--work", texts.work, "first|all|none",
                 {"which entries are spelled out (first)", "哪些元素写出算式（默认 first）"});
  declare_computation_options(app, texts.computation);
  declare_option(app, "--against", texts.against, texts.gradient ? "cpu|difference" : "cpu",
                 {"print how far each step is from the CPU in float64, and what the arithmetic allows, instead of the page",
                  "不打印页面，而打印每一步与 CPU 双精度结果的差，以及算术允许的差"});
  declare_page_options(app, texts.page);
  declare_allow_outside(app, texts.allow_outside);
  declare_flag(app, "--full", texts.page.full, {"print large matrices whole", "完整打印大矩阵"});
  declare_option(app, "--view", texts.view, "map|lines",
                 {"of an .svg: a map of the weights, or lines from queries to keys (map)",
                  "用于 .svg：权重的热图，或从查询到键的连线（map）"});
  declare_option(app, "--columns", texts.columns, "N", {"of an .svg: pictures in a row", "用于 .svg：一行放几幅图"});
  declare_flag(app, "--with-weights", texts.with_weights,
               {"put the weights and masks into the files as well", "把权重矩阵和掩码也写入文件"});
  declare_pause(app, texts.pause);
  declare_flag(app, "-q,--quiet", texts.quiet, {"no warnings", "不显示警告"});
}

Action run_action(std::shared_ptr<RunOptionTexts> texts) {
  return [texts = std::move(texts)](World& world) {
    if (texts->pause) expect_terminal(world);
    return compute_and_tell(*texts, run_request_from(*texts, world), world);
  };
}

}  // namespace

bool RunRequest::writes(bool pages) const {
  if (outputs.empty()) return (format->kind == Format::Kind::page) == pages;
  return std::any_of(outputs.begin(), outputs.end(),
                     [&](const auto& output) { return (output.second->kind == Format::Kind::page) == pages; });
}

Action setup_run(CommandLine& app) {
  auto texts = std::make_shared<RunOptionTexts>();
  declare_run_options(app, *texts);
  declare_examples(
      app, {},
      {{"mha run                                    ", {"the worked 3×4 example", "3×4 手算示例"}},
       {"mha run mine.json --round 3                ", {"each step rounded, as with a pencil", "每步四舍五入，如同笔算"}},
       {"mha run mine.json -o trace.json            ", {"every step as JSON", "每一步写成 JSON"}},
       {"mha run mine.json -o page.html -o maps.svg ", {"for a browser and for slides", "用于浏览器和幻灯片"}},
       {"mha run mine.json --steps output -o y.npy  ", {"one matrix for NumPy", "给 NumPy 的一个矩阵"}},
       {"mha run packed --steps packed,Q --heads 2  ", {"only these steps, only head 2", "只看这些步骤和头 2"}},
       {"mha run --device gpu --dtype f32 --against cpu  ", {"each step held against the CPU", "每一步与 CPU 对照"}},
       {"mha run bag_zh --lang zh --steps weights   ", {"in Chinese", "用中文"}},
       {"cat mine.json | mha run -                  ", {"from standard input", "从标准输入"}}});
  return run_action(std::move(texts));
}

Action setup_gradient(CommandLine& app) {
  auto texts = std::make_shared<RunOptionTexts>();
  texts->gradient = true;
  declare_run_options(app, *texts);
  declare_loss(app, texts->loss);
  declare_flag(app, "--with-forward", texts->with_forward, {"show the forward steps before them", "先显示前向的各步"});
  declare_option(app, "--descend", texts->descend, "RATE",
                 {"take a step of gradient descent: each parameter less RATE times its gradient, and tell the loss",
                  "做一步梯度下降：每个参数减去 RATE 乘以它的梯度，并给出损失"});
  declare_option(app, "--times", texts->times, "N",
                 {"with --descend: so many steps, the loss after each", "与 --descend 同用：做 N 步，列出每步之后的损失"});
  declare_option(app, "--next", texts->next, "FILE.json",
                 {"with --descend: write the problem as it is then", "与 --descend 同用：写出更新之后的题目"});
  declare_examples(
      app,
      {"Every value's gradient of a loss, step by step backwards. The loss is the problem's own, or that of --loss.",
       "从后往前逐步计算损失对每个值的梯度。损失由题目给出，或由 --loss 给出。"},
      {{"mha gradient --loss sum                      ", {"the worked 3×4 example", "3×4 手算示例"}},
       {"mha gradient mine.json --steps dA,dZ         ", {"only these", "只看这些"}},
       {"mha gradient mine.json --descend 0.1 --times 9", {"watch the loss fall", "看损失下降"}},
       {"mha gradient mine.json --against difference  ", {"held against central differences", "与中心差分对照"}},
       {"mha gradient mine.json -o gradients.json     ", {"all of them as JSON", "全部写成 JSON"}}});
  return run_action(std::move(texts));
}

}  // namespace mha::cli
