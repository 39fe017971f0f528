// What is said of a report, in sentences: for pages, hints and graders alike.
#pragma once

#include <string>
#include <vector>

#include "study/check/report.hpp"

namespace mha::study {

// How much a hint gives away; none of them a true number.
enum class Hint { step = 1, place, mistake };

class ReportWords {
 public:
  ReportWords(Language language, Index index_base, bool true_numbers)
      : language_(language), base_(index_base), true_numbers_(true_numbers) {}

  // "Wrong: the first step that is wrong is Scaled scores Z⁽¹⁾."
  std::string verdict(const Report& report) const;
  std::string verdict(const StepVerdict& step) const;
  // What an incomplete answer lacks: "not given: Keys; blank entries: 2".
  std::string gaps(const Report& report) const;
  // The verdict and the likely mistake, in one line, for a table; nothing of an answer that is right.
  std::string message(const Report& report, std::optional<Hint> level) const;

  // "Scaled scores", "Z⁽¹⁾", "Scaled scores Z⁽¹⁾"; where it may be of any layer "Scaled scores (layer 2)", "layer2.Z⁽¹⁾",
  // "Scaled scores Z⁽¹⁾ (layer 2)".
  std::string title(StepId step) const;
  std::string title_in_layer(const LayerStep& step) const;
  std::string symbol(StepId step, std::optional<Index> head) const;
  std::string symbol_in_layer(const LayerStep& step, std::optional<Index> head) const;
  std::string step(const Finding& finding) const;

  // "wrong in heads 1 and 3; in head 1 at [1,2], [2,2] (2 of 9 entries)"
  std::string place(const Finding& finding) const;
  // What was probably done: one sentence for each suspect, or the sign.
  std::vector<std::string> causes(const Finding& finding) const;
  // "all 12 entries of Scaled scores and all later steps match"; empty where no known mistake fits.
  std::string evidence(const Finding& finding) const;

  // At most so much of the first finding.
  std::vector<std::string> hint(const Report& report, Hint level) const;

  Language language() const { return language_; }
  Index index_base() const { return base_; }

 private:
  std::string in_layer(const LayerStep& step, std::string text) const;
  std::string steps(std::vector<LayerStep> steps) const;
  std::string lacking(const Report& report) const;
  std::string heads(const std::vector<Index>& heads) const;
  std::string entries(const Finding& finding) const;

  Language language_;
  Index base_;
  bool true_numbers_;
};

// The entries of the finding's matrix, of head 0, that are not as expected.
std::vector<Entry> wrong_entries(const Finding& finding);

}  // namespace mha::study
