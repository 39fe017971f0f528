// One step at a time, for the lecture hall.
#pragma once

#include "cli/world.hpp"
#include "show/text/text_writer.hpp"

namespace mha::cli {

// Prints a step, waits for Enter, prints the next; q or the end of the input ends the page.
void show_step_by_step(const show::Document& page, const show::TextStyle& style, World& world);

}  // namespace mha::cli
