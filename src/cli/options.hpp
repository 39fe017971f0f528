// How a command says what it takes: the formats in which commands tell what they found, the options that several commands
// share, and how values are read. Everything arrives as it is written and is read strictly: CLI11 would take `nan`, octal
// numbers and empty lists.
#pragma once

#include <span>

#include "cli/world.hpp"
#include "compute/device.hpp"
#include "core/trace.hpp"
#include "io/arrays/trace_export.hpp"
#include "show/notebook/notebook_writer.hpp"
#include "show/pages/scene.hpp"
#include "show/writers.hpp"

namespace mha::cli {

// A page as bytes. With a row for it, every command that prints a page has the format.
using PageWriter = std::string (*)(const show::Document& page, const show::TextStyle& style);

struct Format {
  // What stands in it: a page, or data that the command writes itself. Arrays go to files only, rows at a time.
  enum class Kind { page, json, csv, steps, gradescope, arrays };
  Kind kind;
  std::string_view name, ending;  // without an ending: on stdout, or in any file, by its name alone
  Text what;
  PageWriter write = nullptr;  // of a page
  std::optional<io::BinaryFormat> arrays = {};
  show::PageOptions::Sources sources = show::PageOptions::Sources::none;  // of a page: what it tells of each entry
  bool is_whole = false;                                                  // of a page: matrices of thousands of entries too
  bool has_links = false;                                                 // of a page: a name leads to its section
};

inline constexpr std::array formats = {
    Format{Format::Kind::page, "text", ".txt", {"the page without colour", "不带颜色的页面"}, show::write_text},
    Format{.kind = Format::Kind::page,
           .name = "html",
           .ending = ".html",
           .what = {"the page for a browser", "供浏览器打开的页面"},
           .write = show::write_html,
           .sources = show::PageOptions::Sources::works,
           .has_links = true},
    Format{.kind = Format::Kind::page,
           .name = "svg",
           .ending = ".svg",
           .what = {"the weights as a picture", "注意力权重的图"},
           .write = show::write_svg,
           .is_whole = true},
    Format{Format::Kind::page, "latex", ".tex", {"a LaTeX document", "LaTeX 文档"}, show::write_latex},
    Format{Format::Kind::page, "markdown", ".md", {"Markdown with formulas", "带公式的 Markdown"}, show::write_markdown},
    Format{.kind = Format::Kind::page,
           .name = "xlsx",
           .ending = ".xlsx",
           .what = {"a sheet that computes", "会自己计算的工作簿"},
           .write = show::write_sheet,
           .sources = show::PageOptions::Sources::formulas},
    Format{.kind = Format::Kind::page,
           .name = "notebook",
           .ending = ".ipynb",
           .what = {"a notebook for Jupyter", "Jupyter 笔记本"},
           .write = show::write_notebook,
           .sources = show::PageOptions::Sources::numbers,
           .is_whole = true},
    Format{Format::Kind::json, "json", ".json", {"the trace", "JSON 数据"}},
    Format{Format::Kind::steps, "csv", ".csv", {"a line for each entry", "每个元素一行"}},
    Format{Format::Kind::csv, "csv", ".csv", {"a line for each answer", "每份答卷一行"}},
    Format{Format::Kind::gradescope, "gradescope", "", {"results.json for Gradescope", "Gradescope 的 results.json"}},
    Format{Format::Kind::arrays, "npy", ".npy", {"one array of it", "其中一个数组"}, nullptr, io::BinaryFormat::npy},
    Format{Format::Kind::arrays, "npz", ".npz", {"its arrays", "其中的各数组"}, nullptr, io::BinaryFormat::npz},
    Format{Format::Kind::arrays,
           "safetensors",
           ".safetensors",
           {"its arrays", "其中的各数组"},
           nullptr,
           io::BinaryFormat::safetensors},
};

// What a command offers.
using Kinds = std::span<const Format::Kind>;
inline constexpr std::array page_only = {Format::Kind::page};
inline constexpr std::array page_json_or_steps = {Format::Kind::page, Format::Kind::json, Format::Kind::steps};
inline constexpr std::array page_or_json = {Format::Kind::page, Format::Kind::json};

// Those of the table that --format names, joined: "text|json".
std::string format_names(Kinds kinds, std::string_view separator);

// By --format; the first of the table where nothing is written.
const Format& format_named(const std::optional<std::string>& name, Kinds kinds);

// By the ending of a file; null where it says nothing.
const Format* format_of_file(std::string_view path, Kinds kinds);

// What -o writes into this file: `otherwise` where --format named it, or where no ending is to be had (/dev/stdout, a pipe)
// or needed; else what its ending says. Throws Error where that is nothing that the command writes.
const Format& format_of_output(const std::string& path, Kinds kinds, const Format& otherwise, bool is_named,
                               bool needs_ending);

// ".txt (the page without colour), .json (the trace)"
Saying endings_text(Kinds kinds);

class CommandLine;

// An argument as CLI11 shall see it, and as it was.
void keep_as_written(std::string& argument);
std::string as_written(std::string argument);

// An option with one value, which `type` names.
void declare_option(CommandLine& app, const char* name, std::optional<std::string>& value, const std::string& type,
                    const Saying& help);

// One that may stand several times, with one value each time.
void declare_repeatable(CommandLine& app, const char* name, std::vector<std::string>& values, const char* type,
                        const Saying& help);

void declare_flag(CommandLine& app, const char* name, bool& flag, const Saying& help);

// What stands without a dash: at most one, or any number of them.
void declare_argument(CommandLine& app, const char* name, std::optional<std::string>& value, const Saying& help);
void declare_arguments(CommandLine& app, const char* name, std::vector<std::string>& values, const Saying& help);

// Stand below the options in a command's help: what else there is to know, and commands to try. A command ends with the
// blanks that set what it does beside those of the others.
struct Example {
  std::string_view command;
  Text what = {};
};
void declare_examples(CommandLine& app, const Text& remarks, const std::vector<Example>& examples);

// --lang, for every command that speaks both languages; `what` is "page" or the like. The locale's where nothing is
// written.
void declare_language(CommandLine& app, std::optional<std::string>& text, const Text& what);
Language language_from(const std::optional<std::string>& text, const World& world);

// --allow-outside, for every command that reads a problem.
void declare_allow_outside(CommandLine& app, bool& allow_outside);

// --loss, which wins over the problem's own; one of both must be there.
void declare_loss(CommandLine& app, std::optional<std::string>& text);
Loss loss_from(const std::optional<std::string>& text, const Problem& problem, World& world);

// --format, for every command that prints in more than one.
void declare_format(CommandLine& app, std::optional<std::string>& text, Kinds kinds);

// --lang, --precision, --index-base, --width, --color, --math, --ascii, --fragment, as written on the command line; and
// --full, which a command that shows matrices declares.
struct PageOptionTexts {
  std::optional<std::string> lang, precision, index_base, width, color, math;
  bool ascii = false, fragment = false, full = false;
};
// Without `numbers`, of a page that counts and has no --precision and --index-base.
void declare_page_options(CommandLine& app, PageOptionTexts& texts, bool numbers = true);
// `decimals` where --precision says nothing.
show::PageOptions page_from(const PageOptionTexts& texts, const World& world, int decimals = show::PageOptions{}.precision);
show::TextStyle style_from(const PageOptionTexts& texts, const World& world);

// --layers LIST, counted as the page counts.
std::vector<Index> parse_layers(const std::string& text, int layers, const show::PageOptions& page);

// --steps, --heads, --layers.
struct SelectionTexts {
  std::optional<std::string> steps, heads, layers;
};
void declare_selection(CommandLine& app, SelectionTexts& texts, bool of_gradients = false);
// Of the layers and heads that one of the problems has.
void choose(const SelectionTexts& texts, std::span<const Problem> problems, show::PageOptions& page);

// --round, --dtype, --batch, --device, --threads.
struct ComputationOptionTexts {
  std::optional<std::string> round, dtype, batch, device, threads;
};
void declare_computation_options(CommandLine& app, ComputationOptionTexts& texts);
// Of these, where and with how much at a time: --dtype, --device, --threads.
void declare_device_options(CommandLine& app, ComputationOptionTexts& texts);

struct Arithmetic {
  Dtype dtype = Dtype::f64;
  std::optional<int> rounding;
  compute::DeviceChoice device;
  int threads = 0;  // 0: one for each core
};
void declare_threads(CommandLine& app, std::optional<std::string>& text);
// From 1 on; 0 where nothing is written.
int threads_from(const std::optional<std::string>& text);
Arithmetic arithmetic_from(const ComputationOptionTexts& texts);

// The device that is meant, with the folder where its programs are kept. An Error with Exit::no_device where it is not
// there; no device but the processor is touched unless it is asked for.
compute::Device device_from(const Arithmetic& arithmetic, const World& world);

// Cuts the problem to one item where --batch names one, and remembers which for the page.
void choose_item(const ComputationOptionTexts& texts, show::PageOptions& page, Problem& problem);
// The same where there must be one.
void choose_one_item(const ComputationOptionTexts& texts, show::PageOptions& page, Problem& problem);

// A decimal number from least to most; anything else (nan, 1e3, −1, 0x10) is an error that names the option.
int parse_number(std::string_view option, std::string_view text, int least, int most);

// A decimal number from 0 on, finite: an infinite tolerance would let everything pass.
double parse_tolerance(std::string_view option, std::string_view text);

// "1,3-5" with numbers counted from `base`, as ascending numbers from 0 below `count`. `what` is "head" or the like.
std::vector<Index> parse_numbers(std::string_view option, std::string_view text, Index count, int base, const Text& what);

// "scores,weights", "Q-V", "packed": ids, symbols without a head's number, ranges in the order of the computation; for
// answers also rows of gradients, "dA".
std::vector<bool> parse_steps(std::string_view text, std::string_view option = "--steps", bool of_answers = false);

// "a,b,c" as its entries, none of them empty.
std::vector<std::string_view> split_at_commas(std::string_view option, std::string_view text);

// The place of `text` among `names`; an unknown one is an error that lists them.
std::size_t parse_choice(std::string_view option, std::string_view text, const std::vector<std::string_view>& names);

}  // namespace mha::cli
