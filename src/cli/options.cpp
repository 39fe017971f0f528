// The options that several commands share, and the formats that --format and the ending of -o name.
#include "cli/options.hpp"

#include <fmt/ranges.h>

#include "cli/command_line.hpp"
#include "core/error.hpp"
#include "core/suggest.hpp"
#include "io/files/paths.hpp"
#include "io/problem/problem_reader.hpp"

namespace mha::cli {
namespace {

std::vector<const Format*> offered(Kinds kinds) {
  std::vector<const Format*> result;
  for (const Format& format : formats)
    if (std::find(kinds.begin(), kinds.end(), format.kind) != kinds.end()) result.push_back(&format);
  return result;
}

Saying endings_of(const std::vector<const Format*>& rows) {
  Saying list;
  for (const Format* format : rows) {
    if (format->ending.empty()) continue;
    const Saying one = say({"{} ({})", "{}（{}）"}, format->ending, format->what);
    list = list.en.empty() ? one : say({"{}, {}", "{}、{}"}, list, one);
  }
  return list;
}

std::vector<const Format*> printable(Kinds kinds) {
  std::vector<const Format*> result = offered(kinds);
  std::erase_if(result, [](const Format* format) { return format->kind == Format::Kind::arrays; });
  return result;
}

}  // namespace

// CLI11 takes "[a,b]" for a list where several values may stand. Behind this sign it is a word like any other.
constexpr char no_list = '\x1f';

void keep_as_written(std::string& argument) {
  if (argument.starts_with('[') && argument.ends_with(']')) argument += no_list;
}

std::string as_written(std::string argument) {
  if (argument.ends_with(no_list)) argument.pop_back();
  return argument;
}

void declare_option(CommandLine& app, const char* name, std::optional<std::string>& value, const std::string& type,
                    const Saying& help) {
  app.add_option(name, value, help.in(app.language))->type_name(type)->transform(as_written);
}

void declare_repeatable(CommandLine& app, const char* name, std::vector<std::string>& values, const char* type,
                        const Saying& help) {
  CLI::Option* option = app.add_option(name, values, help.in(app.language))->type_name(type)->expected(1);
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->transform(as_written);
}

void declare_flag(CommandLine& app, const char* name, bool& flag, const Saying& help) {
  app.add_flag(name, flag, help.in(app.language))->disable_flag_override();
}

void declare_argument(CommandLine& app, const char* name, std::optional<std::string>& value, const Saying& help) {
  app.add_option(name, value, help.in(app.language))->transform(as_written);
}

void declare_arguments(CommandLine& app, const char* name, std::vector<std::string>& values, const Saying& help) {
  app.add_option(name, values, help.in(app.language))->transform(as_written);
}

void declare_examples(CommandLine& app, const Text& remarks, const std::vector<Example>& examples) {
  std::string text(remarks.in(app.language));
  text += say(app.language, {"{}examples:\n", "{}示例：\n"}, text.empty() ? "" : "\n\n");
  for (const Example& example : examples) text += fmt::format("  {}{}\n", example.command, example.what.in(app.language));
  app.footer(text);
}

void declare_language(CommandLine& app, std::optional<std::string>& text, const Text& what, const char* choice) {
  declare_option(app, "--lang", text, choice,
                 say({"language of the {} (from the locale)", "{}的语言（默认按区域设置）"}, what));
}

show::PageOptions language_from(const std::optional<std::string>& text, const World& world) {
  show::PageOptions page;
  page.language = world.language;
  page.both_languages = text && parse_choice("--lang", *text, {"en", "zh", "both"}) == 2;
  return page;
}

void declare_allow_outside(CommandLine& app, bool& allow_outside) {
  declare_flag(app, "--allow-outside", allow_outside,
               {"let the problem point to files outside its folder", "允许题目引用自己文件夹之外的文件"});
}

void declare_loss(CommandLine& app, std::optional<std::string>& text) {
  declare_option(app, "--loss", text, "LOSS",
                 {"sum, or mse, half_squares, cross_entropy, gradient with :FILE, a JSON or .npy matrix (the problem's)",
                  "sum，或 mse、half_squares、cross_entropy、gradient 加 :FILE（JSON 或 .npy 矩阵）（默认用题目的 loss）"});
}

Loss loss_from(const std::optional<std::string>& text, const Problem& problem, World& world) {
  if (text) world.inputs.push_back(text->substr(text->find(':') + 1));
  if (text) return io::loss_named(*text, problem);
  if (problem.loss) return *problem.loss;
  throw refusal(
      problem, "loss",
      {"a gradient is that of a loss, and the problem has none; write --loss sum, or --loss half_squares:FILE with "
       "what the result should be",
       "梯度是损失的梯度，而题目没有 loss；请写 --loss sum，或 --loss half_squares:FILE，文件中写结果应有的值"});
}

void declare_format(CommandLine& app, std::optional<std::string>& text, Kinds kinds) {
  declare_option(app, "--format", text, format_names(kinds, "|"), {"what to print (text)", "打印什么（默认 text）"});
}

void declare_page_options(CommandLine& app, PageOptionTexts& texts, bool numbers) {
  if (numbers)
    declare_option(app, "--precision", texts.precision, "N", {"decimals on the page (3)", "页面上的小数位数（默认 3）"});
  declare_language(app, texts.lang, {"page", "页面"});
  if (numbers)
    declare_option(app, "--index-base", texts.index_base, "0|1",
                   {"count heads, rows and columns from 0 or 1 (1)", "头、行和列从 0 还是从 1 开始编号（默认 1）"});
  declare_option(app, "--width", texts.width, "N",
                 {"columns of the page (the terminal's, else 80)", "页面的宽度，以列计（默认与终端相同，否则 80）"});
  declare_option(app, "--color", texts.color, "auto|always|never",
                 {"colour (auto: on a terminal)", "颜色（auto：在终端上才用）"});
  declare_flag(app, "--ascii", texts.ascii,
               {"draw with ASCII only; titles and labels stay as they are", "只用 ASCII 绘制；标题和词元名称不变"});
  declare_option(app, "--math", texts.math, "tex|none",
                 {"of a .md: formulas and matrices for TeX, or boxes of text (tex)",
                  "用于 .md：公式和矩阵用 TeX，或用文本框（默认 tex）"});
  declare_flag(app, "--fragment", texts.fragment,
               {"of a .tex: without a head, for \\input into a document of your own",
                "用于 .tex：不带导言区，供自己的文档 \\input"});
}

show::PageOptions page_from(const PageOptionTexts& texts, const World& world, int decimals) {
  show::PageOptions page = language_from(texts.lang, world);
  page.precision = texts.precision ? parse_number("--precision", *texts.precision, 0, 17) : decimals;
  page.full = texts.full;
  if (texts.index_base) page.index_base = parse_number("--index-base", *texts.index_base, 0, 1);
  return page;
}

show::TextStyle style_from(const PageOptionTexts& texts, const World& world) {
  show::TextStyle style;
  style.width = texts.width ? parse_number("--width", *texts.width, 40, 10000) : world.terminal_width;
  const std::size_t when = texts.color ? parse_choice("--color", *texts.color, {"auto", "always", "never"}) : 0;
  style.color = when == 0 ? wants_color(world) : when == 1;
  style.ascii = texts.ascii;
  style.math = !texts.math || parse_choice("--math", *texts.math, {"tex", "none"}) == 0;
  style.fragment = texts.fragment;
  return style;
}

std::vector<Index> parse_layers(const std::string& text, int layers, const show::PageOptions& page) {
  return parse_numbers("--layers", text, layers, static_cast<int>(page.index_base), {"layer", "层"});
}

void declare_selection(CommandLine& app, SelectionTexts& texts, bool of_gradients) {
  declare_option(app, "--steps", texts.steps, "LIST",
                 of_gradients ? Text{"show and export only these gradients, such as dA,dZ or dS-dX or parameters",
                                     "只显示和导出这些梯度，例如 dA,dZ、dS-dX 或 parameters"}
                              : Text{"show and export only these steps, such as scores,weights or Q-V or packed",
                                     "只显示和导出这些步骤，例如 scores,weights、Q-V 或 packed"});
  declare_option(app, "--heads", texts.heads, "LIST",
                 {"show and export only these heads, such as 1,3-5", "只显示和导出这些头，例如 1,3-5"});
  declare_option(
      app, "--layers", texts.layers, "LIST",
      {"of a stack: show and export only these layers, such as 2 or 1-3", "多层时：只显示和导出这些层，例如 2 或 1-3"});
}

void choose(const SelectionTexts& texts, std::span<const Problem> problems, show::PageOptions& page) {
  Index heads = 0;
  int layers = 0;
  for (const Problem& problem : problems)
    heads = std::max(heads, problem.most_heads()), layers = std::max(layers, problem.layer_count());
  if (texts.steps) page.selection.steps = parse_steps(*texts.steps);
  if (texts.layers) page.selection.layers = parse_layers(*texts.layers, layers, page);
  if (texts.heads)
    page.selection.heads = parse_numbers("--heads", *texts.heads, heads, static_cast<int>(page.index_base), {"head", "头"});
}

void declare_threads(CommandLine& app, std::optional<std::string>& text) {
  declare_option(app, "--threads", text, "N",
                 {"threads (one for each core); the results are the same for every number",
                  "线程数（默认每个核一个）；无论几个，结果都相同"});
}

int threads_from(const std::optional<std::string>& text) {
  return text ? parse_number("--threads", *text, 1, 1024) : 0;
}

void declare_computation_options(CommandLine& app, ComputationOptionTexts& texts) {
  declare_option(app, "--round", texts.round, "N",
                 {"round each step's result to N decimals before the next step uses it",
                  "每步的结果四舍五入到 N 位小数，再用于下一步"});
  declare_option(app, "--batch", texts.batch, "N", {"only this item of the batch", "只看批次中的这个样本"});
  declare_device_options(app, texts);
}

void declare_device_options(CommandLine& app, ComputationOptionTexts& texts) {
  declare_option(app, "--dtype", texts.dtype, "f64|f32", {"arithmetic (f64)", "算术（默认 f64）"});
  declare_option(
      app, "--device", texts.device, "NAME",
      {"where: cpu, gpu, opencl, opencl:N or auto (cpu)", "在哪里计算：cpu、gpu、opencl、opencl:N 或 auto（默认 cpu）"});
  declare_threads(app, texts.threads);
}

Arithmetic arithmetic_from(const ComputationOptionTexts& texts) {
  Arithmetic result;
  if (texts.round) result.rounding = parse_number("--round", *texts.round, 0, 12);
  if (texts.dtype) result.dtype = parse_choice("--dtype", *texts.dtype, {"f64", "f32"}) == 1 ? Dtype::f32 : Dtype::f64;
  if (texts.device) result.device = compute::parse_device(*texts.device);
  result.threads = threads_from(texts.threads);
  return result;
}

compute::Device device_from(const Arithmetic& arithmetic, const World& world) {
  compute::Device device = compute::find_device(arithmetic.device);
  device.cache_folder = cache_folder(world);
  return device;
}

void choose_item(const ComputationOptionTexts& texts, show::PageOptions& page, Problem& problem) {
  if (!texts.batch) return;
  if (!problem.batched)
    throw refusal(problem, "X",
                  {"--batch: this problem has no batch; its X is one matrix", "--batch：这道题没有批次，X 是一个矩阵"});
  const int base = static_cast<int>(page.index_base);
  const int last = base + static_cast<int>(problem.batch()) - 1;
  const Index item = parse_number("--batch", *texts.batch, base, last) - base;
  page.chosen_item = {item, problem.batch()};
  problem = select_item(problem, item);
}

void choose_one_item(const ComputationOptionTexts& texts, show::PageOptions& page, Problem& problem) {
  choose_item(texts, page, problem);
  if (problem.batch() > 1)
    throw refusal(
        problem, "X",
        {"this problem is a batch of {}; choose an item with --batch", "这道题是一批 {} 个样本；请用 --batch 选一个"},
        problem.batch());
}

std::string format_names(Kinds kinds, std::string_view separator) {
  return fmt::format("{}", fmt::join(column_of(printable(kinds), &Format::name), separator));
}

const Format& format_named(const std::optional<std::string>& name, Kinds kinds) {
  const std::vector<const Format*> rows = printable(kinds);
  return name ? *rows[parse_choice("--format", *name, column_of(rows, &Format::name))] : *rows.front();
}

const Format* format_of_file(std::string_view path, Kinds kinds) {
  for (const Format* format : offered(kinds))
    if (!format->ending.empty() && path.size() > format->ending.size() && path.ends_with(format->ending)) return format;
  return nullptr;
}

const Format& format_of_output(const std::string& path, Kinds kinds, const Format& otherwise, bool is_named,
                               bool needs_ending) {
  const Format* format = format_of_file(path, kinds);
  if (is_named) return otherwise;
  if (format != nullptr) return *format;
  const auto status = io::status_of(path);
  if (path.starts_with("/dev/") || (status && !S_ISREG(status->st_mode) && !S_ISDIR(status->st_mode))) return otherwise;
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  if (!needs_ending && name.find('.', 1) >= name.size() - 1) return otherwise;
  throw Error({"-o '{}': the ending says what to write; known are {}", "-o '{}'：由扩展名决定写什么；可用的有 {}"}, path,
              endings_text(kinds));
}

Saying endings_text(Kinds kinds) {
  return endings_of(offered(kinds));
}

void refuse_unread(std::span<const Format* const> written, const World& world) {
  for (const std::string& option : world.given) {
    const auto reads = [&](const Format* format) {
      return std::find(format->reads.begin(), format->reads.end(), option) != format->reads.end();
    };
    std::vector<const Format*> readers;
    for (const Format& format : formats)
      if (reads(&format)) readers.push_back(&format);
    if (!readers.empty() && std::none_of(written.begin(), written.end(), reads))
      throw Error({"{} means nothing for what is written here; leave it out, or write one of {}",
                   "{} 对这里所写的内容不起作用；请去掉它，或改写这些格式之一：{}"},
                  option, endings_of(readers));
  }
}

show::Document page_in(const Format& format, show::PageOptions options, const Describe& describe) {
  options.sources = format.sources;
  show::Document page = describe(options);
  if (!options.both_languages) return page;
  options.language = options.language == Language::en ? Language::zh : Language::en;
  page.translation.push_back(describe(options));
  return page;
}

}  // namespace mha::cli
