// One weight matrix with its bias, or those of all heads on top of one another.
#include "io/problem/problem_keys.hpp"

#include "io/arrays/matrix_files.hpp"
#include "io/json/tree.hpp"

namespace mha::io {
namespace {

Index height_of(const Shape& shape, Layout layout) {
  return layout == Layout::torch ? shape.cols : shape.rows;
}

// X·W needs a row of W for each column of X; out×in weights are stored the other way round. A single weight that lies
// otherwise than the others is told as that: another layout would only move the fault to them.
void check_product(const Node& node, const LinearNodes& nodes, const Shape& shape, const OperandShape& operand,
                   Layout layout, bool others_fit) {
  const Index found = height_of(shape, layout);
  if (found == operand.cols) return;
  const bool out_by_in = layout == Layout::torch;
  Text remedy;
  if (width_of(shape, layout) == operand.cols && others_fit)
    remedy = {"; transposed it would fit, and the other weights fit as they are: transpose this one",
              "；转置以后就合适，而其他权重矩阵不必转置：请只转置它"};
  else if (width_of(shape, layout) == operand.cols)
    remedy = out_by_in
                 ? Text{"; transposed it would fit: if your weights are stored in×out, leave \"layout\": \"torch\" out",
                        "；转置以后就合适：如果你的权重矩阵按“输入×输出”存放，请去掉 \"layout\": \"torch\""}
                 : Text{
                       "; transposed it would fit: if your weights are stored out×in, as PyTorch's Linear stores "
                       "them, write \"layout\": \"torch\"",
                       "；转置以后就合适：如果你的权重矩阵按“输出×输入”存放（同 PyTorch 的 Linear），请写 "
                       "\"layout\": \"torch\""};
  constexpr std::string_view in_layer = "layers[";
  const std::string number =
      node.path.starts_with(in_layer) ? node.path.substr(in_layer.size(), node.path.find(']') - in_layer.size()) : "0";
  const bool is_X = operand.name.en == "X" && number != "0";  // the last layer before this one, counted from 1
  const Saying name = is_X ? say({"what layer {} gives", "第 {} 层的输出"}, number) : Saying(operand.name);
  fail(node,
       {"{} is {}×{} and W_{} is {}×{}{}: W_{} needs {}, as many as {} has columns, but has {}{}",
        "{} 是 {}×{}，而 W_{} 是 {}×{}{}：W_{} 需要 {}，与 {} 的列数相同，实际有 {}{}"},
       name, operand.rows, operand.cols, nodes.name, shape.rows, shape.cols,
       out_by_in ? Text{" as stored (out×in)", "（按“输出×输入”存放）"} : Text{}, nodes.name,
       counted(operand.cols, out_by_in ? "column" : "row"), name, found, remedy);
}

// The shape that most heads have, the first of those that as many have.
Shape usual_shape(const std::vector<Shape>& shapes) {
  return *std::max_element(shapes.begin(), shapes.end(), [&](const Shape& a, const Shape& b) {
    return std::count(shapes.begin(), shapes.end(), a) < std::count(shapes.begin(), shapes.end(), b);
  });
}

void check_bias(Node& node, std::string_view name, Index columns) {
  const Index found = expect_vector(node);
  if (found != columns)
    fail(node,
         {"b_{} has {}, expected {}, one for each column of the product with W_{}",
          "b_{} 有 {}，应为 {} 个，与用 W_{} 作投影所得的列数相同"},
         name, counted(found, "number"), columns, name);
}

// Matrices of one shape on top of one another, each in a file of its own or a part of one.
class StoredStack : public Stored {
 public:
  explicit StoredStack(Index rows, Index cols) : rows_(rows), cols_(cols) {}

  void add(std::shared_ptr<const Stored> matrix) { matrices_.push_back(std::move(matrix)); }
  void read_rows(Index first, Index count, double* to) const override { read(first, count, to); }
  void read_rows(Index first, Index count, float* to) const override { read(first, count, to); }

 private:
  template <typename T>
  void read(Index first, Index count, T* to) const {
    while (count > 0) {
      const Index skipped = first % rows_, some = std::min(count, rows_ - skipped);
      matrices_[static_cast<std::size_t>(first / rows_)]->read_rows(skipped, some, to);
      first += some;
      count -= some;
      to += some * cols_;
    }
  }

  Index rows_, cols_;
  std::vector<std::shared_ptr<const Stored>> matrices_;
};

bool all_in_files(const std::vector<Node*>& nodes) {
  return std::all_of(nodes.begin(), nodes.end(), [](const Node* node) { return node->as<Grid>()->file != nullptr; });
}

Tensor stack_weights(const std::vector<Node*>& nodes, Shape shape) {
  if (nodes.size() == 1) return take_tensor(*nodes.front(), shape);
  const auto size = static_cast<std::size_t>(shape.size());
  shape.heads = static_cast<Index>(nodes.size());
  if (all_in_files(nodes)) {
    auto stack = std::make_shared<StoredStack>(shape.rows, shape.cols);
    for (const Node* node : nodes) stack->add(node->as<Grid>()->file);
    return {shape, std::move(stack)};
  }
  Numbers all = take_numbers(*nodes.front());
  all.resize(nodes.size() * size);
  for (std::size_t i = 1; i < nodes.size(); ++i) {
    const Numbers one = take_numbers(*nodes[i]);  // freed before the next
    std::copy_n(one.data(), size, all.data() + i * size);
  }
  return {shape, std::move(all)};
}

// A head without a bias has one of zeros where another head has one.
std::optional<Tensor> stack_biases(const std::vector<Node*>& nodes, Index width) {
  if (std::all_of(nodes.begin(), nodes.end(), [](const Node* node) { return node == nullptr; })) return std::nullopt;
  Tensor all({1, static_cast<Index>(nodes.size()), 1, width});
  all.fill(0);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i] != nullptr) std::copy_n(nodes[i]->as<Grid>()->numbers.data(), width, all.matrix(0, static_cast<Index>(i)));
  return all;
}

}  // namespace

Linear take_linear(const LinearNodes& nodes, const OperandShape& operand, Layout layout) {
  std::vector<Shape> shapes;
  for (Node* node : nodes.W) shapes.push_back(expect_matrix(*node));
  const bool any_fits = nodes.others_fit || std::any_of(nodes.W.begin(), nodes.W.end(),
                                                        [&](const Node* node) { return lies_so(*node, operand, layout); });
  for (std::size_t i = 0; i < shapes.size(); ++i) check_product(*nodes.W[i], nodes, shapes[i], operand, layout, any_fits);
  const Shape usual = usual_shape(shapes);
  const auto one = static_cast<std::size_t>(std::find(shapes.begin(), shapes.end(), usual) - shapes.begin());
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if (shapes[i] != usual)
      fail(*nodes.W[i],
           {"this W_{} gives {} = {} and {} gives {}; all heads agree on {}",
            "这个 W_{} 给出 {} = {}，而 {} 给出 {}；各头的 {} 应当相同"},
           nodes.name, nodes.width, width_of(shapes[i], layout), nodes.W[one]->path, width_of(usual, layout), nodes.width);
    if (nodes.b[i] != nullptr) check_bias(*nodes.b[i], nodes.name, width_of(usual, layout));
  }
  Linear linear{stack_weights(nodes.W, usual), stack_biases(nodes.b, width_of(usual, layout))};
  if (std::count(nodes.b.begin(), nodes.b.end(), nullptr) > 0)
    for (const Node* node : nodes.b) linear.has_b.push_back(node != nullptr);
  return linear;
}

bool lies_so(const Node& node, const OperandShape& operand, Layout layout) {
  const Grid* grid = node.as<Grid>();
  if (grid == nullptr || grid->axes.size() != 2) return false;
  const Shape shape{1, 1, grid->axes[0], grid->axes[1]};
  return height_of(shape, layout) == operand.cols && width_of(shape, layout) != operand.cols;
}

Index width_of(const Shape& shape, Layout layout) {
  return layout == Layout::torch ? shape.rows : shape.cols;
}

Linear cut(const Linear& whole, Index first, Index count, Layout layout) {
  const Shape& from = whole.W.shape();
  Linear part;
  if (const auto file = std::dynamic_pointer_cast<const FileMatrix>(whole.W.stored())) {
    const bool by_rows = layout == Layout::torch;
    const Cut cut{first, first + count};
    part.W =
        by_rows ? Tensor({1, 1, count, from.cols}, file->rows(cut)) : Tensor({1, 1, from.rows, count}, file->cols(cut));
  } else if (layout == Layout::torch) {
    part.W = Tensor({1, 1, count, from.cols});
    std::copy_n(whole.W.data() + first * from.cols, count * from.cols, part.W.data());
  } else {
    part.W = Tensor({1, 1, from.rows, count});
    for (Index row = 0; row < from.rows; ++row)
      std::copy_n(whole.W.data() + row * from.cols + first, count, part.W.data() + row * count);
  }
  if (whole.b) {
    part.b = Tensor({1, 1, 1, count});
    std::copy_n(whole.b->data() + first, count, part.b->data());
  }
  return part;
}

}  // namespace mha::io
