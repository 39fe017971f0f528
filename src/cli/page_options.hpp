// Options that several commands share: how a page looks, and how its numbers are computed.
#pragma once

#include <optional>
#include <string>

#include "cli/world.hpp"
#include "core/trace.hpp"
#include "show/describe.hpp"
#include "show/text_writer.hpp"

namespace CLI {
class App;
}

namespace mha {

// --lang, --precision, --index-base, --width, --color, --ascii, as written on the command line.
struct PageOptionTexts {
  std::optional<std::string> lang, precision, index_base, width, color;
  bool ascii = false;
};
void declare_page_options(CLI::App& app, PageOptionTexts& texts);
Language language_from(const PageOptionTexts& texts, const World& world);
// `decimals` where --precision says nothing.
PageOptions page_from(const PageOptionTexts& texts, const World& world, int decimals = PageOptions{}.precision);
TextStyle style_from(const PageOptionTexts& texts, const World& world);

// --round, --dtype, --batch, --threads.
struct ComputationOptionTexts {
  std::optional<std::string> round, dtype, batch, threads;
};
void declare_computation_options(CLI::App& app, ComputationOptionTexts& texts);

struct Arithmetic {
  Dtype dtype = Dtype::f64;
  std::optional<int> rounding;
  int threads = 0;  // 0: one for each core
};
void declare_threads_option(CLI::App& app, std::optional<std::string>& text);
// From 1 on; 0 where nothing is written.
int threads_from(const std::optional<std::string>& text);
Arithmetic arithmetic_from(const ComputationOptionTexts& texts);

// Cuts the problem to one item where --batch names one, and remembers which for the page.
void choose_item(const ComputationOptionTexts& texts, PageOptions& page, Problem& problem);

// An option with one value, which `type` names.
void declare_option(CLI::App& app, const char* name, std::optional<std::string>& value, const char* type, const char* help);

}  // namespace mha
