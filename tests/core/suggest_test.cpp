// "Did you mean …?" finds what people mistype and keeps quiet about what is nothing of ours.
#include "core/suggest.hpp"

#include <array>
#include <string>

#include "catch.hpp"

using namespace mha;
using namespace mha::test;

namespace {

constexpr std::array<std::string_view, 8> keys = {"X", "X_kv", "heads", "W_Q", "W_K", "W_O", "num_heads", "softcap"};

}  // namespace

TEST_CASE("the nearest name") {
  struct {
    std::string_view written, meant;
  } const rows[] = {
      {"Wq", "W_Q"},
      {"W_q", "W_Q"},
      {"wQ", "W_Q"},
      {"W-Q", "W_Q"},
      {"W_0", "W_O"},
      {"haeds", "heads"},
      {"head", "heads"},
      {"x", "X"},
      {"x_kv", "X_kv"},
      {"xkv", "X_kv"},
      {"num_head", "num_heads"},
      {"nun_heads", "num_heads"},
      {"softCap", "softcap"},
      {"soft_cap", "softcap"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.written);
    CHECK(nearest(row.written, keys) == row.meant);
  }
}

TEST_CASE("no name is near") {
  CHECK_FALSE(nearest("temperature", keys));
  CHECK_FALSE(nearest("", keys));
  CHECK_FALSE(nearest("q", keys));
  CHECK_FALSE(nearest(std::string(100000, 'h'), keys));
  CHECK_FALSE(nearest("heads", {}));
}

TEST_CASE("as part of a sentence") {
  CHECK(did_you_mean("Wq", keys).en == " Did you mean \"W_Q\"?");
  CHECK(did_you_mean("Wq", keys).zh == "你是否想写“W_Q”？");
  CHECK(did_you_mean("temperature", keys).en.empty());
  CHECK(did_you_mean_or_known("Wq", keys).en == " Did you mean \"W_Q\"?");
  constexpr std::array<std::string_view, 2> two = {"half", "interleaved"};
  CHECK(did_you_mean_or_known("x", two).en == " Known: half, interleaved.");
}
