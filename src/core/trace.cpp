// What a run leaves behind.
#include "core/trace.hpp"

#include <algorithm>

namespace mha {

bool Selection::has_head(Index head) const {
  return heads.empty() || std::binary_search(heads.begin(), heads.end(), head);
}

bool Selection::has_layer(int layer) const {
  return layers.empty() || std::binary_search(layers.begin(), layers.end(), layer);
}

}  // namespace mha
