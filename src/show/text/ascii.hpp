// Respells the signs that the program writes for terminals and files that know ASCII only.
#pragma once

#include <string>
#include <string_view>

namespace mha::show {

// Every sign of the program's own has a spelling ("·" is "*", "Q⁽¹⁾" is "Q(1)"); other characters, such as those of a
// Chinese sentence, stay.
std::string to_ascii(std::string_view text);

}  // namespace mha::show
