// What every part of a description looks at, and where on the page it is.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/mask.hpp"
#include "show/pages/describe.hpp"

namespace mha::show {

// What a masked score is where the query may not look.
inline constexpr double minus_infinity = -std::numeric_limits<double>::infinity();

struct Scene {
  const Problem& problem;
  const Plan& plan;
  const Trace& trace;
  const PageOptions& options;
  std::vector<Row> keyless;  // rows of scores that may attend to no key

  Scene(const Problem& of_problem, const Plan& of_plan, const Trace& of_trace, const PageOptions& with_options);

  // As the person counts.
  Index counted(Index from_zero) const { return from_zero + options.index_base; }
};

// One batch item and one query head, from 0. What belongs to all heads is found under any of them.
struct Place {
  Index item = 0;
  Index head = 0;
};

struct EntryAt {
  Index row = 0;
  Index column = 0;
};

// A bias or a mask that is added to every row alike.
bool is_one_row_for_all(const Value& value);

// Where a row that is rotated stands.
Index position_of_row(const Problem& problem, const Step& rotation, Index row);

enum class Axis { none, queries, keys };

// The labels of one item's queries or keys; empty where the person gave none.
const std::vector<std::string>& labels_of(const Problem& problem, Axis axis, Index item);

// "key 2 (apple)"
Words query_name(const Scene& scene, Index item, Index query);
Words key_name(const Scene& scene, Index item, Index key);

}  // namespace mha::show
