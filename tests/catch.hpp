// Catch2, whichever of its two layouts is installed: 2.13's single header or 3's many.
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_macros.hpp>
#else
#include <catch2/catch.hpp>
#endif

#include "folders.hpp"
