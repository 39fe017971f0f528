// How far the entries of a softmax, or of what people compute instead, may be off.
#pragma once

#include <vector>

#include "core/op.hpp"

namespace mha::study {

// An entry of the numbers that are normalised together, and the radius of that number.
struct Exponent {
  double z;
  double radius;
};

// For each of them, how far p(z) / Σ p(z) moves at most while all z move within their radii, apart from arithmetic.
std::vector<double> softmax_radii(const std::vector<Exponent>& slice, const Softmax& rule);

}  // namespace mha::study
