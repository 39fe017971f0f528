// How many random problems a test looks at.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mha::test {

// The sanitizers watch every step closely and slowly; some problems are enough for them. What is counted and compared is
// judged on all of them in the plain build.
constexpr std::uint32_t draws(std::uint32_t all) {
#if defined(MHA_SANITIZE)
  return std::max<std::uint32_t>(all / 10, 2);
#else
  return all;
#endif
}

// Whether to pass over this one of many alike: five of six under the sanitizers. `turn` counts.
constexpr bool is_passed_over(std::uint32_t& turn) {
#if defined(MHA_SANITIZE)
  return turn++ % 6 != 0;
#else
  (void)turn;
  return false;
#endif
}

}  // namespace mha::test
