// Where the heads stand in the columns.
#include "core/op.hpp"

#include <set>

#include "catch.hpp"

namespace mha::test {

TEST_CASE("every arrangement gives each column to one head, and finds it again", "[core]") {
  constexpr Index heads = 3, d = 4;
  for (const Arrangement arrangement : {Arrangement::side_by_side, Arrangement::reversed, Arrangement::interleaved}) {
    std::set<Index> columns;
    for (Index head = 0; head < heads; ++head)
      for (Index c = 0; c < d; ++c) {
        const Index column = column_of(arrangement, head, heads, c, d);
        columns.insert(column);
        CHECK(head_column_of(arrangement, column, heads, d).head == head);
        CHECK(head_column_of(arrangement, column, heads, d).column == c);
      }
    CHECK(columns.size() == heads * d);
    CHECK(*columns.rbegin() == heads * d - 1);
  }
  CHECK(column_of(Arrangement::side_by_side, 1, heads, 0, d) == 4);
  CHECK(column_of(Arrangement::reversed, 0, heads, 0, d) == 8);
  CHECK(column_of(Arrangement::interleaved, 1, heads, 2, d) == 7);
}

}  // namespace mha::test
