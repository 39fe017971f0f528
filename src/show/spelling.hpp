// Spells entries of one step out with their numbers, as one would write them with a pencil.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "show/phrases.hpp"
#include "show/view.hpp"

namespace mha {

struct EntryAt {
  Index row = 0;
  Index column = 0;
};

// One step at one place, with everything that it reads and what it gives.
class Spelling {
 public:
  // Nothing where the trace lacks a value.
  static std::optional<Spelling> of(const Scene& scene, const Step& step, Place place);

  // The entry that tells most about the step.
  EntryAt telling_entry() const;
  Work spell(EntryAt at) const;
  const View& result() const { return result_; }

 private:
  // What stands between the entry and its value, and a remark about it as a whole.
  struct RightSide {
    std::vector<Work::Line> lines;
    Words remark = {};
  };
  static RightSide equal_to(std::string expression, Words remark = {}) {
    return {{{"=", std::move(expression), {}}}, std::move(remark)};
  }

  Spelling(const Scene& scene, const Step& step, Place place, std::vector<View> operands, View result)
      : scene_(scene), step_(step), place_(place), operands_(std::move(operands)), result_(result) {}

  RightSide right_side(EntryAt at) const;
  RightSide product(EntryAt at) const;
  RightSide output_by_head(EntryAt at) const;
  RightSide split(EntryAt at) const;
  RightSide merge(EntryAt at) const;
  RightSide rotation(EntryAt at) const;
  RightSide scaling(EntryAt at) const;
  RightSide softcap(EntryAt at) const;
  RightSide sum_with_masks(EntryAt at) const;
  RightSide softmax(EntryAt at) const;

  EntryAt most_telling_mask() const;
  EntryAt most_telling_weight() const;
  Index largest_column(Index row) const;
  EntryAt first_turned() const;

  std::string products(EntryAt at, Index first, Index last, Index most) const;
  Index position(Index row) const;
  std::string entry_of(std::size_t operand, Place place, EntryAt at) const;
  template <typename... Parts>
  std::string say_it(const Text& text, const Parts&... parts) const {
    return say(scene_.options.language, text, parts...);
  }
  NumberStyle computed() const { return {scene_.options.precision, NumberStyle::Origin::computed}; }
  NumberStyle given() const { return {scene_.options.precision, NumberStyle::Origin::given}; }

  const Scene& scene_;
  const Step& step_;
  Place place_;
  std::vector<View> operands_;
  View result_;
};

}  // namespace mha
