// Collects lists of numbers inside lists into one flat block, and refuses what is not rectangular.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/json/json_tree.hpp"

namespace mha::io {

class GridBuilder {
 public:
  GridBuilder(std::string path, Position position) : path_(std::move(path)), position_(position) { open(position); }

  void open(Position position);
  bool close();  // true: that was the outermost list

  // An entry. Its place matters only to messages, so the caller is asked for it (`position()`) only where one is needed.
  template <typename Where>
  void put(double value, Where position) {
    if (lists_.size() != leaf_depth_) begin_leaf(position());
    grid_.numbers.push_back(value);
    ++lists_.back().entries;
  }
  void see_written(std::string_view number, double value) { grid_.writing.see(number, value); }
  void put_odd(OddEntry::Kind kind, double value, Position position, std::string_view found);

  [[noreturn]] void refuse_object(Position position) const;

  // Where each open list began, the outermost first.
  std::vector<Position> openings() const;
  bool undecided() const { return leaf_depth_ == 0; }                // nothing but opening brackets so far
  std::string entry_path() const { return path_to(lists_.size()); }  // of the entry to come

  Node take() { return {position_, std::move(path_), std::move(grid_)}; }

 private:
  struct OpenList {
    Position position;
    Index entries = 0;
  };

  void begin_leaf(Position position);
  std::string path_to(std::size_t depth) const;

  std::string path_;
  Position position_;
  std::vector<OpenList> lists_;
  std::size_t leaf_depth_ = 0;  // how many lists are around a number; 0: not known yet
  Grid grid_;
};

}  // namespace mha::io
