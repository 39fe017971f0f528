// A page as data.
#include "show/document.hpp"

namespace mha::show {

std::vector<Document> split_at_steps(Document document) {
  std::vector<Document> pieces;
  bool has_step = true;
  for (Block& block : document.blocks) {
    const bool is_step = std::holds_alternative<StepHeading>(block);
    const bool begins = is_step || std::holds_alternative<Section>(block);
    if (pieces.empty() || (begins && has_step)) {
      pieces.push_back({document.language, document.index_base, {}});
      has_step = false;
    }
    has_step = has_step || is_step;
    pieces.back().blocks.push_back(std::move(block));
  }
  return pieces;
}

}  // namespace mha::show
