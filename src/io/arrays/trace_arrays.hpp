// The arrays of a trace under their names in binary files: "heads.1.weights", "packed.Q", "output".
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/trace.hpp"

namespace mha::io {

struct TraceArray {
  std::string name;
  std::vector<Index> axes;  // rows and columns, in front of them the batch where there is one; a bias has one axis
  ValueId value = -1;       // what the run computes: the matrices of this head of the value
  Index head = 0;
  std::shared_ptr<const Tensor> given;  // what is known before the run, and then
  Index first_row = 0;                  // the place in there from which on its rows follow one another

  Index rows() const;  // through all matrices
  Index cols() const { return axes.back(); }
};

// In the order of the JSON. `with_weights` adds weights and the masks' matrices under "parameters.", named as in a problem,
// heads and the masks of a list by their number. The arrays refer to the problem, which must outlive them.
std::vector<TraceArray> trace_arrays(const Problem& problem, const Plan& plan, const Selection& selection,
                                     bool with_weights);

}  // namespace mha::io
