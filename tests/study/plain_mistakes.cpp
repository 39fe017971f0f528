// Runs one mistake, and puts the list together from its parts.
#include "study/plain_mistakes.hpp"

#include <limits>

namespace mha::test {

PlainTrace PlainMistake::run(const Problem& problem, std::optional<int> decimals) const {
  PlainSetting setting(plain_layer(problem));
  setting.decimals = decimals;
  setting.empty = empty;
  make(setting);
  return attend(setting);
}

namespace {

// Its numbers differ from the original's only in problems where the mistake leaves a slice empty; else it does not apply.
PlainMistake with_empty_as_nan(const PlainMistake& original) {
  PlainMistake result = original;
  result.empty = std::numeric_limits<double>::quiet_NaN();
  result.detail += (result.detail.empty() ? "" : ", ") + std::string("empty slices NaN");
  result.applies = [original, result](const Problem& problem) {
    return original.applies(problem) && first_step_apart(original.run(problem), result.run(problem)).has_value();
  };
  return result;
}

}  // namespace

std::vector<PlainMistake> plain_mistakes() {
  std::vector<PlainMistake> all;
  for (const auto part : {plain_projection_mistakes, plain_split_mistakes, plain_score_mistakes, plain_mask_mistakes,
                          plain_weight_mistakes, plain_output_mistakes})
    for (PlainMistake& mistake : part()) all.push_back(std::move(mistake));
  const std::size_t count = all.size();
  for (std::size_t i = 0; i < count; ++i) all.push_back(with_empty_as_nan(all[i]));
  return all;
}

}  // namespace mha::test
