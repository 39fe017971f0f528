// The pool of threads: every piece once, and what a task throws reaches the caller.
#include "compute/backend.hpp"

#include <atomic>
#include <stdexcept>
#include <vector>

#include "catch.hpp"

namespace mha::test {

TEST_CASE("every piece is done once, by a worker that exists, round after round", "[workers]") {
  for (const int count : {1, 2, 3, 7}) {
    Workers workers(count);
    REQUIRE(workers.count() == count);
    for (const Index pieces : {0, 1, 2, 100}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(pieces));
      std::atomic<bool> strange = false;
      workers.each(pieces, [&](Index piece, int worker) {
        ++done[static_cast<std::size_t>(piece)];
        if (worker < 0 || worker >= count) strange = true;
      });
      for (const std::atomic<int>& times : done) CHECK(times == 1);
      CHECK_FALSE(strange);
    }
  }
}

TEST_CASE("what a task throws is thrown to the caller, and the pool works on", "[workers]") {
  for (const int count : {1, 4}) {
    Workers workers(count);
    const auto fails = [](Index piece, int) {
      if (piece == 17) throw std::runtime_error("piece 17");
    };
    CHECK_THROWS_WITH(workers.each(50, fails), "piece 17");
    std::atomic<Index> sum = 0;
    workers.each(50, [&](Index piece, int) { sum += piece; });
    CHECK(sum == 49 * 50 / 2);
  }
}

}  // namespace mha::test
