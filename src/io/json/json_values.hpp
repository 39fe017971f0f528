// Nodes as the values that a problem needs: matrices, vectors, integers, texts. What does not fit throws InputFault.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/json/json_tree.hpp"

namespace mha::io {

// What may stand in a matrix beside plain numbers.
enum class Entries {
  numbers,   // nothing
  switches,  // 0 and 1 alone, or booleans
  addends,   // "-inf", and NaN and ±Infinity as Python writes them
  answers,   // these, "inf" and "nan", and null for what is not filled in
};

// Numbers in at least one axis, none of them of length 0.
Grid& expect_grid(Node& node, Entries entries);

// The same in at least two axes: a matrix, or a list of them.
Grid& expect_rows(Node& node, Entries entries);

// A matrix of plain numbers: 1×1×rows×cols. The numbers stay in the node until they are taken.
Shape expect_matrix(Node& node);
// A list of plain numbers; gives its length.
Index expect_vector(Node& node);
Tensor take_tensor(Node& node, Shape shape);
// Its numbers, read if they are in a file still.
Numbers take_numbers(Node& node);

double expect_number(const Node& node);
Index expect_integer(const Node& node);
const std::string& expect_text(const Node& node);

// One for each of `count` things: "one for each head".
std::vector<double> expect_numbers(Node& node, Index count, std::string_view each);
std::vector<Index> expect_integers(Node& node, Index count, std::string_view each);

// "1 row", "2 rows"
std::string counted(Index count, std::string_view thing);

}  // namespace mha::io
