// Names sizes and multiplies them in writing.
#include "study/cost/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "show/words/notation.hpp"

namespace mha::study {
namespace {

// In the order in which a product names them.
constexpr std::array<std::string_view, 12> symbol_order = {"b", "n",   "m",   "d_model", "d_kv", "h",
                                                           "g", "d_k", "d_v", "d_out",   "f",    ""};

std::size_t place_of(const Factor& factor) {
  return static_cast<std::size_t>(std::find(symbol_order.begin(), symbol_order.end(), factor.symbol) -
                                  symbol_order.begin());
}

// One head, or one item, is not worth a factor.
bool is_silent(const Factor& factor) {
  return factor.number == 1 && (factor.symbol == "b" || factor.symbol == "h" || factor.symbol == "g");
}

template <typename Text>
std::string product_text(const Factors& product, Text text) {
  std::string result = product.times > 1 ? fmt::format("{}", product.times) : "";
  const std::vector<Factor>& factors = product.factors;
  for (std::size_t i = 0; i < factors.size();) {
    std::size_t end = i;
    while (end < factors.size() && factors[end].symbol == factors[i].symbol && factors[end].number == factors[i].number)
      ++end;
    if (!is_silent(factors[i])) {
      const auto power = static_cast<Index>(end - i);
      result += (result.empty() ? "" : "·") + text(factors[i]) + (power > 1 ? show::superscript(power) : "");
    }
    i = end;
  }
  return result.empty() ? "1" : result;
}

std::string symbol_text(const Factor& factor) {
  return factor.symbol.empty() ? fmt::format("{}", factor.number) : factor.symbol;
}

std::string number_text(const Factor& factor) {
  return fmt::format("{}", factor.number);
}

Factors sorted(std::vector<Factor> factors) {
  std::stable_sort(factors.begin(), factors.end(),
                   [](const Factor& a, const Factor& b) { return place_of(a) < place_of(b); });
  return {std::move(factors)};
}

template <typename Text>
std::string sum_text(const std::vector<Factors>& products, Text text) {
  std::string result;
  for (const Factors& product : products) result += (result.empty() ? "" : " + ") + product_text(product, text);
  return result;
}

}  // namespace

Factor SizesByName::width(const char* symbol, Index number) const {
  return {number == problem_.d_model() ? "d_model" : symbol, number};
}
Factor SizesByName::keys() const {
  return {problem_.X_kv ? "m" : "n", problem_.keys()};
}
Factor SizesByName::groups() const {
  return {problem_.kv_heads == problem_.heads ? "h" : "g", problem_.kv_heads};
}
Factor SizesByName::d_v() const {
  return {problem_.d_v() == problem_.d_k() ? "d_k" : "d_v", problem_.d_v()};
}

std::vector<Factor> SizesByName::columns(const Value& value) const {
  const Factor h{"h", problem_.heads}, d_k{"d_k", problem_.d_k()};
  const auto named = [&]() -> std::vector<Factor> {
    if (!value.step) return {width("d_kv", value.shape.cols)};  // X_kv
    switch (*value.step) {
      case StepId::packed_Q: return {h, d_k};
      case StepId::packed_K: return {groups(), d_k};
      case StepId::packed_V: return {groups(), d_v()};
      case StepId::Q:
      case StepId::K:
      case StepId::Q_rot:
      case StepId::K_rot: return {d_k};
      case StepId::V:
      case StepId::head_output: return {d_v()};
      case StepId::scores:
      case StepId::scaled:
      case StepId::capped:
      case StepId::masked:
      case StepId::weights: return {keys()};
      case StepId::concat: return {h, d_v()};
      case StepId::gate:
      case StepId::hidden:
      case StepId::activated: return {{"f", value.shape.cols}};
      case StepId::output: return {width("d_out", value.shape.cols)};
      case StepId::X:
      case StepId::norm:
      case StepId::residual:
      case StepId::mlp_norm:
      case StepId::mlp:
      case StepId::mlp_residual:
      case StepId::final_norm: return {width("", value.shape.cols)};
    }
    return {};
  };
  std::vector<Factor> factors = named();
  Index product = 1;
  for (const Factor& factor : factors) product *= factor.number;
  return product == value.shape.cols ? factors : std::vector<Factor>{{"", value.shape.cols}};
}

std::vector<Factor> SizesByName::heads_and_rows(const Value& value) const {
  std::vector<Factor> factors;
  const bool of_keys = value.shape.heads != problem_.heads || value.step == StepId::K || value.step == StepId::V ||
                       value.step == StepId::K_rot;
  if (value.per_head) factors.push_back(of_keys ? groups() : Factor{"h", problem_.heads});
  const bool has_keys = (value.per_head && of_keys) || value.step == StepId::packed_K || value.step == StepId::packed_V;
  factors.push_back(has_keys ? keys() : Factor{"n", problem_.queries()});
  return factors;
}

Factors SizesByName::entries(ValueId id) const {
  const Value& value = plan_.value(id);
  std::vector<Factor> factors{{"b", value.shape.batch}};
  for (const Factor& factor : heads_and_rows(value)) factors.push_back(factor);
  for (const Factor& factor : columns(value)) factors.push_back(factor);
  return {std::move(factors)};
}

Factors SizesByName::multiply_adds(const Step& product) const {
  std::vector<Factor> factors = entries(product.out).factors;
  for (const Factor& inner : columns(plan_.value(product.in[0]))) factors.push_back(inner);
  return sorted(std::move(factors));
}

Factors SizesByName::parameters(const Step& product) const {
  std::vector<Factor> factors = columns(plan_.value(product.out));
  for (const Factor& inner : columns(plan_.value(product.in[0]))) factors.push_back(inner);
  if (plan_.value(product.out).per_head) factors.push_back(heads_and_rows(plan_.value(product.out)).front());
  return sorted(std::move(factors));
}

Factors SizesByName::cache() const {
  if (problem_.d_v() == problem_.d_k()) return {{groups(), {"d_k", problem_.d_k()}}, 2};
  return {{groups(), {"(d_k + d_v)", problem_.d_k() + problem_.d_v()}}};
}

Factors SizesByName::without_heads(Factors product) const {
  const auto find = [&](std::string_view symbol) {
    return std::find_if(product.factors.begin(), product.factors.end(),
                        [&](const Factor& factor) { return factor.symbol == symbol; });
  };
  for (const char* const width : {"d_k", "d_v"}) {
    const auto head = find("h"), own = find(width);
    if (head == product.factors.end() || own == product.factors.end()) continue;
    if (head->number * own->number != problem_.d_model()) continue;
    *own = {"d_model", problem_.d_model()};
    product.factors.erase(find("h"));
  }
  const Index times = product.times;
  product = sorted(std::move(product.factors));
  product.times = times;
  return product;
}

void SumOfProducts::add(Factors product) {
  const std::string own = symbols_of(product);
  for (Factors& other : products_) {
    Factors once = other;
    once.times = 1;
    if (symbols_of(once) != own) continue;
    ++other.times;
    return;
  }
  products_.push_back(std::move(product));
}

std::string SumOfProducts::symbols() const {
  return sum_text(products_, symbol_text);
}
std::string SumOfProducts::numbers() const {
  return sum_text(products_, number_text);
}

std::string symbols_of(const Factors& product) {
  return product_text(product, symbol_text);
}
std::string numbers_of(const Factors& product) {
  return product_text(product, number_text);
}

std::string grouped_digits(Index number) {
  std::string digits = fmt::format("{}", number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string bytes_text(Index bytes) {
  constexpr std::array units = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return "";
  std::size_t unit = 0;
  double amount = static_cast<double>(bytes) / 1024;
  for (; amount >= 1024 && unit + 1 < units.size(); ++unit) amount /= 1024;
  std::string text = fmt::format("{:.2f}", amount);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text + " " + units[unit];
}

}  // namespace mha::study
