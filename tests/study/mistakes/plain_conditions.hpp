// What several mistakes and forms ask of a problem before they can be made in it.
#pragma once

#include "folders.hpp"
#include "study/mistakes/plain_attention.hpp"

namespace mha::test {

inline bool always(const Problem&) {
  return true;
}

inline bool has_several_heads(const Problem& p) {
  return p.heads > 1;
}

// Q·Kᵀ is square: as many queries as keys.
inline bool has_square_scores(const Problem& p) {
  return p.queries() == p.keys();
}

inline bool values_as_wide_as_keys(const Problem& p) {
  return p.d_k() == p.d_v();
}

inline bool is_scaled(const Problem& p) {
  return p.scale.kind != Scale::Kind::none;
}

inline bool has_mask(const Problem& p) {
  return !plain_layer(p).masks.empty();
}

inline bool hides_something(const Problem& p) {
  for (const PlainMatrix& head : added_by_masks(plain_layer(p)))
    for (const double added : head.numbers)
      if (is_hidden(added)) return true;
  return false;
}

}  // namespace mha::test
