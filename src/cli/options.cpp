// How a command says what it takes, in CLI11's terms; the shared options with what they mean.
#include "cli/options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/values.hpp"
#include "core/error.hpp"

namespace mha::cli {

// CLI11 takes "[a,b]" for a list where several values may stand. Behind this sign it is a word like any other.
constexpr char no_list = '\x1f';

void keep_as_written(std::string& argument) {
  if (argument.starts_with('[') && argument.ends_with(']')) argument += no_list;
}

std::string as_written(std::string argument) {
  if (argument.ends_with(no_list)) argument.pop_back();
  return argument;
}

void declare_option(CLI::App& app, const char* name, std::optional<std::string>& value, const std::string& type,
                    const std::string& help) {
  app.add_option(name, value, help)->type_name(type)->transform(as_written);
}

void declare_repeatable(CLI::App& app, const char* name, std::vector<std::string>& values, const char* type,
                        const std::string& help) {
  CLI::Option* option = app.add_option(name, values, help)->type_name(type)->expected(1);
  option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)->transform(as_written);
}

void declare_flag(CLI::App& app, const char* name, bool& flag, const char* help) {
  app.add_flag(name, flag, help);
}

void declare_argument(CLI::App& app, const char* name, std::optional<std::string>& value, const char* help) {
  app.add_option(name, value, help)->transform(as_written);
}

void declare_arguments(CLI::App& app, const char* name, std::vector<std::string>& values, const char* help) {
  app.add_option(name, values, help)->transform(as_written);
}

void declare_footer(CLI::App& app, std::string_view text) {
  app.footer(std::string(text));
}

void declare_language(CLI::App& app, std::optional<std::string>& text, const std::string& what) {
  declare_option(app, "--lang", text, "en|zh", "language of the " + what + " (from the locale)");
}

Language language_from(const std::optional<std::string>& text, const World& world) {
  if (!text) return language_of(world);
  return parse_choice("--lang", *text, {"en", "zh"}) == 1 ? Language::zh : Language::en;
}

void declare_allow_outside(CLI::App& app, bool& allow_outside) {
  declare_flag(app, "--allow-outside", allow_outside, "let the problem point to files outside its folder");
}

void declare_format(CLI::App& app, std::optional<std::string>& text, Kinds kinds) {
  declare_option(app, "--format", text, format_names(kinds, "|"), "what to print (text)");
}

void declare_page_options(CLI::App& app, PageOptionTexts& texts) {
  declare_option(app, "--precision", texts.precision, "N", "decimals on the page (3)");
  declare_language(app, texts.lang, "page");
  declare_option(app, "--index-base", texts.index_base, "0|1", "count heads, rows and columns from 0 or 1 (1)");
  declare_option(app, "--width", texts.width, "N", "columns of the page (the terminal's, else 80)");
  declare_option(app, "--color", texts.color, "auto|always|never", "colour (auto: on a terminal)");
  declare_flag(app, "--ascii", texts.ascii, "draw with ASCII only; titles and labels stay as they are");
}

show::PageOptions page_from(const PageOptionTexts& texts, const World& world, int decimals) {
  show::PageOptions page;
  page.precision = texts.precision ? parse_number("--precision", *texts.precision, 0, 17) : decimals;
  page.language = language_from(texts.lang, world);
  if (texts.index_base) page.index_base = parse_number("--index-base", *texts.index_base, 0, 1);
  return page;
}

show::TextStyle style_from(const PageOptionTexts& texts, const World& world) {
  show::TextStyle style;
  style.width = texts.width ? parse_number("--width", *texts.width, 40, 10000) : world.terminal_width;
  const std::size_t when = texts.color ? parse_choice("--color", *texts.color, {"auto", "always", "never"}) : 0;
  style.color = when == 0 ? wants_color(world) : when == 1;
  style.ascii = texts.ascii;
  return style;
}

std::vector<Index> parse_heads(const std::string& text, Index heads, const show::PageOptions& page) {
  return parse_numbers("--heads", text, heads, static_cast<int>(page.index_base), "head");
}

std::vector<Index> parse_layers(const std::string& text, const Problem& problem, const show::PageOptions& page) {
  return parse_numbers("--layers", text, problem.layer_count(), static_cast<int>(page.index_base), "layer");
}

void declare_threads(CLI::App& app, std::optional<std::string>& text) {
  declare_option(app, "--threads", text, "N", "threads (one for each core); the results are the same for every number");
}

int threads_from(const std::optional<std::string>& text) {
  return text ? parse_number("--threads", *text, 1, 1024) : 0;
}

void declare_computation_options(CLI::App& app, ComputationOptionTexts& texts) {
  declare_option(app, "--round", texts.round, "N", "round each step's result to N decimals before the next step uses it");
  declare_option(app, "--batch", texts.batch, "N", "only this item of the batch");
  declare_device_options(app, texts);
}

void declare_device_options(CLI::App& app, ComputationOptionTexts& texts) {
  declare_option(app, "--dtype", texts.dtype, "f64|f32", "arithmetic (f64)");
  declare_option(app, "--device", texts.device, "NAME", "where: cpu, gpu, opencl, opencl:N or auto (cpu)");
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
  if (!problem.batched) throw Error("--batch: this problem has no batch; its X is one matrix");
  const int base = static_cast<int>(page.index_base);
  const int last = base + static_cast<int>(problem.batch()) - 1;
  const Index item = parse_number("--batch", *texts.batch, base, last) - base;
  page.chosen_item = {item, problem.batch()};
  problem = select_item(problem, item);
}

}  // namespace mha::cli
