// A problem, or parts of it, in the words of the problem file.
#pragma once

#include "core/problem.hpp"
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

}  // namespace mha::io
