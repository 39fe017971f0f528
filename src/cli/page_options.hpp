// Options that several commands share: how a page looks, and how its numbers are computed.
#pragma once

#include <optional>
#include <string>

#include "cli/options.hpp"
#include "cli/world.hpp"
#include "compute/device.hpp"
#include "core/trace.hpp"
#include "show/pages/describe.hpp"
#include "show/text/text_writer.hpp"

namespace mha::cli {

// --lang, --precision, --index-base, --width, --color, --ascii, as written on the command line.
struct PageOptionTexts {
  std::optional<std::string> lang, precision, index_base, width, color;
  bool ascii = false;
};
void declare_page_options(CLI::App& app, PageOptionTexts& texts);
Language language_from(const PageOptionTexts& texts, const World& world);
// `decimals` where --precision says nothing.
show::PageOptions page_from(const PageOptionTexts& texts, const World& world, int decimals = show::PageOptions{}.precision);
show::TextStyle style_from(const PageOptionTexts& texts, const World& world);

// --round, --dtype, --batch, --device, --threads.
struct ComputationOptionTexts {
  std::optional<std::string> round, dtype, batch, device, threads;
};
void declare_computation_options(CLI::App& app, ComputationOptionTexts& texts);

struct Arithmetic {
  Dtype dtype = Dtype::f64;
  std::optional<int> rounding;
  compute::DeviceChoice device;
  int threads = 0;  // 0: one for each core
};
void declare_threads_option(CLI::App& app, std::optional<std::string>& text);
// From 1 on; 0 where nothing is written.
int threads_from(const std::optional<std::string>& text);
Arithmetic arithmetic_from(const ComputationOptionTexts& texts);

// The device that is meant, with the folder where its programs are kept. An Error with Exit::no_device where it is not
// there; no device but the processor is touched unless it is asked for.
compute::Device device_from(const Arithmetic& arithmetic, const World& world);

// Cuts the problem to one item where --batch names one, and remembers which for the page.
void choose_item(const ComputationOptionTexts& texts, show::PageOptions& page, Problem& problem);

}  // namespace mha::cli
