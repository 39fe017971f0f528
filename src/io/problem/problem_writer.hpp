// A problem, or parts of it, in the words of the problem file.
#pragma once

#include <string_view>

#include "core/problem.hpp"
#include "io/json/writer.hpp"

namespace mha::io {

// What stands in a problem file in the place of numbers: references into other files.
class MatrixReferences {
 public:
  virtual ~MatrixReferences() = default;
  // Writes the member "X", "W_Q" or "b_Q", or nothing where there is none.
  virtual void write(JsonWriter& json, std::string_view key) const = 0;
};

// What is written, and where to.
struct ProblemPen {
  JsonWriter& json;
  const Problem& problem;
  bool with_matrices = true;                     // else masks that hold a matrix are told by their kind alone
  const MatrixReferences* references = nullptr;  // in the place of the problem's own numbers
};

// One member for each key of the table that the problem has.
void write_problem(Sink& sink, const Problem& problem, const MatrixReferences* references = nullptr);

void write_title(const ProblemPen& pen);
void write_description(const ProblemPen& pen);
void write_tokens(const ProblemPen& pen);
void write_tokens_kv(const ProblemPen& pen);
void write_X(const ProblemPen& pen);
void write_X_kv(const ProblemPen& pen);
void write_weights(const ProblemPen& pen);  // in the form in which the problem gave them
void write_output_projection(const ProblemPen& pen);
void write_masks(const ProblemPen& pen);  // as the person wrote them
void write_scale(const ProblemPen& pen);
void write_softcap(const ProblemPen& pen);
void write_rope(const ProblemPen& pen);

// The values of some, for other files.
void write_caption(JsonWriter& json, const Caption& caption);
void write_labels(JsonWriter& json, std::string_view key, const Labels& labels);  // nothing where there are none

// W_QKV and b_QKV of a fused problem.
Linear fused_weights(const Problem& problem);

}  // namespace mha::io
