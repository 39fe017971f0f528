// What every part of a description looks at: the computation, where in it the page is, and its values as matrices.
#pragma once

#include <limits>

#include "core/mask.hpp"
#include "core/plan.hpp"
#include "core/problem.hpp"
#include "core/trace.hpp"
#include "show/document.hpp"
#include "show/words/number_text.hpp"

namespace mha::show {

struct PageOptions {
  enum class Work { first, all, none };                   // which entries are spelled out
  enum class Sources { none, numbers, works, formulas };  // what is told of every shown entry beside its text
  struct ChosenItem {
    Index item = 0;   // from 0, in the batch of the file
    Index count = 1;  // items in the file
  };

  Language language = Language::en;
  bool both_languages = false;  // the other one as well, where the format has room for it
  int precision = 3;
  Selection selection;
  Index index_base = 1;
  bool full = false;  // large matrices whole
  Work work = Work::first;
  Sources sources = Sources::none;
  std::vector<Index> parts;               // decoding: the first token of each step up to this one
  std::optional<ChosenItem> chosen_item;  // the problem is this one item of a batch (select_item)
};

// What a masked score is where the query may not look.
inline constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

// One layer of the computation.
struct Scene {
  const Problem& whole;
  int layer;               // from 0
  const Problem& problem;  // of this layer
  const Plan& plan;
  const Trace& trace;
  const PageOptions& options;

  Scene(const Problem& of_problem, const Plan& of_plan, const Trace& of_trace, const PageOptions& with_options,
        int of_layer = 0);

  // Where the rows stand.
  Past past() const { return plan.past.empty() ? Past{} : plan.past[static_cast<std::size_t>(layer)]; }
  bool is_stack() const { return !whole.layers.empty(); }
  // What stands in this layer: a step of it is on the page where it is chosen.
  bool has(const Step& step) const {
    const Selection& chosen = options.selection;
    if (step.layer != layer || !plan.is_backward(step)) return step.layer == layer && chosen.has(step.id, layer);
    return chosen.has(plan, plan.value(step.out)) && (chosen.has_layer(layer) || is_of_no_layer(step.id));
  }

  // As the person counts.
  Index counted(Index from_zero) const { return from_zero + options.index_base; }

  // Rows of scores that may attend to no key; the masks are gone through when it is first asked for.
  const std::vector<Row>& keyless() const;

 private:
  mutable std::optional<std::vector<Row>> keyless_;
};

// One for each layer.
using Scenes = std::vector<Scene>;
Scenes scenes_of(const Problem& problem, const Plan& plan, const Trace& trace, const PageOptions& options);
// That of the layer to which the value belongs.
const Scene& scene_of(const Scenes& layers, ValueId id);

// One batch item and one query head, from 0. What belongs to all heads is found under any of them.
struct Place {
  Index item = 0;
  Index head = 0;
};

struct EntryAt {
  Index row = 0;
  Index column = 0;
};

// A bias or a mask that is added to every row alike, or the gradient of one.
bool is_one_row_for_all(const Plan& plan, const Value& value);

// Whether its numbers stand in the problem.
bool is_given_matrix(const Value& value);

// Where a row that is rotated stands.
Index position_of_row(const Scene& scene, const Step& rotation, Index row);

enum class Axis { none, queries, keys };

struct Axes {
  Axis rows = Axis::none;
  Axis columns = Axis::none;
};
// Of a value.
Axes axes_of(const Plan& plan, const Value& value);

// The labels of one item's queries or keys; empty where the person gave none.
const std::vector<std::string>& labels_of(const Problem& problem, Axis axis, Index item);

// "key 2 (apple)"
Words query_name(const Scene& scene, Index item, Index query);
Words key_name(const Scene& scene, Index item, Index key);

// The numbers of a value; null where the trace did not keep them.
const Tensor* numbers_of(const Scene& scene, ValueId id);
// One of them, of a value that it kept.
double number_at(const Scene& scene, ValueId id, Place place, EntryAt at);

// Only entries that are shown are ever read, so a page of a large matrix costs no more than its corner.
class View {
 public:
  // Nothing where the trace did not keep the value.
  static std::optional<View> of(const Scene& scene, ValueId id, Place place, bool transposed = false);
  // One matrix of a tensor, elided as if it had so many entries: all of its own where nothing else is said.
  View(const Tensor& tensor, Index item, Index head, NumberStyle style, bool full, bool transposed = false,
       std::optional<Index> entries = {});

  Index rows() const { return rows_.size; }
  Index columns() const { return columns_.size; }
  const Shown& shown_rows() const { return rows_; }
  const Shown& shown_columns() const { return columns_; }

  double at(Index row, Index column) const;
  const NumberStyle& style() const { return style_; }
  std::string text(Index row, Index column) const { return style_.text(at(row, column)); }
  std::string term(Index row, Index column) const { return style_.term(at(row, column)); }

  // The cells, without labels.
  Matrix matrix(std::string symbol) const;

 private:
  const Tensor* tensor_;
  Index item_, head_;  // in the tensor
  bool transposed_;
  Shown rows_, columns_;
  NumberStyle style_;
};

}  // namespace mha::show
