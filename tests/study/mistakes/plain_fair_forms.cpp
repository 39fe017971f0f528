// The forms of right work that must not be accused, each computed the way its student computes it.
#include <cfloat>
#include <cmath>
#include <limits>

#include "study/mistakes/plain_answers.hpp"
#include "study/mistakes/plain_conditions.hpp"

namespace mha::test {
namespace {

using Change = std::function<void(PlainSetting&)>;
using Condition = bool (*)(const Problem&);

PlainTrace run_with(const Problem& problem, std::optional<int> decimals, const Change& change) {
  PlainSetting setting(plain_layer(problem));
  setting.decimals = decimals;
  change(setting);
  return attend(setting);
}

// The change is made, and the steps that do not look as asked are kept to oneself.
FairForm form(std::string name, Condition applies, Change change, std::set<StepId> left_out = {}) {
  return {std::move(name), applies, [change, left_out](const Problem& problem, std::optional<int> decimals) {
            return without(run_with(problem, decimals, change), left_out);
          }};
}

bool has_row_without_key(const Problem& p) {
  for (const PlainMatrix& head : added_by_masks(plain_layer(p)))
    for (Index i = 0; i < head.rows; ++i) {
      const auto first = head.numbers.begin() + i * head.cols;
      if (is_all_hidden(Slice(first, first + head.cols))) return true;
    }
  return false;
}

bool hides_with_keys_left(const Problem& p) {
  return hides_something(p) && !has_row_without_key(p);
}

void scale_linears(PlainLinears& linears, double factor) {
  for (PlainLinear& linear : linears) {
    const auto scaled = [factor](double x) { return x * factor; };
    linear.W = each_entry(linear.W, scaled);
    linear.b = each_entry(linear.b, scaled);
  }
}

void scale_queries(PlainSetting& s) {
  scale_linears(s.layer.Q, *s.layer.scale);
  s.layer.scale = 1;
}

void scale_both(PlainSetting& s) {
  scale_linears(s.layer.Q, std::sqrt(*s.layer.scale));
  scale_linears(s.layer.K, std::sqrt(*s.layer.scale));
  s.layer.scale = 1;
}

// Q itself stays as it is; the scores come out scaled.
void scale_inside_the_product(PlainSetting& s) {
  s.score = [scale = *s.layer.scale](const PlainHead& head) {
    return times(each_entry(head.Q, [scale](double q) { return q * scale; }), transposed(head.K));
  };
  s.layer.scale = 1;
}

const std::set<StepId> before_scaled = {StepId::packed_Q, StepId::packed_K, StepId::Q,     StepId::K,
                                        StepId::Q_rot,    StepId::K_rot,    StepId::scores};

void add_scales(std::vector<FairForm>& list) {
  list.push_back(form("scale on Q, handed in", is_scaled, scale_queries));
  list.push_back(form("scale on Q, kept to oneself", is_scaled, scale_queries, before_scaled));
  list.push_back(form("scale on Q, which is handed in as projected", is_scaled, scale_inside_the_product));
  list.push_back(form("root of the scale on Q and K, handed in", is_scaled, scale_both));
  list.push_back(form("root of the scale on Q and K, kept to oneself", is_scaled, scale_both, before_scaled));
}

// Softmax of the unmasked scores, hidden weights made 0, each row divided by what is left of its sum.
void mask_and_renormalise(PlainSetting& s) {
  s.masked = [](double z, double added) { return is_hidden(added) ? z : z + added; };
  s.finish_weights = [](const PlainHeads& weights, const PlainHeads& added) {
    PlainHeads result = weights;
    for (std::size_t k = 0; k < result.size(); ++k)
      for (Index i = 0; i < result[k].rows; ++i) {
        double left = 0;
        for (Index j = 0; j < result[k].cols; ++j)
          if (!is_hidden(added[k].at(i, j))) left += result[k].at(i, j);
        for (Index j = 0; j < result[k].cols; ++j)
          result[k].at(i, j) = is_hidden(added[k].at(i, j)) ? 0 : result[k].at(i, j) / left;
      }
    return result;
  };
}

Change fill_with(double number) {
  return [number](PlainSetting& s) {
    s.masked = [number](double z, double added) { return is_hidden(added) ? number : z + added; };
  };
}

void empty_rows_uniform(PlainSetting& s) {
  s.softmax = [](const Slice& z, double empty) {
    return plain_softmax(z, is_all_hidden(z) ? 1 / static_cast<double>(z.size()) : empty);
  };
}

void add_masks(std::vector<FairForm>& list) {
  list.push_back(form("mask after softmax, renormalised, no masked scores handed in", hides_something, mask_and_renormalise,
                      {StepId::masked}));
  list.push_back(
      form("mask after softmax, renormalised, unmasked scores handed in as masked", hides_something, mask_and_renormalise));
  list.push_back(form("-1e9 for -inf", hides_something, fill_with(-1e9)));
  list.push_back(form("smallest float for -inf", hides_something, fill_with(-static_cast<double>(FLT_MAX))));
  list.push_back(form("smallest double for -inf", hides_something, fill_with(-DBL_MAX)));
  list.push_back(form("-1e9 added", hides_with_keys_left, [](PlainSetting& s) {
    s.masked = [](double z, double added) { return is_hidden(added) ? z - 1e9 : z + added; };
  }));
  list.push_back(form("row without key: uniform", has_row_without_key, empty_rows_uniform));
  list.push_back(form("row without key: NaN", has_row_without_key,
                      [](PlainSetting& s) { s.empty = std::numeric_limits<double>::quiet_NaN(); }));
}

// Σ head⁽ⁱ⁾·W_O⁽ⁱ⁾, the rows of W_O that belong to head i, and no concatenation.
PlainTrace sum_of_products(const Problem& problem, std::optional<int> decimals) {
  PlainTrace trace = without(plain_right(problem, decimals), {StepId::concat});
  const PlainLayer layer = plain_layer(problem);
  const PlainHeads W = each_head(cut(transposed(layer.W_O), problem.heads), transposed);
  const PlainHeads& heads = trace.steps[StepId::head_output];
  PlainMatrix Y = times(heads.front(), W.front());
  for (std::size_t k = 1; k < heads.size(); ++k) Y = plus(Y, times(heads[k], W[k]));
  Y = plus_row(Y, layer.b_O);
  if (decimals) Y = each_entry(Y, [&](double y) { return rounded(y, *decimals); });
  trace.steps[StepId::output] = {Y};
  return trace;
}

}  // namespace

std::vector<FairForm> fair_forms() {
  std::vector<FairForm> list = {form("as the formulas say", always, [](PlainSetting&) {})};
  add_scales(list);
  add_masks(list);
  list.push_back(
      {"sum of head times its rows of W_O", [](const Problem& p) { return !p.output_is_concat; }, sum_of_products});
  return list;
}

}  // namespace mha::test
