// The trace file: its keys and their order, its layout, and every form that a problem can have.
#include "io/problem/problem_writer.hpp"

#include <initializer_list>
#include <limits>
#include <string>

#include "catch.hpp"

namespace mha::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Tensor tensor(Shape shape, std::initializer_list<double> numbers) {
  Tensor result(shape);
  REQUIRE(result.size() == static_cast<Index>(numbers.size()));
  std::copy(numbers.begin(), numbers.end(), result.data());
  return result;
}

Tensor filled(Shape shape, double value) {
  Tensor result(shape);
  result.fill(value);
  return result;
}

// 2 tokens, d_model 2, h heads with d_k = d_v = 1 and weights that tell the heads apart.
Problem small_problem(Index heads) {
  Problem problem;
  problem.heads = problem.kv_heads = heads;
  problem.X = tensor({1, 1, 2, 2}, {1, 2.5, -3, 0.1});
  const auto weights = [heads](double first) {
    Tensor W({1, heads, 2, 1});
    for (Index i = 0; i < W.size(); ++i) W.data()[i] = first + static_cast<double>(i);
    return W;
  };
  problem.Q.W = weights(10);
  problem.K.W = weights(20);
  problem.V.W = weights(30);
  problem.O.W = filled({1, 1, heads, 2}, 1);
  return problem;
}

// Every step's value is filled with its place in the plan, plus the head's and the item's share, so that each number tells
// where it comes from: 7.25 is value 7, head 2 (0.25), item 1; item 2 adds 100.
Trace trace_of(const Problem& problem, const Plan& plan) {
  Trace trace;
  for (const Value& value : plan.values) {
    if (value.step == StepId::X) {
      trace.values.push_back(std::make_shared<const Tensor>(problem.X));
      continue;
    }
    Tensor numbers(value.shape);
    for (Index item = 0; item < value.shape.batch; ++item)
      for (Index head = 0; head < value.shape.heads; ++head)
        std::fill_n(numbers.matrix(item, head), value.shape.rows * value.shape.cols,
                    static_cast<double>(trace.values.size()) + 0.25 * static_cast<double>(head) +
                        100.0 * static_cast<double>(item));
    trace.values.push_back(std::make_shared<const Tensor>(std::move(numbers)));
  }
  return trace;
}

std::string written_trace(const Problem& problem, const Selection& selection = {}, bool with_weights = false) {
  const Plan plan = make_plan(problem);
  StringSink sink;
  write_trace(sink, problem, plan, trace_of(problem, plan), selection, with_weights);
  return sink.text();
}

Selection only(std::initializer_list<StepId> steps) {
  Selection selection;
  selection.steps.assign(step_count, false);
  for (const StepId step : steps) selection.steps[static_cast<std::size_t>(step)] = true;
  return selection;
}

// The text of the file's mask.
std::string mask_text(std::vector<Mask> masks, bool list = false) {
  Problem problem = small_problem(1);
  problem.masks = std::move(masks);
  problem.mask_is_list = list;
  const std::string text = written_trace(problem, only({}));
  const std::size_t start = text.find("\"mask\": ");
  REQUIRE(start != std::string::npos);
  return text.substr(start + 8, text.find("\n }") - start - 8);
}

Mask mask(Mask::Kind kind) {
  Mask result;
  result.kind = kind;
  return result;
}

Mask long_mask(Mask::Kind kind, std::optional<Align> align = {}) {
  Mask result = mask(kind);
  result.short_form = false;
  result.align = std::move(align);
  return result;
}

Mask matrix_mask(Mask::Kind kind, int axes, Tensor matrix) {
  Mask result = long_mask(kind);
  result.matrix = std::move(matrix);
  result.matrix_axes = axes;
  return result;
}

constexpr const char* head_of_small_trace = R"({
 "format": "mha-trace",
 "version": 1,
 "title": "Small \"one\"",
 "device": "cpu",
 "dtype": "f64",
 "rounding": null,
 "config": {
  "batch": null,
  "tokens": 2,
  "keys": 2,
  "d_model": 2,
  "d_kv": 2,
  "heads": 2,
  "kv_heads": 2,
  "d_k": 1,
  "d_v": 1,
  "d_out": 2,
  "scale": 1,
  "mask": "none",
  "token_labels": ["一", "\u001b[2J"]
 })";

constexpr const char* steps_of_small_trace = R"(,
 "X": [
  [1, 2.5],
  [-3, 0.1]
 ],
 "heads": [
  {
   "head": 1,
   "Q": [
    [2],
    [2]
   ],
   "K": [
    [4],
    [4]
   ],
   "V": [
    [6],
    [6]
   ],
   "scores": [
    [7, 7],
    [7, 7]
   ],
   "scaled": [
    [9, 9],
    [9, 9]
   ],
   "weights": [
    [10, 10],
    [10, 10]
   ],
   "head_output": [
    [11],
    [11]
   ]
  },
  {
   "head": 2,
   "Q": [
    [2.25],
    [2.25]
   ],
   "K": [
    [4.25],
    [4.25]
   ],
   "V": [
    [6.25],
    [6.25]
   ],
   "scores": [
    [7.25, 7.25],
    [7.25, 7.25]
   ],
   "scaled": [
    [9.25, 9.25],
    [9.25, 9.25]
   ],
   "weights": [
    [10.25, 10.25],
    [10.25, 10.25]
   ],
   "head_output": [
    [11.25],
    [11.25]
   ]
  }
 ],
 "concat": [
  [12, 12],
  [12, 12]
 ],
 "output": [
  [14, 14],
  [14, 14]
 ]
}
)";

Problem named_problem() {
  Problem problem = small_problem(2);
  problem.title.en = "Small \"one\"";
  problem.tokens = {{"一", "\033[2J"}};
  return problem;
}

}  // namespace

TEST_CASE("trace: the whole file, key by key, one matrix row on each line") {
  CHECK(written_trace(named_problem()) == std::string(head_of_small_trace) + steps_of_small_trace);
}

TEST_CASE("trace: with no step chosen only the facts remain") {
  CHECK(written_trace(named_problem(), only({})) == std::string(head_of_small_trace) + "\n}\n");
}

TEST_CASE("trace: steps and heads not chosen are left out, heads altogether when none holds a step") {
  Selection selection = only({StepId::weights, StepId::output});
  selection.heads = {1};
  CHECK(has(written_trace(small_problem(3), selection), R"( },
 "heads": [
  {
   "head": 2,
   "weights": [
    [10.25, 10.25],
    [10.25, 10.25]
   ]
  }
 ],
 "output": [)"));
  CHECK_FALSE(has(written_trace(small_problem(2), only({StepId::X, StepId::concat})), "\"head\":"));
  CHECK_FALSE(has(written_trace(small_problem(2), only({StepId::masked, StepId::capped})), "\"head\":"));
}

TEST_CASE("trace: a value that was not kept is left out") {
  const Problem problem = small_problem(1);
  const Plan plan = make_plan(problem);
  Trace trace = trace_of(problem, plan);
  trace.values[static_cast<std::size_t>(plan.find(StepId::scores).value())].reset();
  StringSink sink;
  write_trace(sink, problem, plan, trace, {}, false);
  CHECK_FALSE(has(sink.text(), "\"scores\""));
  CHECK(has(sink.text(), "\"scaled\""));
}

TEST_CASE("trace: packed steps stand before the heads, and only where one is chosen") {
  Problem problem = small_problem(1);
  problem.heads = problem.kv_heads = 2;
  problem.packed = true;
  for (Linear* linear : {&problem.Q, &problem.K, &problem.V}) linear->W = filled({1, 1, 2, 2}, 1);
  problem.O.W = filled({1, 1, 2, 2}, 1);
  CHECK(has(written_trace(problem, only({StepId::packed_Q, StepId::packed_V, StepId::Q})), R"( "packed": {
  "Q": [
   [2, 2],
   [2, 2]
  ],
  "V": [
   [6, 6],
   [6, 6]
  ]
 },
 "heads": [
  {
   "head": 1,
   "Q": [)"));
  CHECK_FALSE(has(written_trace(problem, only({StepId::Q})), "packed"));
}

TEST_CASE("trace: grouped heads name their key/value head and show its keys") {
  Problem problem = small_problem(4);
  problem.grouped = true;
  problem.kv_heads = 2;
  problem.K.W = filled({1, 2, 2, 1}, 1);
  problem.V.W = filled({1, 2, 2, 1}, 1);
  Selection selection = only({StepId::K});
  selection.heads = {1, 2};
  CHECK(has(written_trace(problem, selection), R"( "heads": [
  {
   "head": 2,
   "kv_head": 1,
   "K": [
    [4],
    [4]
   ]
  },
  {
   "head": 3,
   "kv_head": 2,
   "K": [
    [4.25],
    [4.25]
   ]
  }
 ])"));
}

TEST_CASE("trace: with a batch, matrices are lists of matrices, also for a batch of one") {
  Problem problem = small_problem(1);
  problem.batched = true;
  problem.X = filled({2, 1, 2, 2}, 0.5);
  CHECK(has(written_trace(problem), "\"batch\": 2,"));
  CHECK(has(written_trace(problem, only({StepId::Q})), R"(   "Q": [
    [
     [2],
     [2]
    ],
    [
     [102],
     [102]
    ]
   ])"));
  const Problem second = select_item(problem, 1);
  CHECK(has(written_trace(second), "\"batch\": 1,"));
  CHECK(has(written_trace(second, only({StepId::concat})), R"( "concat": [
  [
   [12],
   [12]
  ]
 ])"));
}

TEST_CASE("trace: f32 numbers are the shortest of their type; infinities and NaN are strings") {
  Problem problem = small_problem(1);
  problem.X =
      tensor({1, 1, 2, 2}, {static_cast<double>(0.1F), -infinity, infinity, std::numeric_limits<double>::quiet_NaN()});
  const Plan plan = make_plan(problem);
  Trace trace = trace_of(problem, plan);
  trace.dtype = Dtype::f32;
  trace.rounding = 3;
  trace.device = "another";
  StringSink sink;
  write_trace(sink, problem, plan, trace, only({StepId::X}), false);
  CHECK(has(sink.text(), "\"device\": \"another\",\n \"dtype\": \"f32\",\n \"rounding\": 3,"));
  CHECK(has(sink.text(), "[0.1, \"-inf\"],\n  [\"inf\", \"nan\"]"));
}

TEST_CASE("trace: a long trace passes through the writer's buffer unharmed") {
  Problem problem = small_problem(1);
  problem.X = filled({1, 1, 300, 2}, 0.12345678901234566);
  problem.tokens = {{std::string(100'000, 'a'), "b"}};
  const std::string text = written_trace(problem, only({StepId::X, StepId::scores}));
  std::string x, scores_row;
  for (int i = 0; i < 300; ++i) {
    x += std::string(i == 0 ? "" : ",") + "\n  [0.12345678901234566, 0.12345678901234566]";
    scores_row += i == 0 ? "7" : ", 7";
  }
  CHECK((has(text, "\"token_labels\": [\"" + std::string(100'000, 'a') + "\", \"b\"]")));
  CHECK((has(text, "\"X\": [" + x + "\n ]")));
  CHECK((has(text, "\n    [" + scores_row + "],\n    [" + scores_row + "]")));
}

TEST_CASE("trace: title and labels as the problem has them") {
  Problem problem = small_problem(1);
  CHECK_FALSE(has(written_trace(problem), "title"));
  CHECK_FALSE(has(written_trace(problem), "labels"));
  problem.title = {"One", "一", true};
  CHECK(has(written_trace(problem), R"("title": {"en": "One", "zh": "一"},)"));

  problem.batched = true;
  problem.X = filled({2, 1, 2, 2}, 1);
  problem.X_kv = filled({2, 1, 1, 2}, 1);
  problem.tokens = {{"a", "b"}, {"c", "d"}};
  problem.tokens_kv = {{"key"}};
  CHECK(has(written_trace(problem), R"(  "token_labels": [
   ["a", "b"],
   ["c", "d"]
  ],
  "key_labels": ["key"])"));
}

TEST_CASE("trace: scale, softcap and rope as resolved") {
  Problem problem = small_problem(1);
  for (Linear* linear : {&problem.Q, &problem.K}) linear->W = filled({1, 1, 2, 4}, 1);
  CHECK(has(written_trace(problem), "\"scale\": 0.5,"));
  problem.scale.kind = Scale::Kind::none;
  CHECK(has(written_trace(problem), "\"scale\": \"none\","));
  problem.scale = {Scale::Kind::number, 0.125};
  problem.softcap = 2.5;
  problem.rope = Rope{};
  problem.rope->dims = 2;
  CHECK(has(written_trace(problem), R"(  "scale": 0.125,
  "softcap": 2.5,
  "rope": {"base": 10000, "pairing": "half", "dims": 2, "start": 0},
  "mask": "none")"));
  problem.rope->pairing = Pairing::interleaved;
  problem.rope->start = -1;
  problem.rope->positions = {5, 6};
  problem.rope->positions_kv = {0, 7};
  CHECK(has(written_trace(problem),
            R"("pairing": "interleaved", "dims": 2, "start": -1, "positions": [5, 6], "positions_kv": [0, 7]})"));
}

TEST_CASE("trace: masks that are rules, as written") {
  using Kind = Mask::Kind;
  CHECK(mask_text({}) == "\"none\"");
  CHECK(mask_text({mask(Kind::none)}) == "\"none\"");
  CHECK(mask_text({mask(Kind::causal)}) == "\"causal\"");
  Mask corner = mask(Kind::causal);
  corner.align = Align{Align::Kind::top_left, {}};
  CHECK(mask_text({corner}) == "\"causal-top-left\"");
  corner.align = Align{Align::Kind::bottom_right, {}};
  CHECK(mask_text({corner}) == "\"causal-bottom-right\"");
  CHECK(mask_text({long_mask(Kind::causal)}) == R"({"causal": {}})");
  CHECK(mask_text({long_mask(Kind::causal, Align{Align::Kind::top_left, {}})}) == R"({"causal": {"align": "top-left"}})");
  CHECK(mask_text({long_mask(Kind::causal, Align{Align::Kind::offset, {-2}})}) == R"({"causal": {"align": -2}})");

  Mask window = long_mask(Kind::window, Align{Align::Kind::bottom_right, {}});
  window.left = 1;
  CHECK(mask_text({window}) == R"({"window": {"left": 1, "right": null, "align": "bottom-right"}})");

  Mask alibi = long_mask(Kind::alibi);
  alibi.slopes = {0.5};
  CHECK(mask_text({mask(Kind::alibi)}) == "\"alibi\"");
  CHECK(mask_text({alibi}) == R"({"alibi": {"slopes": [0.5]}})");
  CHECK(mask_text({mask(Kind::causal), alibi}, true) == R"(["causal", {"alibi": {"slopes": [0.5]}}])");
  CHECK(mask_text({}, true) == "[]");
}

TEST_CASE("trace: an alignment for each item of the batch") {
  Problem problem = small_problem(1);
  problem.batched = true;
  problem.X = filled({2, 1, 2, 2}, 1);
  problem.masks = {long_mask(Mask::Kind::causal, Align{Align::Kind::per_item, {0, 2}})};
  CHECK(has(written_trace(problem), R"("mask": {"causal": {"align": [0, 2]}})"));
}

TEST_CASE("trace: masks that hold a matrix are their kind, or with the weights the matrix in its own form") {
  using Kind = Mask::Kind;
  Problem problem = small_problem(2);
  problem.batched = true;
  problem.X = filled({2, 1, 2, 2}, 1);
  problem.mask_is_list = true;
  problem.masks = {matrix_mask(Kind::padding, 1, tensor({1, 1, 1, 2}, {1, 0})),
                   matrix_mask(Kind::padding, 2, tensor({2, 1, 1, 2}, {1, 0, 1, 1})),
                   matrix_mask(Kind::allow, 2, tensor({1, 1, 2, 2}, {1, 0, 1, 1})),
                   matrix_mask(Kind::block, 3, tensor({2, 1, 1, 2}, {0, 1, 0, 0})),
                   matrix_mask(Kind::add, 4, tensor({1, 2, 1, 2}, {0, -infinity, 0.5, 0}))};
  CHECK(has(written_trace(problem), R"("mask": ["padding", "padding", "allow", "block", "add"])"));
  CHECK(has(written_trace(problem, {}, true), R"("mask": [
   {
    "padding": [1, 0]
   },
   {
    "padding": [
     [1, 0],
     [1, 1]
    ]
   },
   {
    "allow": [
     [1, 0],
     [1, 1]
    ]
   },
   {
    "block": [
     [
      [0, 1]
     ],
     [
      [0, 0]
     ]
    ]
   },
   {
    "add": [
     [
      [
       [0, "-inf"]
      ],
      [
       [0.5, 0]
      ]
     ]
    ]
   }
  ])"));
}

TEST_CASE("trace: weights only when asked, each head's own, with names and biases") {
  Problem problem = small_problem(2);
  CHECK_FALSE(has(written_trace(problem), "parameters"));
  problem.head_names = {"", "second"};
  problem.K.b = tensor({1, 2, 1, 1}, {0.5, -0.5});
  problem.O.b = tensor({1, 1, 1, 2}, {1, 2});
  CHECK(has(written_trace(problem, only({}), true), R"( "parameters": {
  "heads": [
   {
    "W_Q": [
     [10],
     [11]
    ],
    "W_K": [
     [20],
     [21]
    ],
    "b_K": [0.5],
    "W_V": [
     [30],
     [31]
    ]
   },
   {
    "name": "second",
    "W_Q": [
     [12],
     [13]
    ],
    "W_K": [
     [22],
     [23]
    ],
    "b_K": [-0.5],
    "W_V": [
     [32],
     [33]
    ]
   }
  ],
  "W_O": [
   [1, 1],
   [1, 1]
  ],
  "b_O": [1, 2]
 }
}
)"));
}

TEST_CASE("trace: weights of grouped heads, cross-attention and the identity") {
  Problem problem = small_problem(2);
  problem.grouped = true;
  problem.kv_heads = 1;
  problem.K.W = filled({1, 1, 2, 1}, 3);
  problem.V.W = filled({1, 1, 2, 1}, 4);
  problem.X_kv = tensor({1, 1, 1, 2}, {7, 8});
  problem.output_is_concat = true;
  problem.O = {};
  CHECK(has(written_trace(problem, only({}), true), R"( "parameters": {
  "X_kv": [
   [7, 8]
  ],
  "heads": [
   {
    "W_Q": [
     [10],
     [11]
    ]
   },
   {
    "W_Q": [
     [12],
     [13]
    ]
   }
  ],
  "kv_heads": [
   {
    "W_K": [
     [3],
     [3]
    ],
    "W_V": [
     [4],
     [4]
    ]
   }
  ],
  "W_O": "identity"
 })"));
}

TEST_CASE("trace: packed weights with their counts") {
  Problem problem = small_problem(1);
  problem.heads = 2;
  problem.packed = problem.grouped = true;
  problem.Q = {tensor({1, 1, 2, 2}, {1, 2, 3, 4}), tensor({1, 1, 1, 2}, {5, 6})};
  problem.O.W = filled({1, 1, 2, 1}, 9);
  CHECK(has(written_trace(problem, only({}), true), R"( "parameters": {
  "num_heads": 2,
  "num_kv_heads": 1,
  "W_Q": [
   [1, 2],
   [3, 4]
  ],
  "b_Q": [5, 6],
  "W_K": [
   [20],
   [21]
  ],
  "W_V": [
   [30],
   [31]
  ],
  "W_O": [
   [9],
   [9]
  ]
 })"));
}

TEST_CASE("trace: one packed matrix is put together again, by columns or as PyTorch stores it") {
  Problem problem = small_problem(1);
  problem.packed = problem.fused = true;
  problem.Q = {tensor({1, 1, 2, 1}, {1, 2}), tensor({1, 1, 1, 1}, {7})};
  problem.K = {tensor({1, 1, 2, 1}, {3, 4}), tensor({1, 1, 1, 1}, {8})};
  problem.V = {tensor({1, 1, 2, 1}, {5, 6}), tensor({1, 1, 1, 1}, {9})};
  CHECK(has(written_trace(problem, only({}), true), R"(  "num_heads": 1,
  "W_QKV": [
   [1, 3, 5],
   [2, 4, 6]
  ],
  "b_QKV": [7, 8, 9],
  "W_O": [)"));

  problem.layout = Layout::torch;
  problem.heads = 2;
  problem.grouped = true;
  problem.Q = {tensor({1, 1, 2, 2}, {1, 2, 3, 4}), std::nullopt};
  problem.K = {tensor({1, 1, 1, 2}, {5, 6}), std::nullopt};
  problem.V = {tensor({1, 1, 1, 2}, {7, 8}), std::nullopt};
  problem.O.W = filled({1, 1, 2, 2}, 1);
  CHECK(has(written_trace(problem, only({}), true), R"(  "layout": "torch",
  "num_heads": 2,
  "num_kv_heads": 1,
  "W_QKV": [
   [1, 2],
   [3, 4],
   [5, 6],
   [7, 8]
  ],
  "W_O": [)"));
}

}  // namespace mha::test
