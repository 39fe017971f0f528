// Puts other shapes under a problem's rules.
#include "study/cost/sizes.hpp"

#include "core/error.hpp"

namespace mha::study {
namespace {

// What has a shape and no numbers: plans are made of it, and nothing is computed.
Tensor hollow(const Shape& shape) {
  return by_rule(shape, [](Index, double*) {
    throw Error({"this problem has sizes alone, and no numbers to compute with", "这道题只有大小，没有可供计算的数"});
  });
}

// As wide as it was, or as wide as what it went along with.
Index follow(Index own, Index leader, Index new_leader) {
  return own == leader ? new_leader : own;
}

void resize(std::optional<NormRule>& norm, Index width) {
  if (norm && norm->gamma) norm->gamma = hollow({1, 1, 1, width});
  if (norm && norm->beta) norm->beta = hollow({1, 1, 1, width});
}

class Shaping {
 public:
  Shaping(const Problem& problem, const Sizes& sizes) : from_(problem), sizes_(sizes), to_(problem) {}

  Problem shape() {
    input();
    heads();
    attention();
    masks();
    rope();
    block();
    return std::move(to_);
  }

 private:
  void input() {
    d_ = sizes_.d_model.value_or(from_.d_model());
    n_ = sizes_.tokens.value_or(from_.queries());
    m_ = sizes_.keys.value_or(from_.X_kv ? from_.keys() : n_);
    batch_ = sizes_.batch.value_or(from_.batch());
    to_.batched = from_.batched || sizes_.batch;
    to_.tokens.clear();
    to_.tokens_kv.clear();
    to_.files.clear();
    to_.X = hollow({batch_, 1, n_, d_});
    if (from_.X_kv || sizes_.keys) to_.X_kv = hollow({batch_, 1, m_, follow(from_.d_kv(), from_.d_model(), d_)});
  }

  void heads() {
    to_.head_names.clear();
    h_ = to_.heads = sizes_.heads.value_or(from_.heads);
    g_ = to_.kv_heads = sizes_.kv_heads.value_or(follow(from_.kv_heads, from_.heads, h_));
    to_.grouped = from_.grouped || g_ != h_;
    if (h_ % g_ != 0)
      throw Error(
          {"heads={0} and kv-heads={1}: each key/value head serves equally many query heads, so {1} must divide {0}; "
           "give both, such as heads={0},kv-heads={0} (as options --heads {0} --kv-heads {0})",
           "heads={0} 和 kv-heads={1}：每个键值头服务同样多的查询头，因此 {1} 必须整除 {0}；"
           "请两个都写，例如 heads={0},kv-heads={0}（选项为 --heads {0} --kv-heads {0}）"},
          h_, g_);
    const bool share = from_.d_k() * from_.heads == from_.d_model();
    if (share && !sizes_.d_k && d_ % h_ != 0)
      throw Error({"--heads {} do not share d_model {} evenly; another number, or a width of their own: --d-k",
                   "--heads {} 不能均分 d_model {}；请换一个数，或用 --d-k 指定头的宽度"},
                  h_, d_);
    d_k_ = sizes_.d_k.value_or(share ? d_ / h_ : from_.d_k());
    d_v_ = sizes_.d_v.value_or(follow(from_.d_v(), from_.d_k(), d_k_));
  }

  void attention() {
    project(to_.Q, h_, d_, d_k_);
    project(to_.K, g_, to_.d_kv(), d_k_);
    project(to_.V, g_, to_.d_kv(), d_v_);
    if (!to_.output_is_concat) weights(to_.O, 1, h_ * d_v_, follow(from_.d_out(), from_.d_model(), d_));
  }

  // Of all heads: side by side where they are packed.
  void project(Linear& linear, Index heads, Index rows, Index cols) {
    to_.packed ? weights(linear, 1, rows, heads * cols) : weights(linear, heads, rows, cols);
  }

  void weights(Linear& linear, Index heads, Index rows, Index cols) {
    linear.W = hollow(to_.layout == Layout::torch ? Shape{1, heads, cols, rows} : Shape{1, heads, rows, cols});
    if (linear.b || sizes_.bias) linear.b = hollow({1, heads, 1, cols});
  }

  // A rule stays one; of a matrix only the shape is left.
  void masks() {
    for (Mask& mask : to_.masks) {
      mask.slopes.reset();
      if (mask.align && mask.align->kind == Align::Kind::per_item) mask.align.reset();
      const Shape was = mask.matrix.shape();
      if (was.size() == 0) continue;
      mask.kind = Mask::Kind::add;
      mask.matrix = hollow({was.batch > 1 ? batch_ : 1, was.heads > 1 ? h_ : 1, was.rows > 1 ? n_ : 1, m_});
    }
  }

  void rope() {
    if (!to_.rope) return;
    to_.rope->dims = std::min(follow(from_.rope->dims, from_.d_k(), d_k_), d_k_);
    to_.rope->positions.reset();
    to_.rope->positions_kv.reset();
  }

  void block() {
    if (sizes_.mlp && !to_.mlp) to_.mlp = Mlp{{}, {}, {}, Activation::relu};
    const Index d_out = to_.d_out(), was = from_.d_out();
    if (to_.mlp) {
      const Index f = sizes_.mlp ? *sizes_.mlp : from_.mlp_width();
      weights(to_.mlp->first, 1, d_out, f);
      if (to_.mlp->gate) weights(*to_.mlp->gate, 1, d_out, f);
      weights(to_.mlp->second, 1, f, from_.mlp ? follow(from_.d_result(), was, d_out) : d_out);
    }
    const bool post = to_.is_post_norm();
    resize(to_.norm, post ? d_out : d_);
    resize(to_.mlp_norm, post ? to_.d_result() : d_out);
    resize(to_.final_norm, to_.d_result());
  }

  const Problem& from_;
  const Sizes& sizes_;
  Problem to_;
  Index batch_ = 1, n_ = 0, m_ = 0, d_ = 0, h_ = 1, g_ = 1, d_k_ = 0, d_v_ = 0;
};

}  // namespace

bool Sizes::any() const {
  return bias || std::any_of(size_names.begin(), size_names.end(),
                             [this](const SizeName& name) { return (this->*name.size).has_value(); });
}

Problem shaped(const Problem& problem, const Sizes& sizes) {
  if (problem.layers.empty()) return Shaping(problem, sizes).shape();
  Problem result = problem;
  Sizes own = sizes;
  for (std::size_t i = 0; i < result.layers.size(); ++i) {  // each reads what the one before it gives
    if (i > 0) own.d_model = result.layers[i - 1].d_result();
    result.layers[i] = shaped(problem.layers[i], own);
  }
  result.X = result.layers.front().X;
  resize(result.final_norm, result.d_result());
  result.batched = problem.batched || sizes.batch;
  result.tokens.clear();
  return result;
}

Problem blank_problem(bool packed) {
  Problem problem;
  problem.X = hollow({1, 1, 0, 0});
  problem.packed = packed;
  return problem;
}

Problem problem_of(const PublishedModel& model, bool packed, const Sizes& sizes) {
  Problem problem = blank_problem(packed);
  const bool qkv = model.biases != PublishedModel::Biases::none;
  for (Linear* linear : {&problem.Q, &problem.K, &problem.V})
    if (qkv) linear->b = Tensor();
  if (model.biases == PublishedModel::Biases::all) problem.O.b = Tensor();
  if (model.causal) problem.masks.emplace_back().kind = Mask::Kind::causal;
  if (model.rope) problem.rope = Rope{};
  problem.title.en = std::string(model.title);
  Sizes own;
  own.d_model = model.d_model;
  own.heads = model.heads;
  own.kv_heads = model.kv_heads;
  own.d_k = model.d_k;
  own.tokens = sizes.tokens;
  Sizes given = sizes;
  given.bias = given.bias || model.biases == PublishedModel::Biases::all;  // those of an MLP that is added, too
  return shaped(shaped(problem, own), given);
}

}  // namespace mha::study
