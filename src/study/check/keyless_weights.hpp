// The weights that people and programs give to a row of scores without a key.
#pragma once

#include "core/tensor.hpp"

namespace mha::study {

// Whether all of these scores are −∞.
bool is_keyless(const double* scores, Index count);

// Whether these are weights that may stand in such a row: 0, NaN, equal shares, or what the softmax makes of `masked`, the
// row as the person wrote it, where there are numbers in it (null: it was not given).
bool are_keyless_weights(const double* weights, Index count, const double* masked, double tolerance);

}  // namespace mha::study
