// The matrices of an answer, each as the matrix of one step and one query head, and how exactly their numbers are known.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "core/problem.hpp"
#include "io/problem/answer.hpp"
#include "study/check/exactness.hpp"
#include "study/check/number_form.hpp"

namespace mha::study {

struct GivenMatrix {
  Tensor numbers;           // batch × 1 × rows × cols, whatever the problem's shapes are
  std::vector<bool> blank;  // by entry: not filled in; empty: none is
  bool batched = false;     // the file has an axis for the items of a batch
  io::Writing writing = {};
  NumberForm form = {};
  std::optional<NumberForm> read_on = {};  // in which the next steps read it, where its own may be too coarse
  bool is_blank(Index entry) const { return !blank.empty() && blank[static_cast<std::size_t>(entry)]; }
};

// Of a stack of so many, from 0; nothing where the answer does not say it.
std::optional<int> layer_of(const io::AnswerMatrix& matrix, int layers);

// Each of its matrices, where it has several.
void transpose(io::AnswerMatrix& matrix);

// The true numbers of a step, of all heads; null where the problem has no such step.
using TruthOf = std::function<std::shared_ptr<const Tensor>(StepId)>;

class GivenMatrices {
 public:
  // Those of one layer, whose problem this is, of so many; the answer keeps no numbers. Throws Error where a matrix is
  // given twice, with different numbers.
  GivenMatrices(io::Answer& answer, const Problem& problem, int layer = 0, int layers = 1);

  // Blanks of masked scores where the true ones hide a key of a row that is filled in elsewhere are −∞, which JavaScript
  // writes as null. So many are left.
  Index fill_hidden(const TruthOf& truth_of);
  // K and V of heads 1 … g may be those of query heads, or of the g key/value heads, each of which serves a group: read as
  // what they are nearer to. Says which, where neither would be right.
  std::optional<Saying> spread_groups(const Problem& problem, const TruthOf& truth_of);

  // Whether Q, K or V of all heads stood side by side in one matrix, as a product with all their weights gives them.
  bool were_side_by_side() const { return were_side_by_side_; }

  // Null where it was not given. Steps of all heads have head 0 alone.
  const GivenMatrix* find(StepId step, Index head) const;
  bool empty() const;
  // The same without what was given for this step in these heads.
  GivenMatrices without(StepId step, const std::vector<Index>& heads) const;
  // The same with what was given for a step of all heads once more, for another one.
  GivenMatrices with(StepId step, StepId once_more) const;
  // What was given for this step in another layer becomes that of the step `as` here.
  void take(const GivenMatrices& other, StepId step, StepId as) {
    if (!other.of(step).empty()) of(as) = other.of(step);
  }
  // One more than the highest head that was given; 0 where none was.
  Index heads(StepId step) const;

  template <typename Visit>
  void for_each(Visit visit) {
    for (const StepName& name : row_names)
      for (auto& [head, matrix] : of(name.step)) visit(name.step, head, matrix);
  }

  // What the layer reads in place of the problem's X, and on the way back in place of its loss's gradient, where there are
  // numbers; and what it would read without the mistakes of other layers.
  Uncertain input, gradient, sound_input, sound_gradient;

 private:
  using Heads = std::map<Index, GivenMatrix>;  // a file may name any head

  Heads& of(StepId step) { return heads_[static_cast<std::size_t>(step)]; }
  const Heads& of(StepId step) const { return heads_[static_cast<std::size_t>(step)]; }
  void place(io::AnswerMatrix& matrix, StepId given_as, const Problem& problem);
  bool place_parts(const io::AnswerMatrix& matrix, const Problem& problem);
  void place_all_heads(io::AnswerMatrix& matrix, StepId step, const Problem& problem);
  bool place_columns(io::AnswerMatrix& matrix, const Problem& problem);
  void put(StepId step, Index head, GivenMatrix matrix);
  void spread_in_group(Heads& own, const Problem& problem) const;
  Index most_heads() const;

  std::array<Heads, row_count> heads_;
  bool one_head_alone_ = false;  // a matrix of a head has no head's number, and is no list of them
  bool were_side_by_side_ = false;
  std::array<std::optional<bool>, row_count> says_group_{};  // whether kv_head is the group of the head beside it
};

}  // namespace mha::study
