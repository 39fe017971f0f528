// Number text: what reads back is the same bits, and looks as JSON and Python want it.
#include "io/json/writer.hpp"

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "catch.hpp"

namespace mha::test {
namespace {

template <class Real>
std::string text_of(Real number) {
  char text[number_text_size];
  return {text, write_number(text, number)};
}

// The number that the whole text spells; NaN when it spells none.
template <class Real>
Real read_back(const std::string& text) {
  Real number{};
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  return error == std::errc() && end == last ? number : std::numeric_limits<Real>::quiet_NaN();
}

template <class Real>
bool same_bits(Real a, Real b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

// Random bits are numbers of every size, subnormal ones too.
template <class Real, class Bits, class Generator>
void require_round_trip_of_random_bits() {
  Generator random(20240601);
  for (int i = 0; i < 200'000; ++i) {
    const Bits bits = static_cast<Bits>(random());
    Real number;
    std::memcpy(&number, &bits, sizeof number);
    if (!std::isfinite(number)) continue;
    const std::string text = text_of(number);
    if (same_bits(read_back<Real>(text), number)) continue;
    FAIL(text << " does not read back");
  }
}

}  // namespace

TEST_CASE("numbers: random doubles and floats read back bit for bit") {
  require_round_trip_of_random_bits<double, std::uint64_t, std::mt19937_64>();
  require_round_trip_of_random_bits<float, std::uint32_t, std::mt19937>();
}

TEST_CASE("numbers: the shortest form of each type") {
  CHECK(text_of(0.1) == "0.1");
  CHECK(text_of(0.1F) == "0.1");
  CHECK(text_of(1.0 / 3) == "0.3333333333333333");
  CHECK(text_of(1.0F / 3) == "0.33333334");
  CHECK(text_of(-0.0002) == "-2e-04");
  CHECK(text_of(0.25) == "0.25");
  CHECK(text_of(1e-7) == "1e-07");
  CHECK(text_of(123456.75) == "123456.75");
}

TEST_CASE("numbers: whole numbers look like integers below 2^53 and like floats from there") {
  CHECK(text_of(0.0) == "0");
  CHECK(text_of(1.0) == "1");
  CHECK(text_of(-3.0F) == "-3");
  CHECK(text_of(100000.0) == "100000");
  CHECK(text_of(9007199254740991.0) == "9007199254740991");
  CHECK(text_of(-9007199254740992.0) == "-9.007199254740992e+15");
  CHECK(text_of(1e22) == "1e+22");
  CHECK(text_of(1e22F) == "1e+22");
}

TEST_CASE("numbers: minus zero keeps its sign") {
  CHECK(text_of(-0.0) == "-0.0");
  CHECK(text_of(-0.0F) == "-0.0");
  CHECK(std::signbit(read_back<double>(text_of(-0.0))));
}

TEST_CASE("numbers: the extremes fit and read back") {
  using Limits = std::numeric_limits<double>;
  for (const double number : {-2.2250738585072014e-308, Limits::max(), Limits::lowest(), Limits::denorm_min(),
                              Limits::min(), -1.2345678901234567e-300, 4503599627370495.5}) {
    const std::string text = text_of(number);
    CHECK(text.size() <= number_text_size);
    CHECK(same_bits(read_back<double>(text), number));
  }
  CHECK(text_of(Limits::denorm_min()) == "5e-324");
}

TEST_CASE("numbers: what JSON cannot write is a string") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  CHECK(text_of(infinity) == "\"inf\"");
  CHECK(text_of(-infinity) == "\"-inf\"");
  CHECK(text_of(-static_cast<float>(infinity)) == "\"-inf\"");
  CHECK(text_of(std::nan("")) == "\"nan\"");
  CHECK(text_of(-std::nan("")) == "\"nan\"");
}

}  // namespace mha::test
