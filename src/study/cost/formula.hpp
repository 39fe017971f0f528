// The size of a step as a formula: "n²·h·d_k" beside "128²·8·64".
#pragma once

#include <string>
#include <vector>

#include "core/plan.hpp"

namespace mha::study {

struct Factor {
  std::string symbol;  // empty: a number without a name
  Index number;
};

// A product of sizes, so many times.
struct Factors {
  std::vector<Factor> factors;
  Index times = 1;
};

// The sizes of one layer by the names that they have there: m is n in self-attention, g is h without groups, and so on.
class SizesByName {
 public:
  SizesByName(const Problem& problem, const Plan& plan) : problem_(problem), plan_(plan) {}

  Factors entries(ValueId id) const;  // of a value
  Factors multiply_adds(const Step& product) const;
  Factors parameters(const Step& product) const;  // of the weight matrix that is its second operand
  Factors cache() const;                          // a token's keys and values
  // h·d_k is d_model where it is: so that what does not depend on h says so.
  Factors without_heads(Factors product) const;

 private:
  std::vector<Factor> columns(const Value& value) const;
  std::vector<Factor> heads_and_rows(const Value& value) const;
  Factor keys() const;
  Factor groups() const;
  Factor d_v() const;
  Factor width(const char* symbol, Index number) const;

  const Problem& problem_;
  const Plan& plan_;
};

// Products that are alike are put together: 4·n·d_model² + 2·n²·d_model.
class SumOfProducts {
 public:
  void add(Factors product);
  std::string symbols() const;
  std::string numbers() const;

 private:
  std::vector<Factors> products_;
};

std::string symbols_of(const Factors& product);
std::string numbers_of(const Factors& product);

// "33,554,432"
std::string grouped_digits(Index number);
// "512 KiB", "1.5 MiB"; nothing below a KiB.
std::string bytes_text(Index bytes);

}  // namespace mha::study
