// Rounding as a person with a pencil does it.
#pragma once

#include <string>

namespace mha {

// `value` written with 12 significant digits, or three more than are left but at most 15, and that decimal rounded half
// away from zero to `decimals` places. The detour makes a half a half again whatever the order of the sum (0.2005 summed as
// 0.20049999999999998). −0 becomes 0.
double round_by_hand(double value, int decimals);

// A finite value with so many decimals ("-1.500"), its shortest exact decimal rounded half away from zero. Never -0.000.
std::string fixed_text(double value, int decimals);

}  // namespace mha
