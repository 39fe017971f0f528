// How a command says what it takes, and the options that several commands share. Everything arrives as it is written and is
// read strictly by cli/values.hpp: CLI11 would take `nan`, octal numbers and empty lists.
#pragma once

#include "cli/formats.hpp"
#include "cli/world.hpp"
#include "compute/device.hpp"
#include "core/trace.hpp"
#include "show/pages/scene.hpp"
#include "show/writers.hpp"

namespace mha::cli {

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

// --lang, --precision, --index-base, --width, --color, --math, --ascii, --fragment, as written on the command line.
struct PageOptionTexts {
  std::optional<std::string> lang, precision, index_base, width, color, math;
  bool ascii = false, fragment = false;
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

}  // namespace mha::cli
