// All mistakes in one list, and their forms as answers give them.
#include "study/mistakes/mistake.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <stdexcept>

#include "core/gradient.hpp"
#include "study/mistakes/forms.hpp"

namespace mha::study {
namespace {

// What this softmax normalises together: the slice to which an entry of batch × heads × rows × cols belongs, by number.
Index slice_of(Softmax::Over over, const Shape& shape, const Entry& entry) {
  const auto& [item, head, i, j] = entry;
  switch (over) {
    case Softmax::Over::row: return (item * shape.heads + head) * shape.rows + i;
    case Softmax::Over::column: return (item * shape.heads + head) * shape.cols + j;
    case Softmax::Over::heads: return (item * shape.rows + i) * shape.cols + j;
    case Softmax::Over::matrix: return item * shape.heads + head;
    case Softmax::Over::items: return (head * shape.rows + i) * shape.cols + j;
  }
  return 0;
}

// Whether the masks hide all of a slice from this softmax.
bool meets_empty_slice(const Plan& plan, const Step& softmax) {
  const Step* sum = plan.writer_of(softmax.in.front());
  if (sum == nullptr || sum->op != Op::add) return false;
  const Shape& whole = plan.value(softmax.out).shape;
  Shape shape{1, 1, whole.rows, whole.cols};  // heads and items that have the same masks are looked at once
  for (std::size_t term = 1; term < sum->in.size(); ++term) {
    const Shape& mask = plan.value(sum->in[term]).shape;
    if (mask.batch > 1) shape.batch = whole.batch;
    if (mask.heads > 1) shape.heads = whole.heads;
  }
  const Softmax::Over over = softmax.softmax.over;
  std::vector<bool> seen(static_cast<std::size_t>(shape.size()), false), open = seen;
  std::vector<double> room, added(static_cast<std::size_t>(shape.cols));
  for (Index row = 0; row < shape.size() / shape.cols; ++row) {
    Entry at{row / shape.rows / shape.heads, row / shape.rows % shape.heads, row % shape.rows, 0};
    std::fill(added.begin(), added.end(), 0.0);
    for (std::size_t term = 1; term < sum->in.size(); ++term) {
      const Value& value = plan.value(sum->in[term]);
      const double* numbers = value.constant ? value.constant->row(whole, at.item, at.head, at.row, room) : nullptr;
      for (Index j = 0; numbers != nullptr && j < shape.cols; ++j)
        added[static_cast<std::size_t>(j)] += numbers[value.shape.cols == 1 ? 0 : j];
    }
    for (; at.column < shape.cols; ++at.column) {
      const auto slice = static_cast<std::size_t>(slice_of(over, shape, at));
      const double number = added[static_cast<std::size_t>(at.column)];  // whatever the first term is
      seen[slice] = true;
      if (std::isinf(number) && number < 0) continue;
      open[slice] = true;
      if (over == Softmax::Over::row) break;
    }
  }
  return seen != open;
}

// People's softmax of a slice of −∞ gives 0/0 = NaN, or they put 0.
void add_with_empty_slices(Variants& variants, Variant variant) {
  Plan as_nan = variant.plan;
  bool changed = false;
  for (Step& step : as_nan.steps)
    if (info_of(step.op).shares == Shares::of_one && meets_empty_slice(as_nan, step))
      changed = step.softmax.empty_is_nan = true;
  if (!changed) return variants.push_back(std::move(variant));
  const std::string before = variant.detail.empty() ? "" : variant.detail + "; ";
  variants.push_back({std::move(variant.plan), before + "−∞ … −∞ → 0"});
  variants.push_back({std::move(as_nan), before + "−∞ … −∞ → NaN"});
}

constexpr std::array<std::array<std::string_view, 2>, 11> made_together = {{
    {"reshape_without_transpose", "merge_without_transpose"},
    {"weights_transposed", "wo_transposed"},
    {"no_projection", "wo_missing"},
    {"reshape_without_transpose", "scale_sqrt_dmodel"},
    {"reshape_without_transpose", "scale_sqrt_all_heads"},
    {"reshape_without_transpose", "scale_dk"},
    {"reshape_without_transpose", "no_scale"},
    {"scale_sqrt_dmodel", "merge_without_transpose"},
    {"scale_sqrt_all_heads", "merge_without_transpose"},
    {"scale_dk", "merge_without_transpose"},
    {"no_scale", "merge_without_transpose"},
}};

Variants answers_of(Variants forms, const Problem& problem) {
  Variants result;
  for (Variant& form : forms)
    add_with_empty_slices(result, {as_answered(std::move(form.plan), problem), std::move(form.detail)});
  return result;
}

// Gradients become rows, and what else the backward pass computes serves the first row that needs it.
void name_rows(Plan& plan) {
  for (Value& value : plan.values)
    if (value.gradient == Value::Gradient::whole) value.step = row_of_gradient(plan, value);
  for (auto step = plan.steps.rbegin(); step != plan.steps.rend() && plan.is_backward(*step); ++step) {
    const Value& result = plan.value(step->out);
    step->id = result.step.value_or(StepId::d_final_norm_beta);
    for (auto reader = plan.steps.rbegin(); !result.step && reader != step; ++reader)
      if (std::count(reader->in.begin(), reader->in.end(), step->out) > 0) step->id = std::min(step->id, reader->id);
  }
}

Plan with_rows_of_gradients(Plan plan, const Problem& problem) {
  if (!problem.loss || plan.is_backward(plan.steps.back())) return plan;
  std::optional<Plan> both = with_gradient_if_any(plan, *problem.loss);
  if (!both) return plan;
  name_rows(*both);
  return *std::move(both);
}

// One matrix for each query head, all the same; the steps behind read their mean, which is each of them.
void spread_over_group(PlanEditor& edit, StepId id, Index heads) {
  if (!edit.has(id) || edit.shape(id).heads == heads) return;
  const Index groups = edit.shape(id).heads;
  edit.append({Op::copy, id, {}});
  edit.shape(id).heads = heads;
  if (!is_gradient(id)) return;
  const ValueId own = edit.value(id), one = edit.constant("g/h", static_cast<double>(groups) / static_cast<double>(heads));
  Shape shape = edit.shape(id);
  shape.heads = groups;
  const ValueId sum = edit.insert_behind({Op::sum, id, {own}}, shape);
  edit.insert_behind({Op::multiply, id, {sum, one}}, shape);
}

std::vector<Mistake> collect() {
  std::vector<Mistake> all;
  for (const auto& group : {projection_mistakes, head_mistakes, rope_mistakes, score_mistakes, mask_mistakes,
                            weight_mistakes, output_mistakes, block_mistakes, gradient_mistakes})
    all.insert(all.end(), group.begin(), group.end());
  return all;
}

}  // namespace

Plan as_answered(Plan plan, const Problem& problem) {
  PlanEditor edit(with_rows_of_gradients(std::move(plan), problem));
  const Index heads = edit.shape(StepId::scores).heads;
  for (const StepId id : {StepId::K, StepId::V, StepId::d_K_rot, StepId::d_K, StepId::d_V})
    spread_over_group(edit, id, heads);
  if (edit.has(StepId::K_rot)) edit.shape(StepId::K_rot).heads = heads;  // a copy where the rotation is left out
  return std::move(edit).finish().value();
}

Variants Forms::finish(std::string_view mistake) && {
  Variants result;
  for (auto& [edit, detail] : edits_) {
    if (edit.changes_nothing(right)) throw std::logic_error(fmt::format("the mistake {} changes nothing", mistake));
    if (std::optional<Plan> plan = std::move(edit).finish()) result.push_back({std::move(*plan), std::move(detail)});
  }
  return result;
}

Variants Mistake::variants(const Problem& problem) const {
  return MistakePair{this}.variants(problem, make_plan(problem));
}

Variants MistakePair::variants(const Problem& problem, const Plan& right) const {
  Forms forms(problem, is_gradient(first->first) ? with_rows_of_gradients(right, problem) : right);
  first->make(forms);
  Variants made = std::move(forms).finish(first->id);
  if (second == nullptr) return answers_of(std::move(made), problem);
  Variants both;
  for (Variant& form : made) {
    Forms further(problem, std::move(form.plan));
    second->make(further);
    for (Variant& twice : std::move(further).finish(second->id)) {
      if (!form.detail.empty()) twice.detail = form.detail + (twice.detail.empty() ? "" : "; ") + twice.detail;
      both.push_back(std::move(twice));
    }
  }
  return answers_of(std::move(both), problem);
}

std::vector<MistakePair> mistake_pairs() {
  std::vector<MistakePair> all;
  for (const auto& [first, second] : made_together) all.push_back({find_mistake(first), find_mistake(second)});
  return all;
}

std::string in_layout(std::string_view sentence, Layout layout) {
  constexpr std::string_view product = "·W", transposed = "ᵀ", names = "QKVO";
  std::string result;
  for (std::size_t at = 0; at < sentence.size();) {
    std::size_t end = at + 1;
    const bool is_product = layout == Layout::torch && sentence.substr(at, product.size()) == product;
    if (is_product) {
      end = at + product.size();
      if (end + 1 < sentence.size() && sentence[end] == '_' && names.find(sentence[end + 1]) != std::string_view::npos)
        end += 2;
    }
    result += sentence.substr(at, end - at);
    at = end;
    if (!is_product) continue;
    if (sentence.substr(at, transposed.size()) == transposed)
      at += transposed.size();
    else
      result += transposed;
  }
  return result;
}

std::span<const Mistake> mistakes() {
  static const std::vector<Mistake> all = collect();
  return all;
}

const Mistake* find_mistake(std::string_view id) {
  const std::span<const Mistake> all = mistakes();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Mistake& mistake) { return mistake.id == id; });
  return found == all.end() ? nullptr : &*found;
}

Plan answer_plan(const Problem& problem) {
  assert(problem.layers.empty());
  return as_answered(make_plan(problem), problem);
}

Variants answer_forms(const Problem& problem) {
  Variants forms;
  add_with_empty_slices(forms, {answer_plan(problem), {}});
  return forms;
}

}  // namespace mha::study
