// What people write behind an option: decimal numbers, lists with ranges, names of a closed set.
#pragma once

#include "core/trace.hpp"

namespace mha::cli {

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
