// What a person handed in: matrices under the names of steps, as they stand in the file.
#pragma once

#include "core/numbers.hpp"
#include "core/step.hpp"
#include "core/tensor.hpp"
#include "io/json/tree.hpp"

namespace mha::io {

struct AnswerMatrix {
  StepId step = StepId::X;
  std::optional<Index> head;       // from 0; nothing where the name has no head's number
  std::vector<Index> axes;         // rows and columns, and in front of them what the file has: heads, a batch
  Numbers numbers;                 // row after row
  std::vector<std::size_t> blank;  // the places of entries that were not filled in; what stands there means nothing
  std::vector<Writing> writing;    // of each matrix; empty: the numbers are no text
  std::optional<Index> kv_head;    // from 0, where the file says to whom keys and values belong
  std::optional<int> layer;        // from 0, where the file says it
  bool out_by_in = false;          // of a weight as PyTorch stores it
  bool is_result = false;          // "X2": what this layer gives, whichever step that is; else of `step`
};

struct Answer {
  std::string name;  // the file's, or that of a line
  std::vector<AnswerMatrix> matrices;
  std::vector<StepId> left_blank;  // steps with a matrix in which nothing is filled in
  std::vector<Saying> unknown;     // what was passed over: keys that name no step, entries that are no number
};

// Each throws Error where the text cannot be read as matrices of numbers. A matrix of nothing but null is one that was not
// filled in, and is left out; null elsewhere is a blank entry, as is a text that is no number. Files that end in .csv are
// tables of steps (read_table), those in .npz or .safetensors hold arrays under the names of steps, a .npy file the matrix
// `as`.
Answer read_answer_file(const std::string& path, const std::optional<std::string>& as = std::nullopt);
Answer read_answer_fd(int fd, std::string_view name);  // standard input
// One line of a file, whose `line` counts from 1; the answer takes the name that stands in it.
Answer read_answer_line(std::string_view text, std::string_view file, Index line);

// What each step is worth, as a file says it: {"output": 4, "weights": 2}, or the same as its "points". Throws Error.
std::vector<std::pair<std::string, double>> read_points(const std::string& path);

// Whether numbers, or what cannot be read and may be somebody's work as well, stand in the file.
bool is_filled_in(const std::string& path);

// Higher numbers are no heads of anything.
inline constexpr Index most_heads = 100'000;

struct MatrixName {
  StepId step;
  std::optional<Index> head;  // from 0
};

// "weights1", "A1", "head_output2", "Y", "packed.Q"; "Q" without a number is what belongs to all heads.
std::optional<MatrixName> matrix_name(std::string_view key);

// The same, and names of other texts: "out1", "Q_head1", "concat_heads"; in the object of a head those of its steps.
std::optional<MatrixName> answer_name(std::string_view key, bool in_head);

// The gradient of what PyTorch calls so: "out_proj.weight", "layers.0.self_attn.in_proj_weight".
std::optional<StepId> step_in_torch(std::string_view key);

// 1 of "layer2.A1": from 0.
std::optional<int> said_layer(std::string_view key);

// "A1" of "layer2.A1"; other names as they are.
std::string_view without_layer(std::string_view key);

// A step of one head by its id or symbol: "weights", "A".
std::optional<StepId> head_step(std::string_view key);

// A step of all heads in the object "packed": "Q", "K", "V".
std::optional<StepId> packed_step(std::string_view key);

// Every name that `matrix_name` knows, with number 1, for suggestions.
std::vector<std::string> known_matrix_names();

// By the ending of the path.
bool holds_arrays(std::string_view path);

// A table with a line for each entry, as `run -o steps.csv` writes it and spreadsheets keep it; what has no value is null.
// Throws Error.
Node read_table(const std::string& path);
inline bool holds_table(std::string_view path) {
  return path.ends_with(".csv");
}

// A workbook with names over the cells of its matrices, as `run -o sheet.xlsx` writes it; an empty cell is null. Throws
// Error.
Node read_workbook(const std::string& path);
bool names_steps(const std::string& path);
inline bool holds_sheets(std::string_view path) {
  return path.ends_with(".xlsx");
}

// Whether a table or workbook is somebody's of something else: it has not the columns of steps, or no cell that is called
// as a step is.
bool is_foreign_table(const std::string& path);

// An object of matrices under flat names ("weights1", "A1"); a .npy file's is called `as`, or as the file is. Arrays that
// are not called as steps are null, for the reader to pass over. Throws Error.
Node read_arrays(const std::string& path, const std::optional<std::string>& as);

}  // namespace mha::io
