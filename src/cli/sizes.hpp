// The options that name a problem by its sizes: a file or an example, a published model, or numbers.
#pragma once

#include "cli/options.hpp"
#include "study/cost/sizes.hpp"

namespace mha::cli {

// As written on the command line.
struct SizeTexts {
  std::vector<std::string> problem;
  std::optional<std::string> model;
  std::array<std::optional<std::string>, study::size_names.size()> sizes;
  bool bias = false, allow_outside = false;
};
void declare_sizes(CommandLine& app, SizeTexts& texts);

struct SizedProblem {
  Problem problem;
  const study::PublishedModel* model = nullptr;
};
// `packed`: where sizes or a model say nothing, all heads in one matrix. Without any of them the worked example.
SizedProblem sized_problem(const SizeTexts& texts, bool packed, World& world);

// "heads=1,d-k=64" as sizes.
study::Sizes parse_sizes(std::string_view option, std::string_view text);

}  // namespace mha::cli
