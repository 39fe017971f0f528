// Catch2, whichever of its two layouts is installed: 2.13's single header or 3's many.
#pragma once

#include <string_view>

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_macros.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include "folders.hpp"

namespace mha::test {

inline bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace mha::test
