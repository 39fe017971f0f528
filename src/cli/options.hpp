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

// Options that not every format has a use for: of those that are given, one of what is written must read each.
using OptionNames = std::array<std::string_view, 5>;
inline constexpr OptionNames of_text = {"--descend", "--with-forward", "--work", "--ascii", "--pause"};
inline constexpr OptionNames of_latex = {"--descend", "--with-forward", "--work", "--fragment"};
inline constexpr OptionNames of_markdown = {"--descend", "--with-forward", "--work", "--math"};
inline constexpr OptionNames of_both_languages = {"--descend", "--with-forward", "--work", "--lang both"};
inline constexpr OptionNames of_pictures = {"--with-forward", "--view", "--columns"}, of_data = {"--with-weights"};

struct Format {
  // What stands in it: a page, or data that the command writes itself. Arrays go to files only, rows at a time.
  enum class Kind { page, json, csv, steps, gradescope, arrays };
  using Sources = show::PageOptions::Sources;
  Kind kind;
  std::string_view name, ending;  // without an ending: on stdout, or in any file, by its name alone
  Text what;
  OptionNames reads = {};
  PageWriter write = nullptr;       // of a page
  Sources sources = Sources::none;  // of a page: what it tells of each entry
  bool is_whole = false;            // of a page: matrices of thousands of entries too
  bool has_links = false;           // of a page: a name leads to its section
  std::optional<io::BinaryFormat> arrays = {};
};

constexpr Format page_as(std::string_view name, std::string_view ending, Text what, OptionNames reads, PageWriter write,
                         Format::Sources sources = Format::Sources::none, bool is_whole = false, bool has_links = false) {
  return {Format::Kind::page, name, ending, what, reads, write, sources, is_whole, has_links, {}};
}
constexpr Format arrays_as(std::string_view name, std::string_view ending, Text what, io::BinaryFormat arrays) {
  return {Format::Kind::arrays, name, ending, what, of_data, nullptr, Format::Sources::none, false, false, arrays};
}

inline constexpr std::array formats = {
    page_as("text", ".txt", {"the page without colour", "不带颜色的页面"}, of_text, show::write_text),
    page_as("html", ".html", {"the page for a browser", "供浏览器打开的页面"}, of_both_languages, show::write_html,
            Format::Sources::works, false, true),
    page_as("svg", ".svg", {"the weights as a picture", "注意力权重的图"}, of_pictures, show::write_svg,
            Format::Sources::none, true),
    page_as("latex", ".tex", {"a LaTeX document", "LaTeX 文档"}, of_latex, show::write_latex),
    page_as("markdown", ".md", {"Markdown with formulas", "带公式的 Markdown"}, of_markdown, show::write_markdown),
    page_as("xlsx", ".xlsx", {"a sheet that computes", "会自己计算的工作簿"}, of_both_languages, show::write_sheet,
            Format::Sources::formulas),
    page_as("notebook", ".ipynb", {"a notebook for Jupyter", "Jupyter 笔记本"}, of_both_languages, show::write_notebook,
            Format::Sources::numbers, true),
    Format{Format::Kind::json, "json", ".json", {"the trace", "JSON 数据"}, of_data},
    Format{Format::Kind::steps, "csv", ".csv", {"a line for each entry", "每个元素一行"}},
    Format{Format::Kind::csv, "csv", ".csv", {"a line for each answer", "每份答卷一行"}},
    Format{Format::Kind::gradescope, "gradescope", "", {"results.json for Gradescope", "Gradescope 的 results.json"}},
    arrays_as("npy", ".npy", {"one array of it", "其中一个数组"}, io::BinaryFormat::npy),
    arrays_as("npz", ".npz", {"its arrays", "其中的各数组"}, io::BinaryFormat::npz),
    arrays_as("safetensors", ".safetensors", {"its arrays", "其中的各数组"}, io::BinaryFormat::safetensors),
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

// Options that mean nothing for these formats, all that are written, are an error that says for which they are.
void refuse_unread(std::span<const Format* const> written, const World& world);

// A page as its format tells it: what it says of each entry, and in both languages where both are meant.
using Describe = std::function<show::Document(const show::PageOptions& options)>;
show::Document page_in(const Format& format, show::PageOptions options, const Describe& describe);

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
// written; both is for formats that have room for them.
void declare_language(CommandLine& app, std::optional<std::string>& text, const Text& what,
                      const char* choice = "en|zh|both");
show::PageOptions language_from(const std::optional<std::string>& text, const World& world);

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
