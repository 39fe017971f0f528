// Two computations held side by side, step by step: two problems, or a problem and the same with a mistake made.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "io/files/sink.hpp"
#include "show/pages/describe.hpp"
#include "study/mistakes/simulate.hpp"

namespace mha::study {

enum class MatrixVerdict { equal, different, other_shape, left_only, right_only };

// One matrix of a step on both sides.
struct ComparedMatrix : LayerStep {
  Index item = 0, head = 0;  // from 0; what belongs to all heads is found under head 0
  MatrixVerdict verdict = MatrixVerdict::equal;
  double largest = 0;  // |left − right|, for MatrixVerdict::different; infinite where one of them is NaN or infinite alone
  Index row = 0, column = 0;  // where it is largest
};

struct Comparison {
  std::vector<ComparedMatrix> matrices;  // in the order of the computation: all heads of a step before the next step
  std::optional<std::size_t> first;      // the first that is on both sides and not equal
};

// The difference of two numbers: 0 where they are the same to nine digits, infinite where one is NaN or infinite alone.
double difference(double a, double b);

// Numbers are equal when they agree to nine digits: the order of a sum shows in the last ones.
// Those of each layer.
Comparison compare(const std::vector<Written>& left, const std::vector<Written>& right);

// One side of a comparison.
struct Side {
  show::Words name;
  Layered computed;  // the problems' labels are shown

  const Tensor& tensor(const ComparedMatrix& matrix) const {
    return *computed.numbers[static_cast<std::size_t>(matrix.layer.value_or(0))][static_cast<std::size_t>(matrix.step)];
  }
};

// `remarks` say what was done differently on the right, where that is known. Of the options, language, precision, index
// base, the selection of steps and heads, and `full` count.
show::Document describe(const Comparison& comparison, const Side& left, const Side& right,
                        const std::vector<show::Words>& remarks, const show::PageOptions& options);

// {"format": "mha-compare", "version": 1, "left", "right", "mistake"?, "steps": […]}: for each matrix its layer, step, head
// and item (from 1), "equal"; where it is not, the largest difference with its place, and both matrices whole; where only
// one side has it, that one alone. Flushing the sink is left to the caller.
void write_comparison_json(io::Sink& sink, const Comparison& comparison, const Side& left, const Side& right,
                           std::optional<std::string_view> mistake, const Selection& selection);

}  // namespace mha::study
