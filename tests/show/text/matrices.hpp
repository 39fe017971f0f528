// Small matrices for the tests of layout.
#pragma once

#include "folders.hpp"

#include <initializer_list>
#include <string>
#include <vector>

#include "show/document.hpp"

namespace mha::test {

inline Matrix matrix(std::string symbol, std::initializer_list<std::initializer_list<const char*>> rows) {
  Matrix result;
  result.symbol = std::move(symbol);
  const auto count = static_cast<Index>(rows.size()), width = static_cast<Index>(rows.begin()->size());
  result.rows = {count, count, 0};
  result.columns = {width, width, 0};
  for (const auto& row : rows)
    for (const char* text : row) result.cells.push_back({text, Cell::Mark::none, -1});
  return result;
}

// 0, 1, 2, … row after row.
inline Matrix counting_matrix(std::string symbol, Index rows, Index columns) {
  Matrix result;
  result.symbol = std::move(symbol);
  result.rows = {rows, rows, 0};
  result.columns = {columns, columns, 0};
  for (Index i = 0; i < rows * columns; ++i) result.cells.push_back({std::to_string(i), Cell::Mark::none, -1});
  return result;
}

}  // namespace mha::test
