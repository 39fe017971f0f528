// Options that several commands share: how a page looks, and how its numbers are computed.
#pragma once

#include <optional>
#include <string>

#include "cli/options.hpp"
#include "cli/world.hpp"
#include "core/trace.hpp"
#include "show/describe.hpp"
#include "show/text_writer.hpp"

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

// --round, --dtype, --batch.
struct ComputationOptionTexts {
  std::optional<std::string> round, dtype, batch;
};
void declare_computation_options(CLI::App& app, ComputationOptionTexts& texts);

struct Arithmetic {
  Dtype dtype = Dtype::f64;
  std::optional<int> rounding;
};
Arithmetic arithmetic_from(const ComputationOptionTexts& texts);

// Cuts the problem to one item where --batch names one, and remembers which for the page.
void choose_item(const ComputationOptionTexts& texts, PageOptions& page, Problem& problem);

}  // namespace mha
