// Why an entry of the masked scores is what it is.
#include "show/pages/mask_reason.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "show/words/notation.hpp"
#include "show/words/number_text.hpp"
#include "show/words/phrases.hpp"

namespace mha::show {
namespace {

class MaskReason {
 public:
  MaskReason(const Scene& scene, Place place, Index query, Index key)
      : scene_(scene), place_(place), query_(query), key_(key) {}

  // Of a mask that adds `added`, which is not 0.
  Words of(const Mask& mask, double added) const {
    const Index stands_at =
        query_ + mask.align.value_or(Align{}).offset(place_.item, scene_.problem.queries(), scene_.problem.keys());
    switch (mask.kind) {
      case Mask::Kind::none: return {};
      case Mask::Kind::causal:
        return stands_at == query_ ? told(phrase::causal) : told(phrase::causal_shifted, scene_.counted(stands_at));
      case Mask::Kind::window:
        return key_ < stands_at ? told(phrase::window_left, stands_at - key_, mask.left.value_or(0))
                                : told(phrase::window_right, key_ - stands_at, mask.right.value_or(0));
      case Mask::Kind::padding: return told(phrase::padding);
      case Mask::Kind::allow: return told(phrase::allow);
      case Mask::Kind::block: return told(phrase::block);
      case Mask::Kind::add: return added == minus_infinity ? told(phrase::add) : Words();
      case Mask::Kind::alibi: {
        const Index distance = std::abs(key_ - stands_at);
        const NumberStyle slope(scene_.options.precision, NumberStyle::Origin::given);
        return told(phrase::alibi, slope.text(-added / static_cast<double>(distance)), distance);
      }
    }
    return {};
  }

 private:
  // {0} is the query, {1} the key, then the numbers.
  template <typename... Numbers>
  Words told(const Text& text, const Numbers&... numbers) const {
    return say_words(
        scene_.options.language, text,
        {query_name(scene_, place_.item, query_), key_name(scene_, place_.item, key_), fmt::format("{}", numbers)...});
  }

  const Scene& scene_;
  Place place_;
  Index query_, key_;
};

}  // namespace

Words mask_reason(const Scene& scene, const Step& step, Place place, Index query, Index key) {
  const Shape& onto = scene.plan.value(step.out).shape;
  const MaskReason reason(scene, place, query, key);
  Words words;
  std::vector<double> room;
  for (std::size_t i = 1; i < step.in.size(); ++i) {
    const Value& value = scene.plan.value(step.in[i]);
    if (value.mask < 0) continue;  // not a mask as the problem has it
    const double* row = value.constant->row(onto, place.item, own_head(scene, step.out, place.head), query, room);
    const double added = row[value.shape.cols == 1 ? 0 : key];
    if (added == 0) continue;
    const Words one = reason.of(scene.problem.masks[static_cast<std::size_t>(value.mask)], added);
    if (!words.empty() && !one.empty()) words.add(say(scene.options.language, phrase::semicolon));
    words.append(one);
  }
  return words;
}

}  // namespace mha::show
