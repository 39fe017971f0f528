// Measures layers: the weights of their heads, their projections, and the output without each head.
#include "study/inspect/inspect.hpp"

#include "compute/engine.hpp"

namespace mha::study {
namespace {

// NaN, where one is, is what is told of both.
Measured larger(Measured a, Measured b) {
  return a < b || (b && std::isnan(*b)) ? b : a;
}

class LayerInspector {
 public:
  LayerInspector(const Problem& layer, const Plan& plan, const Trace& trace, int number)
      : problem_(layer), plan_(plan), trace_(trace), number_(number) {}

  LayerLook look() const {
    LayerLook look{&problem_, std::vector<HeadLook>(static_cast<std::size_t>(problem_.heads)), {}, {}};
    for (Index head = 0; head < problem_.heads; ++head) {
      look_at_weights(head, look.heads[static_cast<std::size_t>(head)]);
      look_without(head, look.heads[static_cast<std::size_t>(head)]);
    }
    if (!problem_.output_is_concat) look_at_W_O(look.heads);
    for (Index a = 0; a < problem_.heads; ++a)
      for (Index b = a + 1; b < problem_.heads; ++b) look.pairs.push_back({a, b, difference_of_weights(a, b), {}});
    look_at_projection("W_Q", problem_.Q, problem_.heads, look.pairs);
    look_at_projection("W_K", problem_.K, problem_.kv_heads, look.pairs);
    look_at_projection("W_V", problem_.V, problem_.kv_heads, look.pairs);
    return look;
  }

 private:
  const Tensor* value(StepId step) const {
    const std::optional<ValueId> id = plan_.find(step, number_);
    return id ? trace_.value(*id) : nullptr;
  }

  // How many keys a row may look at.
  Index visible(Index item, Index head, Index row) const {
    if (masked_ == nullptr) return keys_;
    const double* first = masked_->matrix(item, head) + row * keys_;
    return keys_ - std::count(first, first + keys_, show::minus_infinity);
  }

  void look_at_weights(Index head, HeadLook& look) const {
    double rows = 0, rows_with_previous = 0;
    std::array<double, largest_change> sums{};
    double most_entropy = 0;
    for (Index item = 0; item < weights_.shape().batch; ++item)
      for (Index row = 0; row < weights_.shape().rows; ++row) {
        const Index count = visible(item, head, row);
        if (count == 0) continue;
        const double* a = weights_.matrix(item, head) + row * keys_;
        for (Index j = 0; j < keys_; ++j) sums[entropy] -= a[j] == 0 ? 0 : a[j] * std::log(a[j]);
        sums[largest_weight] += *std::max_element(a, a + keys_);
        most_entropy += std::log(static_cast<double>(count));
        ++rows;
        if (problem_.X_kv) continue;
        sums[self] += a[row];
        sums[first_key] += a[0];
        if (row > 0) sums[previous] += a[row - 1], ++rows_with_previous;
      }
    if (rows > 0) look.most_entropy = most_entropy / rows;
    for (std::size_t i = 0; i < (problem_.X_kv ? self : largest_change); ++i)
      if (const double count = i == previous ? rows_with_previous : rows; count > 0) look.measured[i] = sums[i] / count;
  }

  void look_without(Index head, HeadLook& look) const {
    Tensor others = *value(StepId::head_output);
    for (Index item = 0; item < others.shape().batch; ++item)
      std::fill_n(others.matrix(item, head), others.shape().rows * others.shape().cols, 0.0);
    const ValueId output = *plan_.find(StepId::output, number_);
    look.without = *behind_heads(plan_, number_, std::move(others), output).value(output);
    double change = 0, whole = 0;
    look.measured[largest_change] = 0;
    for (Index i = 0; i < look.without.size(); ++i) {
      const double y = trace_.value(output)->data()[i], difference = std::abs(y - look.without.data()[i]);
      look.measured[largest_change] = larger(look.measured[largest_change], difference);
      change = std::hypot(change, difference);
      whole = std::hypot(whole, y);
    }
    if (whole != 0) look.measured[relative_change] = change / whole;
  }

  void look_at_W_O(std::vector<HeadLook>& heads) const {
    double largest = 0;
    for (HeadLook& head : heads) head.part_of_W_O = 0;
    for_each_entry(problem_.O.W.shape(), [&](const Entry& entry) {
      const Index row = problem_.layout == Layout::torch ? entry.column : entry.row;
      double& part = heads[static_cast<std::size_t>(row / problem_.d_v())].part_of_W_O;
      part = std::max(part, std::abs(problem_.O.W.at(entry)));
      largest = std::max(largest, part);
    });
    for (HeadLook& head : heads) head.part_of_W_O /= largest > 0 ? largest : 1;
  }

  Measured difference_of_weights(Index a, Index b) const {
    Measured largest;
    for (Index item = 0; item < weights_.shape().batch; ++item)
      for (Index row = 0; row < weights_.shape().rows; ++row) {
        const bool keyed = visible(item, a, row) > 0 && visible(item, b, row) > 0;
        for (Index j = 0; keyed && j < keys_; ++j)
          largest = larger(largest, std::abs(weights_.at(item, a, row, j) - weights_.at(item, b, row, j)));
      }
    return largest;
  }

  void look_at_projection(std::string_view name, const Linear& linear, Index own, std::vector<PairLook>& pairs) const {
    const std::vector<Index> first = first_alike(linear, own, problem_.layout);
    const auto of = [&](Index head) { return first[static_cast<std::size_t>(broadcast(head, own, problem_.heads))]; };
    for (PairLook& pair : pairs)
      if (of(pair.first) == of(pair.second)) pair.same_projections.push_back(name);
  }

  const Problem& problem_;
  const Plan& plan_;
  const Trace& trace_;
  int number_;
  const Tensor& weights_ = *value(StepId::weights);
  const Tensor* masked_ = value(StepId::masked);
  Index keys_ = weights_.shape().cols;
};

// Leaves in `all` what this layer has as well, with the numbers of both.
void leave_in(std::vector<LayerFinding>& all, const std::vector<LayerFinding>& layer) {
  std::erase_if(all, [&](LayerFinding& finding) {
    const auto same = std::find_if(layer.begin(), layer.end(), [&](const LayerFinding& other) {
      return other.kind == finding.kind && other.claim == finding.claim;
    });
    for (std::size_t i = 0; same != layer.end() && i < finding.numbers.size(); ++i)
      finding.numbers[i] = {std::min(finding.numbers[i][0], same->numbers[i][0]),
                            std::max(finding.numbers[i][1], same->numbers[i][1])};
    return same == layer.end();
  });
}

void leave_in(std::vector<PairLook>& all, const std::vector<PairLook>& layer) {
  std::erase_if(all, [&](PairLook& pair) {
    const auto same = std::find_if(layer.begin(), layer.end(), [&](const PairLook& other) {
      return other.first == pair.first && other.second == pair.second;
    });
    if (same == layer.end()) return true;
    pair.weights_difference = larger(pair.weights_difference, same->weights_difference);
    std::erase_if(pair.same_projections, [&](std::string_view name) {
      return std::count(same->same_projections.begin(), same->same_projections.end(), name) == 0;
    });
    return false;
  });
}

}  // namespace

Inspection inspect(const std::vector<Problem>& problems, const show::PageOptions& options, const Computed& computed) {
  Inspection inspection;
  Selection wanted;
  wanted.steps.assign(step_count, false);
  for (const StepId step : {StepId::masked, StepId::weights, StepId::head_output, StepId::output})
    wanted.steps[static_cast<std::size_t>(step)] = true;
  for (const Problem& problem : problems) {
    const Plan plan = make_plan(problem);
    compute::RunOptions run_options;
    run_options.keep = compute::values_to_keep(plan, wanted, false);
    const Trace trace = compute::run(plan, run_options);
    if (computed) computed(problem, plan, trace);
    std::vector<LayerLook>& layers = inspection.problems.emplace_back();
    for (int i = 0; i < problem.layer_count(); ++i) {
      layers.push_back(LayerInspector(problem.layer(i), plan, trace, i).look());
      layers.back().findings = findings_of(layers.back(), options);
      if (&problem == &problems.front() && i == 0) inspection.all = {nullptr, {}, layers[0].pairs, layers[0].findings};
      leave_in(inspection.all.findings, layers.back().findings);
      leave_in(inspection.all.pairs, layers.back().pairs);
    }
  }
  return inspection;
}

}  // namespace mha::study
