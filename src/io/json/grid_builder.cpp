// Collects lists of numbers inside lists into one flat block, and refuses what is not rectangular.
#include "io/json/grid_builder.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace mha::io {
namespace {

constexpr Index unknown = -1;  // an axis whose first list is still open

}  // namespace

void GridBuilder::open(Position position) {
  if (leaf_depth_ != 0 && lists_.size() >= leaf_depth_)
    throw InputFault(position, entry_path(), "a list stands where a number belongs; the entries before it are numbers");
  lists_.push_back({position, 0});
  if (grid_.axes.size() < lists_.size()) grid_.axes.push_back(unknown);
}

bool GridBuilder::close() {
  const std::size_t depth = lists_.size() - 1;
  const OpenList list = lists_.back();
  if (leaf_depth_ == 0) leaf_depth_ = lists_.size();
  Index& axis = grid_.axes[depth];
  if (axis == unknown) axis = list.entries;
  if (axis != list.entries) {
    std::string first = path_;
    for (std::size_t i = 0; i < depth; ++i) first = path_of(first, 0);
    throw InputFault(
        list.position, path_to(depth),
        fmt::format("the length is {} here but {} in {}; rows of a matrix all have one length", list.entries, axis, first));
  }
  lists_.pop_back();
  if (lists_.empty()) return true;
  ++lists_.back().entries;
  return false;
}

void GridBuilder::put_odd(OddEntry::Kind kind, double value, Position position, std::string_view found) {
  const auto is_same = [kind](const OddEntry& entry) { return entry.kind == kind; };
  if (std::none_of(grid_.odd.begin(), grid_.odd.end(), is_same))
    grid_.odd.push_back({kind, position, entry_path(), std::string(found)});
  if (kind == OddEntry::Kind::null) grid_.nulls.push_back(grid_.numbers.size());
  put(value, [position] { return position; });
}

void GridBuilder::refuse_object(Position position) const {
  if (lists_.size() == 1 && !grid_.nulls.empty() && grid_.nulls.size() == grid_.numbers.size())
    throw InputFault(grid_.odd.front().position, grid_.odd.front().path,
                     "null stands in a list of objects; write the object that belongs here, or leave the entry out");
  throw InputFault(position, entry_path(), "an object stands where a number belongs; the entries before it are numbers");
}

std::vector<Position> GridBuilder::openings() const {
  std::vector<Position> positions;
  for (const OpenList& list : lists_) positions.push_back(list.position);
  return positions;
}

void GridBuilder::begin_leaf(Position position) {
  if (leaf_depth_ != 0)
    throw InputFault(position, entry_path(), "a single entry stands where a list belongs; the entries before it are lists");
  leaf_depth_ = lists_.size();
}

// The list or entry inside `depth` of the open lists.
std::string GridBuilder::path_to(std::size_t depth) const {
  std::string path = path_;
  for (std::size_t i = 0; i < depth; ++i) path = path_of(path, lists_[i].entries);
  return path;
}

}  // namespace mha::io
