// Mistakes in the mask: left out, put in another place, filled with other numbers, or of another shape.
#include <array>
#include <functional>
#include <limits>

#include "core/mask.hpp"
#include "study/check/hidden_keys.hpp"
#include "study/mistakes/mistake_groups.hpp"

namespace mha::study {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Variants mask_ignored(const Problem&, const Plan& right) {
  PlanEditor edit(right);
  if (!edit.has(StepId::masked)) return {};
  edit.replace({Op::copy, StepId::masked, {edit.step(StepId::masked).in[0]}});
  return only_form(std::move(edit));
}

Variants mask_after_softmax(const Problem&, const Plan& right) {
  const std::optional<Tensor> keep = keep_of(right);
  if (!keep) return {};
  PlanEditor edit(right);
  edit.replace({Op::copy, StepId::masked, {unhidden_scores(edit)}});
  const ValueId factor = edit.constant("keep", *keep);
  edit.append({Op::multiply, StepId::weights, {factor}});
  return only_form(std::move(edit));
}

Variants mask_multiplied(const Problem&, const Plan& right) {
  const std::optional<Tensor> keep = keep_of(right);
  if (!keep) return {};
  PlanEditor edit(right);
  mask_by_product(edit, *keep);
  return only_form(std::move(edit));
}

Variants mask_fill_weak(const Problem&, const Plan& right) {
  struct Fill {
    double number;
    std::string_view detail;
  };
  constexpr std::array fills = {Fill{-10, "−10"}, Fill{-100, "−100"}, Fill{-1e4, "−1e4"}, Fill{-1e5, "−1e5"},
                                Fill{-1e-9, "−1e−9"}};
  Variants variants;
  const std::optional<Tensor> keep = keep_of(right);
  if (!keep) return variants;
  for (const Fill& fill : fills) {
    PlanEditor edit(right);
    mask_by_product(edit, *keep);
    const ValueId filling = edit.constant(std::string(fill.detail), choose(*keep, 0, fill.number));
    edit.append({Op::add, StepId::masked, {filling}});
    add_form(variants, std::move(edit), std::string(fill.detail));
  }
  return variants;
}

// Numbers added to the scores where a key is kept and where it is hidden, in place of 0 and −∞.
Variants added(const Plan& right, double where_kept, double where_hidden) {
  const std::optional<Tensor> keep = keep_of(right);
  if (!keep) return {};
  PlanEditor edit(right);
  std::vector<ValueId> terms = unhidden_terms(edit);
  terms.push_back(edit.constant("mask", choose(*keep, where_kept, where_hidden)));
  edit.replace({Op::add, StepId::masked, std::move(terms)});
  return only_form(std::move(edit));
}

// Other numbers in place of each mask of one kind; `changed` gives them, or nothing where this mask cannot be so mistaken.
Variants other_masks(const Problem& problem, const Plan& right, Mask::Kind kind,
                     const std::function<std::optional<Tensor>(const Mask&)>& changed) {
  PlanEditor edit(right);
  if (!edit.has(StepId::masked)) return {};
  bool mistaken = false;
  const std::size_t terms = edit.step(StepId::masked).in.size();
  for (std::size_t i = 1; i < terms; ++i) {
    const Value& old = edit.operand(edit.step(StepId::masked).in[i]);
    const Mask& mask = problem.masks[static_cast<std::size_t>(old.mask)];
    if (mask.kind != kind) continue;
    std::optional<Tensor> numbers = changed(mask);
    if (!numbers) continue;
    const ValueId constant = edit.constant(old.symbol + "′", std::move(*numbers));
    edit.step(StepId::masked).in[i] = constant;
    mistaken = true;
  }
  return mistaken ? only_form(std::move(edit)) : Variants{};
}

Variants padding_on_queries(const Problem& problem, const Plan& right) {
  if (problem.queries() != problem.keys()) return {};
  return other_masks(problem, right, Mask::Kind::padding, [&](const Mask& mask) -> std::optional<Tensor> {
    const Tensor by_key = mask_tensor(mask, problem);
    Tensor by_query({by_key.shape().batch, by_key.shape().heads, by_key.shape().cols, 1});
    std::copy_n(by_key.data(), by_key.size(), by_query.data());
    return by_query;
  });
}

// The causal mask with query i standing at another key.
Tensor causal_moved(const Mask& mask, const Problem& problem, const std::function<Index(Index offset)>& moved) {
  Mask result = mask;
  const Align align = mask.align.value_or(Align{});
  result.align = Align{Align::Kind::per_item, {}};
  for (Index item = 0; item < problem.batch(); ++item)
    result.align->offsets.push_back(moved(align.offset(item, problem.queries(), problem.keys())));
  return mask_tensor(result, problem);
}

Variants causal_shifted(const Problem& problem, const Plan& right, Index shift) {
  return other_masks(problem, right, Mask::Kind::causal, [&](const Mask& mask) {
    return std::optional(causal_moved(mask, problem, [&](Index offset) { return offset + shift; }));
  });
}

// Hidden are the keys before the query's own, those that j < i would let through, instead of those behind it.
Variants mask_transposed(const Problem& problem, const Plan& right) {
  return other_masks(problem, right, Mask::Kind::causal, [&](const Mask& mask) {
    Tensor numbers = causal_moved(mask, problem, [](Index offset) { return offset - 1; });
    for (Index i = 0; i < numbers.size(); ++i) numbers.data()[i] = numbers.data()[i] == 0 ? -infinity : 0;
    return std::optional(std::move(numbers));
  });
}

Variants causal_corner(const Problem& problem, const Plan& right) {
  const Index n = problem.queries(), m = problem.keys();
  if (n == m) return {};
  return other_masks(problem, right, Mask::Kind::causal, [&](const Mask& mask) -> std::optional<Tensor> {
    const Align align = mask.align.value_or(Align{});
    if (align.kind == Align::Kind::per_item) return std::nullopt;
    const Index offset = align.offset(0, n, m);
    if (offset != 0 && offset != m - n) return std::nullopt;
    return causal_moved(mask, problem, [&](Index old) { return m - n - old; });
  });
}

Variants mask_part_ignored(const Problem& problem, const Plan& right) {
  Variants variants;
  PlanEditor original(right);
  if (!original.has(StepId::masked)) return variants;
  const std::vector<ValueId>& terms = original.step(StepId::masked).in;
  for (std::size_t i = 1; terms.size() > 2 && i < terms.size(); ++i) {
    PlanEditor edit(right);
    std::vector<ValueId>& left = edit.step(StepId::masked).in;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
    const Value& forgotten = original.operand(terms[i]);
    const bool usual = problem.masks[static_cast<std::size_t>(forgotten.mask)].kind == Mask::Kind::padding;
    Variants form;
    add_form(form, std::move(edit), forgotten.symbol);
    variants.insert(usual ? variants.begin() : variants.end(), form.begin(), form.end());
  }
  return variants;
}

constexpr std::array rows = {
    Mistake{"mask_ignored",
            {"the mask was left out: hidden entries become −∞ before the softmax",
             "漏了掩码：softmax 之前要把被遮住的位置变为 −∞"},
            StepId::masked,
            'B',
            mask_ignored},
    Mistake{"mask_part_ignored",
            {"one of several masks was left out: all of them are added", "几个掩码中漏了一个：所有掩码都要加上"},
            StepId::masked,
            'B',
            mask_part_ignored},
    Mistake{"mask_after_softmax",
            {"hidden weights were set to 0 after the softmax, so that rows sum to less than 1: put −∞ before the softmax",
             "在 softmax 之后才把被遮住的权重置 0，各行之和小于 1：应在 softmax 之前置为 −∞"},
            StepId::masked,
            'B',
            mask_after_softmax},
    Mistake{"mask_multiplied",
            {"the scores were multiplied by the mask, which makes hidden entries 0 and e^0 is 1: they must be −∞",
             "打分与掩码相乘，被遮住的位置成了 0，而 e^0 = 1：应当是 −∞"},
            StepId::masked,
            'B',
            mask_multiplied},
    Mistake{"mask_fill_weak",
            {"hidden entries were filled with a number that is not small enough, so that weight leaks to them: use −∞",
             "被遮住的位置填的数不够小，权重会漏过去：应填 −∞"},
            StepId::masked,
            'B',
            mask_fill_weak},
    Mistake{"mask_inverted",
            {"the mask was used the wrong way round: −∞ belongs where a query may not look, 0 where it may",
             "掩码用反了：不可以看的位置才是 −∞，可以看的位置是 0"},
            StepId::masked,
            'A',
            [](const Problem&, const Plan& right) { return added(right, -infinity, 0); }},
    Mistake{"mask_added",
            {"the mask's 1 and 0 were added as numbers: add 0 where a query may look and −∞ where it may not",
             "把掩码的 1 和 0 当作数加上了：可以看的位置加 0，不可以看的位置加 −∞"},
            StepId::masked,
            'A',
            [](const Problem&, const Plan& right) { return added(right, 1, 0); }},
    Mistake{
        "mask_added_inverted",
        {"1 was added to hidden entries, which raises them: add −∞ there", "给被遮住的位置加了 1，反而提高了打分：应加 −∞"},
        StepId::masked,
        'A',
        [](const Problem&, const Plan& right) { return added(right, 0, 1); }},
    Mistake{
        "mask_plus_inf",
        {"hidden entries became +∞, and the softmax NaN: they must be −∞", "被遮住的位置成了 +∞，softmax 得 NaN：应为 −∞"},
        StepId::masked,
        'C',
        [](const Problem&, const Plan& right) { return added(right, 0, infinity); }},
    Mistake{"mask_nan",
            {"(1 − mask)·(−∞) was added, and 0·(−∞) is NaN where a query may look: choose 0 or −∞ instead of multiplying",
             "加的是 (1 − 掩码)·(−∞)，可以看的位置 0·(−∞) 为 NaN：应直接取 0 或 −∞，不要相乘"},
            StepId::masked,
            'C',
            [](const Problem&, const Plan& right) { return added(right, not_a_number, -infinity); }},
    Mistake{"padding_on_queries",
            {"the padding mask hid rows (queries): it hides columns, the keys that are padding",
             "填充掩码遮住了行 (查询)：它遮住的是列，即作为填充的键"},
            StepId::masked,
            'B',
            padding_on_queries},
    Mistake{"mask_transposed",
            {"the causal mask was the wrong way round and hid the past: hide the keys j > i behind the query",
             "因果掩码的三角反了，遮住了过去：应遮住查询之后的键 j > i"},
            StepId::masked,
            'C',
            mask_transposed},
    Mistake{"causal_strict",
            {"the causal mask hid the query's own token as well: j = i stays visible",
             "因果掩码把查询自己也遮住了：j = i 应当可见"},
            StepId::masked,
            'B',
            [](const Problem& p, const Plan& right) { return causal_shifted(p, right, -1); }},
    Mistake{"causal_one_ahead",
            {"the causal mask let each query see one token ahead: hide every j > i",
             "因果掩码让查询多看到了后一个词元：应遮住所有 j > i"},
            StepId::masked,
            'B',
            [](const Problem& p, const Plan& right) { return causal_shifted(p, right, 1); }},
    Mistake{"causal_corner",
            {"the causal triangle started in the other corner: with n ≠ m, align says where query i stands among the keys",
             "因果三角对齐到了另一个角：n ≠ m 时，看 align 说明查询 i 对应哪个键"},
            StepId::masked,
            'A',
            causal_corner},
};

}  // namespace

std::span<const Mistake> mask_mistakes() {
  return rows;
}

}  // namespace mha::study
