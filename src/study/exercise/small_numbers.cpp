// Draws X, then for each key/value head a W_K, and for its query heads a W_Q with which the scores stay small.
#include "study/exercise/exercise.hpp"

#include <numeric>

#include "study/mistakes/simulate.hpp"

namespace mha::study {
namespace {

constexpr int most_tries = 30;           // for the queries of one head, and for the keys of a group
constexpr double wanted_variance = 0.9;  // of an entry of Q and K, so that scores are about 1

Linear unfilled(Index heads, Index rows, Index cols, bool bias) {
  Linear linear{Tensor({1, heads, rows, cols}), {}};
  if (bias) linear.b = Tensor({1, heads, 1, cols});
  return linear;
}

// All matrices in their shapes, their entries not yet drawn.
Problem unfilled(const ExerciseSizes& sizes) {
  Problem p;
  p.heads = sizes.heads;
  p.kv_heads = sizes.kv_heads;
  p.grouped = sizes.kv_heads != sizes.heads;
  p.X = Tensor({1, 1, sizes.tokens, sizes.d_model});
  p.Q = unfilled(sizes.heads, sizes.d_model, sizes.d_k, sizes.bias);
  p.K = unfilled(sizes.kv_heads, sizes.d_model, sizes.d_k, sizes.bias);
  p.V = p.K;
  p.O = unfilled(1, sizes.heads * sizes.d_k, sizes.d_model, sizes.bias);
  p.residual = sizes.residual;
  if (sizes.mlp > 0)
    p.mlp = Mlp{unfilled(1, sizes.d_model, sizes.mlp, sizes.bias),
                unfilled(1, sizes.mlp, sizes.d_model, sizes.bias),
                {},
                sizes.activation};
  if (sizes.gate) p.mlp->gate = p.mlp->first;
  if (sizes.norm) {
    const Tensor row({1, 1, 1, sizes.d_model});
    NormRule norm{{}, row, {}};
    norm.rule.kind = *sizes.norm;
    if (sizes.bias && *sizes.norm == Norm::Kind::layer) norm.beta = row;
    p.norm = norm;
    if (p.mlp) p.mlp_norm = norm;
    if (sizes.final_norm) p.final_norm = norm;
    p.norm_place = sizes.norm_behind ? NormPlace::post : NormPlace::pre;
  }
  if (sizes.gradient) p.loss = Loss{Loss::Kind::half_squares, p.X};
  if (sizes.causal) p.masks.emplace_back().kind = Mask::Kind::causal;
  return p;
}

class SmallNumbers {
 public:
  SmallNumbers(const ExerciseSizes& sizes, const Difficulty& difficulty, Dice& dice)
      : difficulty_(difficulty),
        dice_(dice),
        problem_(unfilled(sizes)),
        spread_(sizes.layers > 1 && !sizes.residual),
        per_mille_(density(mean_square(difficulty.X))) {}

  std::optional<Problem> draw(const std::optional<Tensor>& X) {
    if (X) problem_.X = *X;
    if (!X) std::generate_n(problem_.X.data(), problem_.X.size(), [&] { return number(difficulty_.X); });
    for (std::optional<NormRule>* norm : {&problem_.norm, &problem_.mlp_norm, &problem_.final_norm})
      if (*norm) draw_norm(**norm);
    reads_ = what_is_read();
    if (X || problem_.norm) {
      const double* numbers = reads_.data();
      const double squares = std::inner_product(numbers, numbers + reads_.size(), numbers, 0.0);
      per_mille_ = std::max(density(squares / static_cast<double>(reads_.size())),
                            static_cast<int>(1000 / problem_.d_model()));  // two of a column are not 0 anyhow
    }
    for (Index group = 0; group < problem_.kv_heads; ++group)
      if (!draw_group(group)) return std::nullopt;
    // Attention without a residual sum brings the tokens closer to one another.
    const int sparse = std::exchange(per_mille_, spread_ ? 1000 : per_mille_);
    fill(problem_.O, 0);
    per_mille_ = sparse;
    if (problem_.mlp) fill(problem_.mlp->first, 0), fill(problem_.mlp->second, 0);
    if (problem_.mlp && problem_.mlp->gate) fill(*problem_.mlp->gate, 0);
    if (problem_.loss)
      std::generate_n(problem_.loss->target.data(), problem_.X.size(), [&] { return number(difficulty_.X); });
    return std::move(problem_);
  }

 private:
  static double mean_square(const Grain& grain) {
    double sum = 0;
    for (int i = -grain.largest; i <= grain.largest; ++i) sum += i * i;
    return sum / (2 * grain.largest + 1) / (grain.parts * grain.parts);
  }

  // Of 1000 entries of a weight matrix so many are not 0, where what is read has this mean square.
  int density(double read) const {
    const double full = static_cast<double>(problem_.d_model()) * read * mean_square(difficulty_.weights);
    return static_cast<int>(std::min(1000.0, 1000 * wanted_variance / full));
  }

  void draw_norm(NormRule& norm) {
    const int parts = difficulty_.weights.parts;
    std::generate_n(norm.gamma->data(), norm.gamma->size(),
                    [&] { return static_cast<double>(dice_.whole(1, 2 * parts)) / parts; });
    if (norm.beta) std::generate_n(norm.beta->data(), norm.beta->size(), [&] { return number(difficulty_.weights); });
  }

  // By the attention; the weights are not needed yet.
  Tensor what_is_read() const {
    if (!problem_.norm || problem_.is_post_norm()) return problem_.X;
    const Plan plan = make_plan(problem_);
    return *written(plan, simulate(plan))[static_cast<std::size_t>(StepId::norm)];
  }

  double number(const Grain& grain) {
    return static_cast<double>(dice_.whole(-grain.largest, grain.largest)) / grain.parts;
  }
  double weight() { return dice_.whole(0, 999) < per_mille_ ? number(difficulty_.weights) : 0; }

  // Every column has two entries that are not 0, so that it mixes.
  void fill(Linear& linear, Index head) {
    const Shape& shape = linear.W.shape();
    const Index wanted = std::min<Index>(2, shape.rows);
    for (Index column = 0; column < shape.cols; ++column)
      for (Index count = 0; count < wanted;) {
        count = 0;
        for (Index row = 0; row < shape.rows; ++row)
          if ((linear.W.at(0, head, row, column) = weight()) != 0) ++count;
      }
    if (!linear.b) return;
    std::generate_n(linear.b->matrix(0, head), shape.cols, [&] { return number(difficulty_.weights); });
  }

  // A key/value head and the query heads that use it.
  bool draw_group(Index group) {
    fill(problem_.V, group);
    for (int i = 0; i < most_tries; ++i) {
      fill(problem_.K, group);
      const Index size = problem_.heads / problem_.kv_heads;
      Index head = group * size;
      while (head < (group + 1) * size && draw_queries(head)) ++head;
      if (head == (group + 1) * size) return true;
    }
    return false;
  }

  bool draw_queries(Index head) {
    for (int i = 0; i < most_tries; ++i) {
      fill(problem_.Q, head);
      if (scores_are_small(head)) return true;
    }
    return false;
  }

  // X·W + b of one head, n×d_k.
  std::vector<double> projected(const Linear& linear, Index head) const {
    const Index n = problem_.queries(), d_model = problem_.d_model(), d_k = linear.W.shape().cols;
    std::vector<double> result;
    for (Index i = 0; i < n; ++i)
      for (Index c = 0; c < d_k; ++c) {
        double sum = linear.b ? linear.b->at(0, head, 0, c) : 0;
        for (Index j = 0; j < d_model; ++j) sum += reads_.at(0, 0, i, j) * linear.W.at(0, head, j, c);
        result.push_back(sum);
      }
    return result;
  }

  bool scores_are_small(Index head) const {
    const std::vector<double> q = projected(problem_.Q, head);
    const std::vector<double> k = projected(problem_.K, broadcast(head, problem_.kv_heads, problem_.heads));
    const auto n = static_cast<std::size_t>(problem_.queries()), d_k = q.size() / n;
    const double limit = difficulty_.largest_score * std::sqrt(static_cast<double>(d_k));
    for (std::size_t i = 0; i < n; ++i) {
      double least = 0, most = 0;  // 0 counts as a score: no score is further from it than two may be from one another
      for (std::size_t j = 0; j < n; ++j) {
        double score = 0;
        for (std::size_t c = 0; c < d_k; ++c) score += q[i * d_k + c] * k[j * d_k + c];
        least = std::min(least, score);
        most = std::max(most, score);
      }
      if (most - least > limit) return false;
    }
    return true;
  }

  const Difficulty& difficulty_;
  Dice& dice_;
  Problem problem_;
  Tensor reads_;
  bool spread_;
  int per_mille_;
};

}  // namespace

std::optional<Problem> draw_small_numbers(const ExerciseSizes& sizes, const Difficulty& difficulty, Dice& dice,
                                          const std::optional<Tensor>& X) {
  return SmallNumbers(sizes, difficulty, dice).draw(X);
}

Problem draw_real_numbers(const ExerciseSizes& sizes, Dice& dice) {
  Problem p = unfilled(sizes);
  const auto fill = [&](Tensor& tensor, double largest) {
    std::generate_n(tensor.data(), tensor.size(), [&] { return dice.real() * largest; });
  };
  fill(p.X, 2);
  if (p.loss) fill(p.loss->target, 2);
  std::vector<Linear*> linears{&p.Q, &p.K, &p.V, &p.O};
  if (p.mlp) linears.insert(linears.end(), {&p.mlp->first, &p.mlp->second});
  if (p.mlp && p.mlp->gate) linears.push_back(&*p.mlp->gate);
  for (std::optional<NormRule>* norm : {&p.norm, &p.mlp_norm, &p.final_norm}) {
    if (*norm) fill(*(*norm)->gamma, 2);
    if (*norm && (*norm)->beta) fill(*(*norm)->beta, 1);
  }
  for (Linear* linear : linears) {
    fill(linear->W, 1 / std::sqrt(static_cast<double>(linear->W.shape().rows)));
    if (linear->b) fill(*linear->b, 1);
  }
  return p;
}

}  // namespace mha::study
