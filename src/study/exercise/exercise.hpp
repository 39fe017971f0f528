// New exercises: numbers for a pencil that bring to light every mistake that their sizes can show.
#pragma once

#include <set>

#include "core/problem.hpp"
#include "io/files/sink.hpp"
#include "show/document.hpp"
#include "study/exercise/small_numbers.hpp"
#include "study/mistakes/simulate.hpp"

namespace mha::study {

using Ids = std::vector<std::string_view>;  // of mistakes

struct VisibleMistakes {
  using Pairs = std::set<std::pair<std::string_view, std::string_view>>;
  struct View {
    std::vector<bool> shown;  // by form
    Pairs alike;              // not told apart: with the same numbers, or one of the two not shown in any form
  };

  Ids forms;                    // of all mistakes that can be made, in the order of the computation
  View all_steps, output_only;  // to a person who sees every step, and to one who sees the output alone
};

// Numbers count as different where they are further apart than the tolerance.
VisibleMistakes visible_mistakes(const Problem& problem, double tolerance);

// What at least one of two problems of the same sizes brings to light.
VisibleMistakes both(const VisibleMistakes& a, const VisibleMistakes& b);

// Whether `numbers`, of the same sizes, bring to light everything that `sizes` do.
bool show_as_much(const VisibleMistakes& numbers, const VisibleMistakes& sizes);

// Those that can be made and show in no form, in the order of the computation.
Ids hidden_mistakes(const Ids& forms, const std::vector<bool>& shown);

// What a choice of sizes hides whatever the numbers, and well-chosen sizes would not.
struct BlindSpots {
  Ids hidden;      // mistakes that leave every number right
  IdGroups alike;  // mistakes that give the same numbers as one another
};

class ExerciseMaker {
 public:
  ExerciseMaker(const ExerciseSizes& sizes, const Difficulty& difficulty);

  // The same seed gives the same problem on every platform. Throws Error where no numbers are found for these sizes.
  Problem draw(std::uint32_t seed) const;

  BlindSpots blind_spots() const;

 private:
  bool show_on_the_way_back(const Problem& stack) const;

  ExerciseSizes sizes_, inner_;  // of the last layer, and of those before it
  const Difficulty& difficulty_;
  VisibleMistakes possible_, possible_inner_;  // for these sizes
};

// Sizes with the same rules that show and tell apart all that can be.
ExerciseSizes well_chosen(const ExerciseSizes& sizes);

// The seed of one student: FNV-1a, 64 bits, over the UTF-8 bytes of "SEED/NAME", its halves xor-ed, the highest bit
// cleared.
std::uint32_t student_seed(std::uint32_t seed, std::string_view name);

struct WorksheetOptions {
  enum class On { paper, notebook, sheet };

  Language language = Language::en;
  int decimals = 3;
  std::string student;  // empty: a blank to write the name on
  On on = On::paper;
  std::string due;  // until when it is handed in, in the teacher's words; empty: not said
};

show::Document worksheet(const Problem& problem, const WorksheetOptions& options);

// Flushing the sink is left to the caller.

// An answer file with null in every entry that is to be computed.
void write_answer_template(io::Sink& sink, const Problem& problem);

// For every form of every mistake that shows here: what was done, and its numbers from the first wrong step on.
void write_mistakes(io::Sink& sink, const Problem& problem);

}  // namespace mha::study
