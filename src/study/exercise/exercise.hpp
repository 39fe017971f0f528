// New exercises: numbers for a pencil that bring to light every mistake that their sizes can show.
#pragma once

#include <string_view>
#include <vector>

#include "study/exercise/small_numbers.hpp"
#include "study/exercise/visible_mistakes.hpp"

namespace mha::study {

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
  ExerciseSizes sizes_;
  const Difficulty& difficulty_;
  VisibleMistakes possible_;  // for these sizes
};

// Sizes with the same rules that show and tell apart all that can be.
ExerciseSizes well_chosen(const ExerciseSizes& sizes);

// The seed of one student: FNV-1a, 64 bits, over the UTF-8 bytes of "SEED/NAME", its halves xor-ed, the highest bit
// cleared.
std::uint32_t student_seed(std::uint32_t seed, std::string_view name);

}  // namespace mha::study
