// The stages of attention as the formulas say them, and the walk through them.
#include "study/mistakes/plain_attention.hpp"

#include <algorithm>
#include <cmath>

namespace mha::test {
namespace {

// Writes the stages down, rounded where the setting says so, and hands back what the next stage reads.
class Notebook {
 public:
  explicit Notebook(std::optional<int> decimals) : decimals_(decimals) {}

  const PlainHeads& write(StepId step, PlainHeads heads) { return trace_.steps[step] = round(std::move(heads)); }
  void copy(StepId step, PlainHeads heads) { trace_.steps[step] = std::move(heads); }
  PlainTrace take() { return std::move(trace_); }

  PlainHeads round(PlainHeads heads) const {
    if (!decimals_) return heads;
    return each_head(
        heads, [&](const PlainMatrix& head) { return each_entry(head, [&](double x) { return rounded(x, *decimals_); }); });
  }

 private:
  std::optional<int> decimals_;
  PlainTrace trace_;
};

PlainHeads project(const PlainSetting& s, const PlainMatrix& X, const PlainLinears& linears, StepId packed,
                   Notebook& book) {
  PlainHeads heads;
  for (const PlainLinear& linear : linears) heads.push_back(plus_row(times(X, linear.W), linear.b));
  const PlainHeads all = book.round({side_by_side(heads)});
  if (s.layer.packed) book.copy(packed, all);
  return s.split(all.front(), static_cast<Index>(linears.size()));
}

// One for each query head.
PlainHeads shared_out(const PlainHeads& heads, const std::vector<Index>& kv_head) {
  PlainHeads result;
  for (const Index head : kv_head) result.push_back(heads[static_cast<std::size_t>(head)]);
  return result;
}

struct Projected {
  PlainHeads Q, K, V;

  PlainHead head(std::size_t i) const { return {Q[i], K[i], V[i]}; }
};

Projected project_all(const PlainSetting& s, Notebook& book) {
  const PlainLayer& L = s.layer;
  Projected result;
  result.Q = book.write(StepId::Q, project(s, L.X, L.Q, StepId::packed_Q, book));
  result.K = book.write(StepId::K, shared_out(project(s, L.X_kv, L.K, StepId::packed_K, book), L.kv_head));
  result.V = book.write(StepId::V, shared_out(project(s, L.X_kv, L.V, StepId::packed_V, book), L.kv_head));
  return result;
}

PlainMatrix rotated(const PlainMatrix& a, const PlainRope& rope, const std::vector<Index>& positions) {
  PlainMatrix result = a;
  const Index pairs = rope.dims / 2;
  for (Index i = 0; i < a.rows; ++i)
    for (Index t = 0; t < pairs; ++t) {
      const Index first = rope.pairing == Pairing::half ? t : 2 * t;
      const Index second = rope.pairing == Pairing::half ? t + pairs : 2 * t + 1;
      const double speed = std::pow(rope.base, -2.0 * static_cast<double>(t) / static_cast<double>(rope.dims));
      const double angle = static_cast<double>(positions[static_cast<std::size_t>(i)]) * speed;
      result.at(i, first) = a.at(i, first) * std::cos(angle) - a.at(i, second) * std::sin(angle);
      result.at(i, second) = a.at(i, first) * std::sin(angle) + a.at(i, second) * std::cos(angle);
    }
  return result;
}

PlainHeads scores_of(const PlainSetting& s, Projected projected, Notebook& book) {
  if (const std::optional<PlainRope>& rope = s.layer.rope) {
    const auto turned = [&](const PlainHeads& heads, const std::vector<Index>& positions) {
      return each_head(heads, [&](const PlainMatrix& head) { return rotated(head, *rope, positions); });
    };
    projected.Q = book.write(StepId::Q_rot, turned(projected.Q, rope->query_positions));
    projected.K = book.write(StepId::K_rot, turned(projected.K, rope->key_positions));
  }
  PlainHeads scores;
  for (std::size_t i = 0; i < projected.Q.size(); ++i) scores.push_back(s.score(projected.head(i)));
  return book.write(StepId::scores, scores);
}

// What the softmax reads: scaled, capped and masked as far as the layer says so.
PlainHeads softmax_input(const PlainSetting& s, PlainHeads Z, const PlainHeads& added, Notebook& book) {
  const PlainLayer& L = s.layer;
  const auto each = [&](StepId step, const std::function<double(double)>& function) {
    Z = book.write(step, each_head(Z, [&](const PlainMatrix& head) { return each_entry(head, function); }));
  };
  if (L.scale) each(StepId::scaled, [&](double z) { return z * *L.scale; });
  if (L.cap) each(StepId::capped, [&](double z) { return *L.cap * std::tanh(z / *L.cap); });
  if (L.masks.empty()) return Z;
  for (std::size_t k = 0; k < Z.size(); ++k)
    Z[k] = build(Z[k].rows, Z[k].cols, [&](Index i, Index j) { return s.masked(Z[k].at(i, j), added[k].at(i, j)); });
  return book.write(StepId::masked, Z);
}

PlainMatrix each_row(const PlainMatrix& a, const std::function<Slice(const Slice&)>& function) {
  PlainMatrix result{a.rows, a.cols, {}};
  for (Index i = 0; i < a.rows; ++i) {
    const auto first = a.numbers.begin() + i * a.cols;
    const Slice row = function(Slice(first, first + a.cols));
    result.numbers.insert(result.numbers.end(), row.begin(), row.end());
  }
  return result;
}

}  // namespace

PlainTrace attend(const PlainSetting& s) {
  Notebook book(s.decimals);
  book.copy(StepId::X, {s.layer.X});
  const Projected projected = project_all(s, book);
  const PlainHeads added = added_by_masks(s.layer);
  const PlainHeads M = softmax_input(s, scores_of(s, projected, book), added, book);
  const PlainHeads normalised = each_head(M, [&](const PlainMatrix& head) {
    return each_row(head, [&](const Slice& slice) { return s.softmax(slice, s.empty); });
  });
  const PlainHeads weights = book.write(StepId::weights, s.finish_weights(normalised, added));
  PlainHeads heads;
  for (std::size_t i = 0; i < weights.size(); ++i) heads.push_back(times(weights[i], projected.V[i]));
  heads = book.write(StepId::head_output, heads);
  const PlainMatrix C = book.write(StepId::concat, {s.merge(heads)}).front();
  book.write(StepId::output, {s.layer.W_O.empty() ? C : plus_row(times(C, s.layer.W_O), s.layer.b_O)});
  return book.take();
}

PlainTrace plain_right(const Problem& problem, std::optional<int> decimals, double empty) {
  PlainSetting setting(plain_layer(problem));
  setting.decimals = decimals;
  setting.empty = empty;
  return attend(setting);
}

PlainSetting::PlainSetting(PlainLayer of)
    : layer(std::move(of)),
      split(cut),
      score([](const PlainHead& head) { return times(head.Q, transposed(head.K)); }),
      masked([](double z, double added) { return z + added; }),
      softmax(plain_softmax),
      finish_weights([](const PlainHeads& weights, const PlainHeads&) { return weights; }),
      merge(side_by_side) {}

bool is_all_hidden(const Slice& z) {
  return std::all_of(z.begin(), z.end(), [](double number) { return number == minus_infinity; });
}

Slice plain_softmax(const Slice& z, double empty) {
  if (is_all_hidden(z)) return Slice(z.size(), empty);
  const double largest = *std::max_element(z.begin(), z.end());
  Slice result;
  double sum = 0;
  for (const double number : z) {
    result.push_back(std::exp(number - largest));
    sum += result.back();
  }
  for (double& number : result) number /= sum;
  return result;
}

namespace {

bool is_alike(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return a == b;
  return std::abs(a - b) <= 1e-9 * std::max(1.0, std::abs(b));
}

bool same_matrix(const PlainMatrix& a, const PlainMatrix& b) {
  return a.rows == b.rows && a.cols == b.cols &&
         std::equal(a.numbers.begin(), a.numbers.end(), b.numbers.begin(), is_alike);
}

}  // namespace

std::optional<PlainPlace> first_plain_difference(const PlainTrace& right, const PlainTrace& other) {
  for (const auto& [step, heads] : right.steps) {
    const auto found = other.steps.find(step);
    if (found == other.steps.end()) continue;
    const PlainHeads& others = found->second;
    for (std::size_t i = 0; i < heads.size(); ++i)
      if (i >= others.size() || !same_matrix(heads[i], others[i])) return PlainPlace{step, static_cast<Index>(i)};
    if (others.size() > heads.size()) return PlainPlace{step, static_cast<Index>(heads.size())};
  }
  return {};
}

}  // namespace mha::test
