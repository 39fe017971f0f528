// The size of a step as a formula: "n²·h·d_k" beside "128²·8·64".
#pragma once

#include "core/plan.hpp"

namespace mha::study {

struct Factor {
  std::string symbol;  // empty: a number without a name
  Index number;
};
using Product = std::vector<Factor>;

struct Formula {
  std::string symbols, numbers;
};
Formula formula_of(const Product& product);
// What is alike is put together: 4·n·d_model² + 2·n²·d_model.
Formula formula_of(const std::vector<Product>& sum);

// The sizes of a layer by the names that they have there: m is n in self-attention, g is h without groups, and so on.
class SizesByName {
 public:
  SizesByName(const Problem& layer, const Plan& plan) : layer_(layer), plan_(plan) {}

  Product entries(ValueId id) const;
  Product multiply_adds(const Step& product) const;
  Product parameters(const Step& product) const;  // of the weight matrix that is its second operand
  Product cache() const;                          // a token's keys and values
  // h·d_k is d_model where it is: so that what does not depend on h says so.
  Product without_heads(Product product) const;

 private:
  Product columns(const Value& value) const;
  Product heads_and_rows(const Value& value) const;
  Factor keys() const { return {layer_.X_kv ? "m" : "n", layer_.keys()}; }
  Factor groups() const { return {layer_.kv_heads == layer_.heads ? "h" : "g", layer_.kv_heads}; }
  Factor d_k() const { return {"d_k", layer_.d_k()}; }
  Factor d_v() const { return {layer_.d_v() == layer_.d_k() ? "d_k" : "d_v", layer_.d_v()}; }
  Factor width(const char* symbol, Index number) const { return {number == layer_.d_model() ? "d_model" : symbol, number}; }

  const Problem& layer_;
  const Plan& plan_;
};

// "33,554,432"
std::string grouped_digits(Index number);
// "512 KiB", "1.5 MiB"; nothing below a KiB.
std::string bytes_text(Index bytes);

}  // namespace mha::study
