// A JSON input in memory: numbers in flat blocks, everything else as small nodes that know where they stood; the values
// that are taken from it; and what is wrong with an input, and where.
#pragma once

#include <concepts>
#include <stdexcept>
#include <variant>

#include "core/numbers.hpp"
#include "core/tensor.hpp"
#include "core/text.hpp"

namespace mha::io {

// Both from 1; columns count characters, not bytes.
struct Position {
  Index line = 1;
  Index column = 1;
};

// Thrown while one input is read, by code that does not know the input's name; whoever opened it makes an Error of it.
class InputFault : public std::runtime_error {
 public:
  // The path ("heads[1].W_Q[0]", from 0) is empty where there is no value to name.
  template <std::same_as<Saying> Sentence>  // so that braces are a Text
  InputFault(Position position, std::string path, const Sentence& sentence)
      : std::runtime_error(sentence.en), position_(position), path_(std::move(path)), sentence_(sentence) {}
  template <typename... Parts>
  InputFault(Position position, std::string path, const Text& text, const Parts&... parts)
      : InputFault(position, std::move(path), say(text, parts...)) {}

  const Saying& sentence() const { return sentence_; }
  Position position() const { return position_; }
  const std::string& path() const { return path_; }

 private:
  Position position_;
  std::string path_;
  Saying sentence_;
};

class FileMatrix;

// An entry among numbers that is no number. Whether it may stand there depends on the matrix: a mask takes what X does not.
struct OddEntry {
  enum class Kind { boolean, null, text, minus_infinity_text, not_finite };

  Kind kind = Kind::text;
  Position position;
  std::string path;
  Saying found;  // as it stood in the input, safe to print
};

// How exactly the numbers of one matrix are written: the most decimals, and the most significant digits. The noise of
// binary arithmetic does not count: 0.30000000000000004 is 0.3.
struct Writing {
  int decimals = 0;
  int digits = 0;
  bool all_in_e_notation = true;  // but zeros

  void see(std::string_view number, double value);
  void see(const Writing& other);
};

// Lists of numbers inside lists, each axis of one length, row after row. Booleans are 0 and 1, "-inf" is −∞, and what has
// no value is NaN; the first of each kind is on record, in the order of the file.
struct Grid {
  std::vector<Index> axes;
  Numbers numbers;
  std::vector<OddEntry> odd;
  std::vector<std::size_t> nulls;  // the places of all entries that are null, or a text
  std::vector<Writing> writing;    // of each matrix in it; only where the reader was asked for it
  // Where {"file": …} stands: the axes are known, and the numbers stay there until they are asked for.
  std::shared_ptr<const FileMatrix> file;
};

struct Node;
struct Member;
struct Null {};
using List = std::vector<Node>;
using Object = std::vector<Member>;

struct Scalar {
  double value = 0;
  std::string written;
};

struct Node {
  Position position;
  std::string path;  // from 0: "heads[1].W_Q"; empty at the top
  std::variant<Null, bool, Scalar, std::string, List, Object, Grid> value;

  template <typename T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
  template <typename T>
  T* as() {
    return std::get_if<T>(&value);
  }
};

struct Member {
  std::string key;
  Position position;  // of the key
  Node node;
};

// The paths of an entry of a list and of a member of an object.
std::string path_of(std::string_view list, Index index);
std::string path_of(std::string_view object, std::string_view key);

// What was found, in words: "the text "a"", "a list of 3 numbers", "a 3×4 matrix".
Saying describe(const Node& node);

// "3×4"
std::string shape_text(const std::vector<Index>& axes);

template <typename... Sentence>  // as InputFault takes it
[[noreturn]] void fail(const Node& node, const Sentence&... sentence) {
  throw InputFault(node.position, node.path, sentence...);
}
// Braces are a Text.
template <typename... Parts>
[[noreturn]] void fail(const Node& node, const Text& text, const Parts&... parts) {
  throw InputFault(node.position, node.path, text, parts...);
}

// What may stand in a matrix beside plain numbers.
enum class Entries {
  numbers,   // nothing
  switches,  // 0 and 1 alone, or booleans
  addends,   // "-inf", and NaN and ±Infinity as Python writes them
  answers,   // these, "inf" and "nan", and null, or a text, for what is not filled in
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

// A value of this type, const or not as the node is; `what` says what belongs here.
template <typename T, typename ANode>
auto& expect(ANode& node, const Text& what) {
  auto* const value = node.template as<T>();
  if (value == nullptr) fail(node, {"found {}, expected {}", "这里是{}，应为{}"}, describe(node), what);
  return *value;
}
bool expect_truth(const Node& node);
double expect_number(const Node& node);
double expect_positive(const Node& node);
Index expect_integer(const Node& node);
const std::string& expect_text(const Node& node);

// One for each of `count` things: "one for each head".
std::vector<double> expect_numbers(Node& node, Index count, const Text& each);
std::vector<Index> expect_integers(Node& node, Index count, const Text& each);

// "1 row", "2 rows"
Saying counted(Index count, std::string_view thing);

}  // namespace mha::io
