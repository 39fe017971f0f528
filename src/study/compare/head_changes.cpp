// The heads of a layer in another arrangement: as layers, as one head, one at a time.
#include <cstring>
#include <numeric>

#include "study/compare/compare.hpp"
#include "study/inspect/inspect.hpp"
#include "study/mistakes/projections.hpp"

namespace mha::study {
namespace {

std::size_t place_of(StepId step) {
  return static_cast<std::size_t>(step);
}

Written written_by(const Plan& plan, const Plan* whole = nullptr) {
  return written(plan, simulate(plan, whole));
}

struct Obstacle {
  bool is_there;
  std::string_view key;
  Text what;
};
// What the change needs, and the first thing that is there instead, in this layer of a stack.
void refuse(const Problem& problem, std::optional<int> layer, const Text& needed,
            std::initializer_list<Obstacle> obstacles) {
  const std::string where = layer && !problem.layers.empty() ? fmt::format("layers[{}].", *layer) : "";
  for (const Obstacle& obstacle : obstacles)
    if (obstacle.is_there)
      throw refusal(problem, where + std::string(obstacle.key), {"{}; this problem {}", "{}；这道题{}"}, needed,
                    obstacle.what);
}

// What several have written down, as the heads of one: each its first head. Of all other steps, what the last of them has;
// X is the problem's, which outlives the one of a head.
Written as_heads(const std::vector<Written>& all, const Problem& problem) {
  Written result = all.back();
  result[place_of(StepId::X)] = std::make_shared<const Tensor>(problem.X);
  for (const StepName& name : step_names) {
    if (!name.per_head || !result[place_of(name.step)]) continue;
    Shape shape = result[place_of(name.step)]->shape();
    shape.heads = static_cast<Index>(all.size());
    const auto heads = std::make_shared<Tensor>(shape);
    for_each_entry(shape, [&](const Entry& at) {
      heads->at(at) = all[static_cast<std::size_t>(at.head)][place_of(name.step)]->at(at.item, 0, at.row, at.column);
    });
    result[place_of(name.step)] = heads;
  }
  return result;
}

Side heads_as_layers(const Problem& problem) {
  refuse(problem, {},
         {"--as-layers: only several heads of one self-attention, without norm, residual or MLP, whose result is as wide "
          "as X can become layers",
          "--as-layers：只有一层不带归一化、残差和 MLP 的自注意力，头不止一个，结果与 X 同宽，才能把头改成层"},
         {{!problem.layers.empty(), "layers", {"has layers already", "已经分层"}},
          {problem.X_kv.has_value(), "X_kv", {"takes keys and values from X_kv", "的键和值来自 X_kv"}},
          {problem.norm || problem.final_norm, "norm", {"has a norm", "带归一化"}},
          {problem.residual, "residual", {"has a residual sum", "带残差连接"}},
          {problem.mlp.has_value(), "mlp", {"has an MLP", "带 MLP"}},
          {problem.heads == 1, "heads", {"has one head", "只有一个头"}},
          {problem.d_out() != problem.d_model(), "W_O", {"has a result of another width", "的结果与 X 不同宽"}}});
  Problem stack;
  stack.X = problem.X;
  Side side;
  side.rows = {{"shares",
                {"In parallel: all heads read X, and what each gives through its rows of W_O is added up.",
                 "并行：各头都读 X，各自经过 W_O 中自己的行，结果相加。"},
                {"head {}", "头 {}"},
                "+",
                problem.O.b ? "+ b_O =" : "=",
                {}},
               {"inputs",
                {"One after the other: each layer reads what the heads before it have mixed.",
                 "一个接一个：每一层读的是前面各头混合过的结果。"},
                {"layer {} reads", "第 {} 层读"},
                "→",
                "→",
                {}}};
  for (Index head = 0; head < problem.heads; ++head) {
    stack.layers.push_back(one_head(problem, head));
    side.rows[0].matrices.push_back(written_by(make_plan(stack.layers.back()))[place_of(StepId::output)]);
  }
  side.rows[0].matrices.push_back(written_by(make_plan(problem))[place_of(StepId::output)]);
  stack.layers.back().O.b = problem.O.b;
  const Layered layers = layered(stack);
  for (const Problem& layer : layers.problems) side.rows[1].matrices.push_back(std::make_shared<const Tensor>(layer.X));
  side.rows[1].matrices.push_back(layers.numbers.back()[place_of(StepId::output)]);
  side.computed = {{problem}, {as_heads(layers.numbers, problem)}};
  side.computed.numbers.front()[place_of(StepId::concat)].reset();
  return side;
}

// As those do who forget to split.
Side heads_as_one(const Problem& problem) {
  Side side;
  side.computed = layered(problem, [&](const Problem& layer, int number) {
    const Variants forms = find_mistake("not_split")->variants(layer);
    refuse(problem, number,
           {"--as-one-head: only several heads with as many keys and values, one mask for all and no rotary positions "
            "can become one",
            "--as-one-head：只有头不止一个、各有自己的键和值、共用一个掩码、没有旋转位置编码，才能合成一个头"},
           {{layer.heads == 1, "heads", {"has one head", "只有一个头"}},
            {layer.rope.has_value(), "rope", {"rotates queries and keys", "的查询和键带旋转位置编码"}},
            {layer.kv_heads != layer.heads, "kv_heads", {"has heads that share keys and values", "有些头共用键和值"}},
            {forms.empty(), "mask", {"has a mask for each head", "各头的掩码不同"}}});
    return forms.front().plan;
  });
  return side;
}

Written head_by_head(const Problem& layer) {
  const Plan plan = make_plan(layer);
  std::vector<Written> heads;
  for (Index head = 0; head < layer.heads; ++head) heads.push_back(written_by(make_plan(one_head(layer, head)), &plan));
  Written all = as_heads(heads, layer);
  const Trace rest = behind_heads(plan, 0, *all[place_of(StepId::head_output)], plan.steps.back().out);
  for (const Step& step : plan.steps)
    if (const auto& computed = rest.values[static_cast<std::size_t>(step.out)]) all[place_of(step.id)] = computed;
  return all;
}

Side heads_in_a_loop(const Problem& problem) {
  Side side;
  side.computed.problems = layered(problem).problems;
  for (const Problem& layer : side.computed.problems) side.computed.numbers.push_back(head_by_head(layer));
  return side;
}

}  // namespace

const std::array<HeadChange, 3> head_changes = {
    HeadChange{"--as-layers",
               "as_layers",
               {"compare with its heads as layers, one after the other", "与把各头改成一层接一层的同一题对照"},
               {"{0}, its heads as layers", "{0}（各头改成层）"},
               {"Several heads are not several layers: a layer reads what the one before has mixed.",
                "几个头不等于几层：后一层读的是前一层混合过的结果。"},
               heads_as_layers},
    HeadChange{
        "--as-one-head",
        "as_one_head",
        {"compare with one head over all columns", "与所有列合成一个头的同一题对照"},
        {"{0}, its heads as one", "{0}（各头合成一个）"},
        {"The same projections, one head over all columns: its scores are the sums of those of the heads, and one map "
         "must serve for all.",
         "投影相同，所有列合成一个头：它的分数是各头分数之和，只有一张权重图，要代替各头的权重图。"},
        heads_as_one},
    HeadChange{
        "--loop",
        "loop",
        {"compare with the same, computed head by head", "与逐头计算的同一题对照"},
        {"{0}, head by head", "{0}（逐头计算）"},
        {"On the right each head is computed by itself, as in a loop: of {1} numbers {0} have other bits than on the "
         "left, where all heads are computed at once.",
         "右边像循环那样逐头计算，左边所有头一次算出：{1} 个数中，有 {0} 个的二进制位不同。"},
        heads_in_a_loop}};

Problem one_head(const Problem& layer, Index head) {
  Problem one = layer;
  for (const Projection& projection : projections) {
    const Index own = layer.*projection.heads;
    const auto own_columns = [&](const Tensor& all) {
      std::vector<Index> chosen(static_cast<std::size_t>(all.shape().cols / own));
      std::iota(chosen.begin(), chosen.end(), broadcast(head, own, layer.heads) * static_cast<Index>(chosen.size()));
      return columns(all, chosen);
    };
    Linear& linear = one.*projection.linear;
    linear.W = own_columns(weights_of(projection, layer));
    if (linear.b) linear.b = own_columns(*bias_of(projection, layer));
    linear.has_b.clear();
  }
  one.O = {Tensor({1, 1, layer.d_v(), layer.d_out()}), {}};
  for_each_entry(one.O.W.shape(), [&](const Entry& at) {
    const Index row = head * layer.d_v() + at.row;
    one.O.W.at(at) = layer.output_is_concat          ? row == at.column
                     : layer.layout == Layout::torch ? layer.O.W.at(0, 0, at.column, row)
                                                     : layer.O.W.at(0, 0, row, at.column);
  });
  for (Mask& mask : one.masks) {
    if (mask.kind == Mask::Kind::alibi)
      mask.slopes = {{mask.slopes.value_or(alibi_slopes(layer.heads))[static_cast<std::size_t>(head)]}};
    Shape shape = mask.matrix.shape();
    if (shape.heads == 1) continue;
    shape.heads = 1;
    Tensor matrix(shape);
    for_each_entry(shape, [&](const Entry& at) { matrix.at(at) = mask.matrix.at(at.item, head, at.row, at.column); });
    mask.matrix = std::move(matrix);
  }
  one.heads = one.kv_heads = 1;
  one.packed = one.fused = one.grouped = one.output_is_concat = one.residual = false;
  one.layout = Layout::x_at_w;
  one.head_names.clear();
  for (std::optional<NormRule>* norm : {&one.mlp_norm, &one.final_norm}) norm->reset();
  if (one.is_post_norm()) one.norm.reset();
  one.mlp.reset();
  return one;
}

std::pair<Index, Index> bits_apart(const std::vector<Written>& left, const std::vector<Written>& right) {
  Index apart = 0, count = 0;
  for (std::size_t layer = 0; layer < std::min(left.size(), right.size()); ++layer)
    for (std::size_t step = 0; step < step_count; ++step) {
      const Tensor *a = left[layer][step].get(), *b = right[layer][step].get();
      if (a == nullptr || b == nullptr || !(a->shape() == b->shape())) continue;
      count += a->size();
      for (Index i = 0; i < a->size(); ++i) apart += std::memcmp(a->data() + i, b->data() + i, sizeof(double)) != 0;
    }
  return {apart, count};
}

}  // namespace mha::study
