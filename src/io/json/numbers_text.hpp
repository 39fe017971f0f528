// Numbers as JSON text: the shortest that reads back exactly, whatever the locale.
#pragma once

#include <cstddef>

namespace mha::io {

inline constexpr std::size_t number_text_size = 24;  // the longest: -2.2250738585072014e-308

// Writes the text at `to`, where number_text_size characters must fit, and returns its end. Whole numbers below 2^53 look
// like integers; −0 is -0.0 and larger numbers have an exponent, so that Python reads a float and not an int; −∞, ∞ and
// NaN, which JSON does not have, are the strings "-inf", "inf" and "nan".
char* write_number(char* to, double number);
char* write_number(char* to, float number);

}  // namespace mha::io
