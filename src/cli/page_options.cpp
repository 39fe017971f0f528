// Options that several commands share.
#include "cli/page_options.hpp"

#include <fmt/format.h>

#include "cli/values.hpp"
#include "core/error.hpp"

namespace mha::cli {

void declare_page_options(CLI::App& app, PageOptionTexts& texts) {
  declare_option(app, "--precision", texts.precision, "N", "decimals on the page (3)");
  declare_option(app, "--lang", texts.lang, "en|zh", "language of the page (from the locale)");
  declare_option(app, "--index-base", texts.index_base, "0|1", "count heads, rows and columns from 0 or 1 (1)");
  declare_option(app, "--width", texts.width, "N", "columns of the page (the terminal's, else 80)");
  declare_option(app, "--color", texts.color, "auto|always|never", "colour (auto: on a terminal)");
  declare_flag(app, "--ascii", texts.ascii, "draw with ASCII only; titles and labels stay as they are");
}

Language language_from(const PageOptionTexts& texts, const World& world) {
  if (!texts.lang) return language_of(world);
  return parse_choice("--lang", *texts.lang, {"en", "zh"}) == 1 ? Language::zh : Language::en;
}

show::PageOptions page_from(const PageOptionTexts& texts, const World& world, int decimals) {
  show::PageOptions page;
  page.precision = texts.precision ? parse_number("--precision", *texts.precision, 0, 17) : decimals;
  page.language = language_from(texts, world);
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

void declare_threads_option(CLI::App& app, std::optional<std::string>& text) {
  declare_option(app, "--threads", text, "N", "threads (one for each core); the results are the same for every number");
}

int threads_from(const std::optional<std::string>& text) {
  return text ? parse_number("--threads", *text, 1, 1024) : 0;
}

void declare_computation_options(CLI::App& app, ComputationOptionTexts& texts) {
  declare_option(app, "--round", texts.round, "N", "round each step's result to N decimals before the next step uses it");
  declare_option(app, "--dtype", texts.dtype, "f64|f32", "arithmetic (f64)");
  declare_option(app, "--device", texts.device, "NAME", "where: cpu, gpu, opencl, opencl:N or auto (cpu)");
  declare_option(app, "--batch", texts.batch, "N", "only this item of the batch");
  declare_threads_option(app, texts.threads);
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
