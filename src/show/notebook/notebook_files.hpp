// What a notebook brings along: the functions of the steps.
#pragma once

#include <string_view>

namespace mha::show {

std::string_view notebook_steps();

}  // namespace mha::show
