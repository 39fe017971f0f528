// Masks as numbers to add to the scaled scores: 0 where a query may attend, −∞ where it may not, or a bias.
#pragma once

#include "core/problem.hpp"

namespace mha {

// The numbers that this mask adds: batch×heads×rows×m, where batch, heads and rows may be 1 (the same for all).
Tensor mask_tensor(const Mask& mask, const Problem& problem);

// ALiBi's slope of each head (Press, Smith, Lewis 2021): 2^(−8/h), 2^(−16/h), … for a power of two h; otherwise those of
// the power of two below, then every other slope of the power of two above.
std::vector<double> alibi_slopes(Index heads);

// The key under which a mask stands in a problem file: "causal", "padding", …
std::string_view mask_name(Mask::Kind kind);

// The rows of scores of this shape that may attend to no key, whatever the numbers: (item, head, query) from 0, in order.
struct Row {
  Index item, head, query;
  bool operator==(const Row&) const = default;
};
std::vector<Row> rows_without_key(const Shape& onto, const std::vector<const Tensor*>& masks);

}  // namespace mha
