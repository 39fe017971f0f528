// How exact the result of a step can be: how far its operands may be off, and what floating point adds to that.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "study/check/plan_rows.hpp"

namespace mha::study {

// A value, and for each entry how far it may be from the one that was meant.
struct Uncertain {
  std::shared_ptr<const Tensor> numbers;
  std::shared_ptr<const Tensor> radius;                   // null: the numbers are exact
  std::vector<std::shared_ptr<const Tensor>> draws = {};  // the numbers of people who round otherwise; none: all have these
};

// The floating point in which a result was computed.
struct FloatingPoint {
  double eps = 0;    // from 1 to the next number: twice the error of one rounding
  double least = 0;  // what is smaller may become 0
  // Where the sizes of a sum's terms pass it, so may a partial sum, and anything can come out.
  double greatest = std::numeric_limits<double>::infinity();
  // OpenCL 1.2, section 7.4: tanh errs by at most 5 units in the last place (each at most eps of the number), exp by 3, a
  // quotient by 2.5; the host's own library by less. A soft cap: the quotient, tanh (which shrinks a relative error of its
  // argument), the product, and the cap itself, rounded on its way to the device: 2.5 + 5 + 0.5 + 0.5, and 2 for the host.
  // A weight, beside its sum: e^… above and below the line and the quotient: 3 + 3 + 2.5, and 2 for the host.
  double function_roundings = 11;
  // 0: roundings may all err at their worst in one direction, and a radius is a guarantee. Else they err by chance,
  // independently, so that radii add up by their squares; one rounding counts as so many times its greatest error and n of
  // them as √n times that (Higham and Mary 2019, A new approach to probabilistic rounding error analysis).
  double chance = 0;
  double longest_sum = std::numeric_limits<double>::infinity();  // longer ones are held in more bits
  // With a pencil: what is written down on the way (e^z, a mean, a variance and its root) is rounded by so much.
  double on_the_way = 0;

  bool by_chance() const { return chance > 0; }
  double together(double a, double b) const { return by_chance() ? std::hypot(a, b) : a + b; }
};

// For each entry of the result of a difference, a slope or a norm's slope how far another may be from it.
Tensor radius_of_slope(const Plan& plan, const Step& step, const std::vector<Uncertain>& operands, const Tensor& result,
                       const FloatingPoint& arithmetic);

// Takes single steps of a plan, which must outlive it, on the CPU in float64.
class StepTaker {
 public:
  explicit StepTaker(const RowPlan& rows, int threads = 1);

  const Plan& plan() const { return rows_.plan; }

  // `operands`: one for each of step.in.
  std::shared_ptr<const Tensor> result(const Step& step, const std::vector<Uncertain>& operands);

  // For each entry of that result how far another may be from it whose operands lie within their radii, computed in this
  // arithmetic with its sums in any order. Null where nothing can be off.
  std::shared_ptr<const Tensor> radius(const Step& step, const std::vector<Uncertain>& operands, const Tensor& result,
                                       const FloatingPoint& arithmetic);

 private:
  using Tensors = std::vector<std::shared_ptr<const Tensor>>;

  std::shared_ptr<const Tensor> take(const Step& step, const Tensors& operands);
  Tensor radius_of_terms(const Step& step, const std::vector<Uncertain>& operands, const Tensor& result,
                         const FloatingPoint& arithmetic);

  const RowPlan& rows_;
  compute::Workers workers_;
  std::unique_ptr<compute::Backend> backend_;
};

}  // namespace mha::study
