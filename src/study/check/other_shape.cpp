// What follows from matrices that have another shape than they should.
#include <algorithm>

#include "core/op_rules.hpp"
#include "study/check/answer_walk.hpp"

namespace mha::study {

std::optional<Reading> read_on_from_other_shape(const RowPlan& rows, const GivenMatrices& given, const Precision& precision,
                                                const Reading& reading, StepId step) {
  Plan plan = rows.plan;
  const auto id = static_cast<std::size_t>(*rows.value(step));
  Shape own = given.find(step, 0) == nullptr ? plan.values[id].shape : given.find(step, 0)->numbers.shape();
  if (own.has_matrices_as(plan.values[id].shape) || own.batch != plan.values[id].shape.batch) return std::nullopt;
  own.heads = plan.values[id].shape.heads;
  Tensor numbers(own), radius(own);
  for (Index head = 0; head < own.heads; ++head) {
    const GivenMatrix* matrix = given.find(step, head);
    if (matrix == nullptr || !matrix->numbers.shape().has_matrices_as(own)) return std::nullopt;
    for (Index item = 0; item < own.batch; ++item)
      for (Index i = 0; i < own.rows * own.cols; ++i) {
        const double number = numbers.matrix(item, head)[i] = matrix->numbers.matrix(item, 0)[i];
        radius.matrix(item, head)[i] = matrix->form.written(number);
      }
  }
  plan.values[id].shape = own;
  const auto misfit = std::find_if(plan.steps.begin(), plan.steps.end(), [&](const Step& later) {
    Shape& shape = plan.values[static_cast<std::size_t>(later.out)].shape;
    const std::optional<Shape> to = later.id > step ? result_shape(plan, later, shape) : shape;
    if (to) shape = *to;
    return !to;
  });
  plan.steps.erase(misfit, plan.steps.end());
  Reading start = reading;
  Uncertain& used = start.steps[static_cast<std::size_t>(step)]->used;
  used = {std::make_shared<Tensor>(std::move(numbers)),
          precision.propagated ? std::make_shared<Tensor>(std::move(radius)) : nullptr};
  const auto next = static_cast<StepId>(static_cast<std::size_t>(step) + 1);
  return read_answer(RowPlan(std::move(plan)), given, precision, Start{&start, next});
}

}  // namespace mha::study
