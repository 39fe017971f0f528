// A problem, or parts of it, and every chosen step of a run in the words of their files, streamed.
#pragma once

#include <functional>

#include "core/problem.hpp"
#include "core/trace.hpp"
#include "io/json/writer.hpp"

namespace mha::io {

// Stands in a problem that is only written, in the place of numbers: a reference into another file.
class Reference : public Stored {
 public:
  virtual void write(JsonWriter& json) const = 0;

  void read_rows(Index, Index, double*) const override { assert(false); }
  void read_rows(Index, Index, float*) const override { assert(false); }
};

// One member for each key of the table that the problem has.
void write_problem(Sink& sink, const Problem& problem);

void write_caption(JsonWriter& json, const Caption& caption);

// A weight or a bias as the problem file has it: of all heads together, or of one.
struct Parameter {
  std::string_view
      place;        // "heads", "kv_heads", "norm", "mlp": the list or object in which it stands; or the problem itself
  Index entry = 0;  // of a list
  std::string key;  // "W_Q"
  std::shared_ptr<const Tensor> tensor;
  std::vector<Index> axes;  // rows and columns; a bias has one axis
  Index first_row = 0;      // the place in the tensor from which on its rows follow one another
};

constexpr bool is_list(std::string_view place) {
  return place == "heads" || place == "kv_heads";
}

// Of one layer, in the order of the file. They refer to the problem, which must outlive them.
std::vector<Parameter> parameters_in(const Problem& problem);

// The matrices of steps, of a run or of a person's work.
struct StepMatrices {
  std::function<const Tensor*(StepId step)> of;                   // null: left out
  std::function<void(const Tensor& matrices, Index head)> write;  // what stands for one head of them
  Index heads = 1;                                                // of the queries
  std::optional<Index> kv_heads = {};                             // told beside each head
  Selection selection = {};                                       // of heads
};

// Members of the open object: {"X": …, "packed": {"Q": …}, "heads": [{"head": 1, "Q": …}, …], "concat": …, "output": …}.
void write_steps(JsonWriter& json, const StepMatrices& steps);

// A member of the open object: sizes, rules, labels.
void write_config(JsonWriter& json, const Problem& problem);

// Members of the open object: the chosen steps, those of a stack in "layers", and with `with_weights` the weights; behind
// them the loss and the gradients of a plan that goes back.
void write_computed(JsonWriter& json, const Problem& problem, const Plan& plan, const Trace& trace,
                    const Selection& selection, bool with_weights);

// Writes what was kept of the chosen steps and heads. `with_weights` adds the problem's weights, in the form in which the
// problem gave them, and its masks' matrices. Flushing the sink is left to the caller.
void write_trace(Sink& sink, const Problem& problem, const Plan& plan, const Trace& trace, const Selection& selection,
                 bool with_weights);

}  // namespace mha::io
