// How many random problems a test looks at.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mha::test {

// The sanitizers watch every step closely and slowly; some problems are enough for them. What is counted and compared is
// judged on all of them in the plain build.
constexpr std::uint32_t draws(std::uint32_t all) {
#if defined(__SANITIZE_ADDRESS__)
  return std::max<std::uint32_t>(all / 6, 2);
#else
  return all;
#endif
}

}  // namespace mha::test
