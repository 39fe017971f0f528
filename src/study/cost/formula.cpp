// Names sizes and multiplies them in writing.
#include "study/cost/formula.hpp"

#include "show/words/notation.hpp"

namespace mha::study {
namespace {

// In the order in which a product names them.
constexpr std::array<std::string_view, 11> symbol_order = {"b", "n",   "m",   "d_model", "d_kv", "h",
                                                           "g", "d_k", "d_v", "d_out",   "f"};

Product sorted(Product product) {
  const auto place = [](const Factor& factor) {
    return std::find(symbol_order.begin(), symbol_order.end(), factor.symbol);
  };
  std::stable_sort(product.begin(), product.end(), [&](const Factor& a, const Factor& b) { return place(a) < place(b); });
  return product;
}

// One head, or one item, is not worth a factor.
bool is_silent(const Factor& factor) {
  return factor.number == 1 && (factor.symbol == "b" || factor.symbol == "h" || factor.symbol == "g");
}

Product joined(Product a, const Product& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace

Formula formula_of(const Product& product) {
  Formula text;
  for (std::size_t i = 0, end = 0; i < product.size(); i = end) {
    while (end < product.size() && product[end].symbol == product[i].symbol) ++end;
    if (is_silent(product[i])) continue;
    const std::string power = end - i > 1 ? show::superscript(static_cast<Index>(end - i)) : "";
    const std::string number = fmt::format("{}", product[i].number), sign = text.symbols.empty() ? "" : "·";
    text.symbols += sign + (product[i].symbol.empty() ? number : product[i].symbol) + power;
    text.numbers += sign + number + power;
  }
  return text;
}

Formula formula_of(const std::vector<Product>& sum) {
  std::vector<std::pair<Formula, int>> terms;
  for (const Product& product : sum) {
    const Formula own = formula_of(product);
    const auto same = [&](const auto& term) { return term.first.symbols == own.symbols; };
    const auto term = std::find_if(terms.begin(), terms.end(), same);
    term == terms.end() ? terms.emplace_back(own, 1) : (++term->second, *term);
  }
  Formula text;
  for (const auto& [term, times] : terms) {
    const std::string before = (text.symbols.empty() ? "" : " + ") + (times > 1 ? fmt::format("{}·", times) : "");
    text.symbols += before + term.symbols;
    text.numbers += before + term.numbers;
  }
  return text;
}

Product SizesByName::columns(const Value& value) const {
  if (!value.step) return {width("d_kv", value.shape.cols)};  // X_kv
  const StepId step = *value.step;
  const Factor h{"h", layer_.heads};
  if (is_packed(step)) return {step == StepId::packed_Q ? h : groups(), step == StepId::packed_V ? d_v() : d_k()};
  if (step == StepId::V || step == StepId::head_output) return {d_v()};
  if (step >= StepId::Q && step <= StepId::K_rot) return {d_k()};
  if (step >= StepId::scores && step <= StepId::weights) return {keys()};
  if (step == StepId::concat || (step == StepId::output && layer_.output_is_concat)) return {h, d_v()};
  if (step >= StepId::gate && step <= StepId::activated) return {{"f", value.shape.cols}};
  return {width(step == StepId::output ? "d_out" : "", value.shape.cols)};
}

Product SizesByName::heads_and_rows(const Value& value) const {
  const bool kv = value.step == StepId::K || value.step == StepId::V || value.step == StepId::K_rot;
  Product product;
  if (value.per_head) product.push_back(kv ? groups() : Factor{"h", layer_.heads});
  const bool of_keys = kv || value.step == StepId::packed_K || value.step == StepId::packed_V;
  product.push_back(of_keys ? keys() : Factor{"n", layer_.queries()});
  return product;
}

Product SizesByName::entries(ValueId id) const {
  const Value& value = plan_.value(id);
  return joined(joined({{"b", value.shape.batch}}, heads_and_rows(value)), columns(value));
}

Product SizesByName::multiply_adds(const Step& product) const {
  return sorted(joined(entries(product.out), columns(plan_.value(product.in[0]))));
}

Product SizesByName::parameters(const Step& product) const {
  const Value& value = plan_.value(product.out);
  Product factors = joined(columns(value), columns(plan_.value(product.in[0])));
  if (value.per_head) factors.push_back(heads_and_rows(value).front());
  return sorted(std::move(factors));
}

Product SizesByName::cache() const {
  if (layer_.d_v() == layer_.d_k()) return {{"", 2}, groups(), d_k()};
  return {groups(), {"(d_k + d_v)", layer_.d_k() + layer_.d_v()}};
}

Product SizesByName::without_heads(Product product) const {
  const auto find = [&](std::string_view symbol) {
    return std::find_if(product.begin(), product.end(), [&](const Factor& factor) { return factor.symbol == symbol; });
  };
  for (const char* const symbol : {"d_k", "d_v"}) {
    const auto head = find("h"), own = find(symbol);
    if (head == product.end() || own == product.end() || head->number * own->number != layer_.d_model()) continue;
    *own = {"d_model", layer_.d_model()};
    product.erase(head);
  }
  return sorted(std::move(product));
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
  return fmt::format("{:.4g} {}", amount, units[unit]);
}

}  // namespace mha::study
