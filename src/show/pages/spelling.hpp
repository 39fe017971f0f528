// Spells entries of one step out with their numbers, as one would write them with a pencil.
#pragma once

#include "show/pages/scene.hpp"
#include "show/words/phrases.hpp"

namespace mha::show {

// An entry that a step reads: of which operand, and where it stands as that is stored.
struct ReadEntry {
  std::size_t operand;
  Place place;
  EntryAt at;
};
using Factors = std::vector<ReadEntry>;  // entries that are multiplied with each other
using Terms = std::vector<Factors>;      // what an entry is made of, in order

// One of the numbers that are added up to make an entry.
struct Summand {
  Factors factors;
  std::string names;    // "Q[1,2]·K[3,2]"
  std::string numbers;  // "2·0.5"
  double value;
};

// One step at one place, with everything that it reads and what it gives.
class Spelling {
 public:
  // Nothing where the trace lacks a value.
  static std::optional<Spelling> of(const Scene& scene, const Step& step, Place place);

  // The entry that tells most about the step.
  EntryAt telling_entry() const;
  // The numbers put in, shortened to what fits a page.
  Work spell(EntryAt at) const;
  // First the entries by their names, then their numbers.
  Work spell_in_full(EntryAt at) const;
  const View& result() const { return result_; }

  // What the entry is made of.
  Terms terms(EntryAt at) const;
  // All entries that are read, constants among them, each once.
  std::vector<ReadEntry> entries_read(EntryAt at) const;
  // Those of them that pages show.
  std::vector<ReadEntry> shown_entries_read(EntryAt at) const;
  double number(const ReadEntry& read) const;
  // What is added up: products and biases, scores and masks, the exponentials of a softmax, heads. Empty for what is no
  // sum.
  std::vector<Summand> summands(EntryAt at) const;
  // The largest of the numbers that a softmax normalises together, where it is subtracted in sight.
  std::optional<double> maximum(EntryAt at) const;
  // What each head contributes to a product with the concatenation; empty for everything else.
  std::vector<double> head_shares(EntryAt at) const;

 private:
  // How the entries that are read are written.
  enum class As { numbers, names };
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

  // Each of these is given what the entry is made of.
  RightSide right_side(EntryAt at, As as, bool in_full) const;
  RightSide product(const Terms& terms, As as) const;
  RightSide product_by_head(const Terms& terms, Index heads, As as) const;
  RightSide taken_over(const ReadEntry& read, As as, bool in_full, Words remark = {}) const;
  RightSide rotation(const Terms& terms, Index row, As as, bool in_full) const;
  RightSide softcap(const ReadEntry& read, As as) const;
  RightSide softmax(const Terms& slice, EntryAt at, As as) const;
  RightSide pool(const Terms& heads, As as) const;
  RightSide norm(const Terms& terms, EntryAt at, As as) const;
  RightSide activation(const Factors& factors, As as) const;
  RightSide difference(const Terms& terms, As as) const;
  RightSide slope(const Terms& terms, As as) const;
  RightSide norm_slope(EntryAt at, As as) const;

  EntryAt largest_shown() const;
  EntryAt most_telling_mask() const;
  EntryAt most_telling_weight() const;
  Index largest_column(Index row) const;
  EntryAt first_turned() const;

  std::string term_text(const Factors& factors, As as) const;
  std::string sum_text(const Terms& terms, Index first, Index last, Index most, As as) const;
  double term_value(const Factors& factors) const;
  std::optional<Index> heads_beside_each_other() const;

  // Of a softmax.
  double largest_in(const Terms& slice) const;
  std::optional<double> maximum_of(const Terms& slice) const;
  Summand exponential(const ReadEntry& z, std::optional<double> shift) const;
  double power(double exponent) const;
  std::string power_text(const std::string& exponent) const;

  const Value& value_of(std::size_t operand) const { return scene_.plan.value(step_.in[operand]); }
  std::string word(const ReadEntry& read, As as) const;  // negative numbers in parentheses
  std::string text(const ReadEntry& read) const { return operands_[read.operand].style().text(number(read)); }
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

}  // namespace mha::show
