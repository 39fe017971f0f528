// New exercises: numbers for a pencil, the same on every platform, that bring to light every mistake that their sizes can
// show.
#pragma once

#include <random>
#include <set>

#include "core/problem.hpp"
#include "io/files/sink.hpp"
#include "show/document.hpp"
#include "study/mistakes/simulate.hpp"

namespace mha::study {

struct ExerciseSizes {
  Index tokens = 3, d_model = 6, heads = 3, kv_heads = 3, d_k = 2;  // d_v is d_k, d_out is d_model
  bool causal = false;
  bool bias = false;
  bool residual = false;
  std::optional<Norm::Kind> norm = {};  // of each sublayer
  bool norm_behind = false;
  bool final_norm = false;  // of the last layer
  Index mlp = 0;            // its width; 0: none
  Activation activation = Activation::relu;
  bool gate = false;
  int layers = 1;
  bool gradient = false;  // with a loss
};

// Numbers are whole multiples of 1/parts, from −largest to largest.
struct Grain {
  int parts;
  int largest;  // in multiples
};

struct Difficulty {
  std::string_view name;
  Grain X, weights;
  double largest_score;  // after the scale, and between two scores of a row: beyond it softmax saturates
  Activation activation = Activation::relu;
  bool final_norm = false;  // behind layers with norms before their sublayers
};
inline constexpr std::array difficulties = {
    Difficulty{"easy", {1, 1}, {1, 1}, 3},
    Difficulty{"normal", {1, 2}, {2, 2}, 3.5},
    Difficulty{"hard", {10, 15}, {10, 10}, 4, Activation::silu, true},
};

// The raw 32 bits of the engine are mapped by hand, since the distributions of <random> differ between libraries.
class Dice {
 public:
  explicit Dice(std::uint32_t seed) : engine_(seed) {}
  int whole(int least, int most) {
    return least + static_cast<int>(engine_() % static_cast<std::uint32_t>(most - least + 1));
  }
  double real() { return static_cast<double>(engine_()) / 4294967296.0 * 2 - 1; }  // in [−1, 1)

 private:
  std::mt19937 engine_;
};

// One layer, which reads X where there is one. Nothing where the scores will not stay small.
std::optional<Problem> draw_small_numbers(const ExerciseSizes& sizes, const Difficulty& difficulty, Dice& dice,
                                          const std::optional<Tensor>& X = {});

// A layer of real numbers, none of them special, with scores as small.
Problem draw_real_numbers(const ExerciseSizes& sizes, Dice& dice);

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
  bool both_languages = false;
  int decimals = 3;
  std::string student;  // empty: a blank to write the name on
  On on = On::paper;
  std::string answer = "answer.json";  // the file that is handed in
  std::string due;                     // until when it is handed in, in the teacher's words; empty: not said
};

show::Document worksheet(const Problem& problem, const WorksheetOptions& options);

// Flushing the sink is left to the caller.

// An answer file with null in every entry that is to be computed.
void write_answer_template(io::Sink& sink, const Problem& problem);

// For every form of every mistake that shows here: what was done, and its numbers from the first wrong step on.
void write_mistakes(io::Sink& sink, const Problem& problem);

}  // namespace mha::study
