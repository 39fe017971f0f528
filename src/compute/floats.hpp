// Doubles as floats, for the backends that compute with those.
#pragma once

#include <string_view>

#include "core/tensor.hpp"

namespace mha::compute {

// All numbers of the tensor, straight from the file where they lie in one. Throws Error where a finite number would become
// an infinite one unseen; `symbol` says whose it is.
void to_floats(const Tensor& tensor, std::string_view symbol, float* to);

// Throws the same Error unless this number, which is not 0, is one in float as well.
void expect_float(double number, std::string_view symbol);

}  // namespace mha::compute
