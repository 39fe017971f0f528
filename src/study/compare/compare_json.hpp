// A comparison as JSON.
#pragma once

#include <optional>
#include <string_view>

#include "io/files/sink.hpp"
#include "study/compare/compare_page.hpp"

namespace mha::study {

// {"format": "mha-compare", "version": 1, "left", "right", "mistake"?, "steps": […]}: for each matrix its step, head and
// item (from 1), "equal"; where it is not, the largest difference with its place, and both matrices whole; where only one
// side has it, that one alone. Flushing the sink is left to the caller.
void write_comparison_json(io::Sink& sink, const Comparison& comparison, const Side& left, const Side& right,
                           std::optional<std::string_view> mistake, const Selection& selection);

}  // namespace mha::study
