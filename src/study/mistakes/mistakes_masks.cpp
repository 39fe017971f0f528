// Mistakes in the mask: left out, put in another place, filled with other numbers, or of another shape.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>

#include "core/mask.hpp"
#include "study/mistakes/forms.hpp"
#include "study/mistakes/hidden_keys.hpp"

namespace mha::study {
namespace {

void mask_ignored(Forms& forms) {
  if (forms.has(StepId::masked)) forms.add().leave_out(StepId::masked);
}

void mask_after_softmax(Forms& forms) {
  const std::optional<Tensor> keep = keep_of(forms.right);
  if (!keep) return;
  PlanEditor& edit = forms.add();
  edit.replace({Op::copy, StepId::masked, {unhidden_scores(edit)}});
  edit.append({Op::multiply, StepId::weights, {edit.constant("keep", *keep)}});
}

void mask_multiplied(Forms& forms) {
  if (const std::optional<Tensor> keep = keep_of(forms.right)) mask_by_product(forms.add(), *keep);
}

void mask_fill_weak(Forms& forms) {
  struct Fill {
    double number;
    const char* detail;
  };
  constexpr std::array fills = {Fill{-10, "−10"}, Fill{-100, "−100"}, Fill{-1e4, "−1e4"}, Fill{-1e5, "−1e5"},
                                Fill{-1e-9, "−1e−9"}};
  const std::optional<Tensor> keep = keep_of(forms.right);
  if (!keep) return;
  for (const Fill& fill : fills) {
    PlanEditor& edit = forms.add(fill.detail);
    mask_by_product(edit, *keep);
    edit.append({Op::add, StepId::masked, {edit.constant(fill.detail, choose(*keep, 0, fill.number))}});
  }
}

// Numbers added to the scores where a key is kept and where it is hidden, in place of 0 and −∞.
void mask_numbers(Forms& forms, double where_kept, double where_hidden) {
  const std::optional<Tensor> keep = keep_of(forms.right);
  if (!keep) return;
  PlanEditor& edit = forms.add();
  std::vector<ValueId> terms = unhidden_terms(edit);
  terms.push_back(edit.constant("mask", choose(*keep, where_kept, where_hidden)));
  edit.replace({Op::add, StepId::masked, std::move(terms)});
}

// Other numbers in place of each mask of one kind; `changed` gives them, or nothing where this mask cannot be so mistaken.
template <typename Changed>
void other_masks(Forms& forms, Mask::Kind kind, Changed changed, const std::string& detail = {}) {
  if (!forms.has(StepId::masked)) return;
  PlanEditor original(forms.right), *edit = nullptr;
  const std::vector<ValueId> terms = original.step(StepId::masked).in;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const Value& old = original.operand(terms[i]);
    if (old.mask < 0) continue;
    const Mask& mask = forms.problem.masks[static_cast<std::size_t>(old.mask)];
    if (mask.kind != kind) continue;
    std::optional<Tensor> numbers = changed(mask);
    if (!numbers) continue;
    if (edit == nullptr) edit = &forms.add(detail);
    edit->step(StepId::masked).in[i] = edit->constant(old.symbol + "′", std::move(*numbers));
  }
}

void padding_on_queries(Forms& forms) {
  if (forms.problem.queries() != forms.problem.keys()) return;
  other_masks(forms, Mask::Kind::padding, [&](const Mask& mask) {
    const Tensor by_key = mask_tensor(mask, forms.problem);
    Tensor by_query({by_key.shape().batch, by_key.shape().heads, by_key.shape().cols, 1});
    std::copy_n(by_key.data(), by_key.size(), by_query.data());
    return std::optional(std::move(by_query));
  });
}

// The padding of item other(item, head) in place of each item's own.
template <typename Other>
void padding_of(Forms& forms, Other other, const std::string& detail) {
  const Index items = forms.problem.batch();
  const auto changed = [&](const Mask& mask) -> std::optional<Tensor> {
    if (mask.matrix.shape().batch == 1) return std::nullopt;
    const Tensor own = mask_tensor(mask, forms.problem);
    Tensor numbers({items, forms.problem.heads, 1, own.shape().cols});
    for (Index item = 0; item < items; ++item)
      for (Index head = 0; head < forms.problem.heads; ++head)
        std::copy_n(own.matrix(other(item, head), 0), own.shape().cols, numbers.matrix(item, head));
    return numbers;
  };
  other_masks(forms, Mask::Kind::padding, changed, detail);
}

// Of a neighbour or the first, or as programs get it that repeat the items' masks as a whole where they should repeat each.
void padding_other_item(Forms& forms) {
  const Index items = forms.problem.batch(), heads = forms.problem.heads;
  if (items == 1) return;
  padding_of(
      forms, [items](Index item, Index) { return (item + 1) % items; }, "i ← i + 1");
  if (items > 2)
    padding_of(
        forms, [items](Index item, Index) { return (item + items - 1) % items; }, "i ← i − 1");
  padding_of(
      forms, [](Index, Index) { return Index{0}; }, "i ← 1");
  if (heads > 1)
    padding_of(
        forms, [=](Index item, Index head) { return (item * heads + head) % items; }, "b×h → h×b");
}

void window_off_by_one(Forms& forms) {
  const auto moved = [](std::optional<Index>& side, Index by) {
    if (side) *side += by;
    return by == 0 || (side && *side >= 0);
  };
  const auto told = [](const char* side, Index by) {
    return by == 0 ? "" : std::string(side) + (by > 0 ? " + 1" : " − 1");
  };
  for (const Index left : {-1, 0, 1})
    for (const Index right : {-1, 0, 1}) {
      if (left * right < 0 || (left == 0 && right == 0)) continue;
      const auto changed = [&](Mask mask) -> std::optional<Tensor> {
        if (!moved(mask.left, left) || !moved(mask.right, right)) return std::nullopt;
        return mask_tensor(mask, forms.problem);
      };
      const std::string between = left != 0 && right != 0 ? ", " : "";
      other_masks(forms, Mask::Kind::window, changed, told("left", left) + between + told("right", right));
    }
}

// ALiBi with the slope slope(i) of head i, counted from 1.
template <typename Slope>
void sloped(Forms& forms, const std::string& detail, Slope slope) {
  const auto changed = [&](Mask mask) {
    mask.slopes.emplace();
    for (Index head = 1; head <= forms.problem.heads; ++head) mask.slopes->push_back(slope(static_cast<double>(head)));
    return std::optional(mask_tensor(mask, forms.problem));
  };
  other_masks(forms, Mask::Kind::alibi, changed, detail);
}

void other_slopes(Forms& forms) {
  const auto h = static_cast<double>(forms.problem.heads);
  const double power = std::exp2(std::ceil(std::log2(h)));  // the next one
  const std::vector<double> usual = alibi_slopes(forms.problem.heads);
  const auto shared = [](double count) { return [=](double head) { return std::exp2(-8 * head / count); }; };
  if (power != h) {
    sloped(forms, fmt::format("2^(−8i/{:g})", power), shared(power));
    sloped(forms, fmt::format("2^(−8i/{:g})", h), shared(h));
  }
  const double below =
      std::exp2(std::floor(std::log2(h)));  // as many heads have its exponents, the others those of twice it
  for (const double by : {-1.0, 1.0})
    sloped(forms, fmt::format("2^(−8(i {} 1)/{:g})", by < 0 ? "−" : "+", below), [&](double head) {
      return usual[static_cast<std::size_t>(head) - 1] * std::exp2(-8 * by / (head <= below ? below : 2 * below));
    });
  for (const double one : {0.5, 1.0}) sloped(forms, fmt::format("{:g}", one), [one](double) { return one; });
  if (usual[0] != 0.5) sloped(forms, fmt::format("{:g}", usual[0]), [&](double) { return usual[0]; });
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

void causal_shifted(Forms& forms, Index shift) {
  other_masks(forms, Mask::Kind::causal, [&](const Mask& mask) {
    return std::optional(causal_moved(mask, forms.problem, [&](Index offset) { return offset + shift; }));
  });
}

// The query's own key, too; in a decoder, which adds one to its cache too late, from the first new row behind a prompt on.
void own_key_hidden(Forms& forms) {
  causal_shifted(forms, -1);
  if (forms.problem.X_kv || !can_be_cached(forms.right)) return;
  const auto is_causal = [](const Mask& mask) { return mask.kind == Mask::Kind::causal; };
  const Index n = forms.problem.keys(),
              first = std::any_of(forms.problem.masks.begin(), forms.problem.masks.end(), is_causal);
  for (Index prompt = first; prompt < std::min(n, most_prompt); ++prompt) {
    const auto fill = [=](Index row, double* to) {
      std::fill_n(to, n, 0.0);
      if (row >= prompt) to[row] = minus_infinity;
    };
    PlanEditor& edit = forms.add(prompt == 0 ? "" : fmt::format("i ≥ {}", prompt + 1));
    edit.step(StepId::masked).in.push_back(edit.constant("−∞", by_rule({1, 1, n, n}, fill)));
  }
}

// Rows and columns exchanged. Of a causal mask: hidden are the keys before the query's own, those that j < i would let
// through, instead of those behind it.
void mask_transposed(Forms& forms) {
  for (const Mask::Kind kind : {Mask::Kind::allow, Mask::Kind::block})
    other_masks(forms, kind, [&](const Mask& mask) -> std::optional<Tensor> {
      const auto numbers = std::make_shared<const Tensor>(mask_tensor(mask, forms.problem));
      const Shape shape = numbers->shape();
      if (shape.rows != shape.cols) return std::nullopt;
      return by_rule(shape, [=](Index row, double* to) {
        const double* matrix = numbers->data() + row / shape.rows * shape.rows * shape.cols;
        for (Index j = 0; j < shape.cols; ++j) to[j] = matrix[j * shape.cols + row % shape.rows];
      });
    });
  other_masks(forms, Mask::Kind::causal, [&](const Mask& mask) {
    Tensor before = causal_moved(mask, forms.problem, [](Index offset) { return offset - 1; });
    return std::optional(changed(std::make_shared<const Tensor>(std::move(before)),
                                 [](double number) { return number == 0 ? minus_infinity : 0; }));
  });
}

void causal_corner(Forms& forms) {
  const Index n = forms.problem.queries(), m = forms.problem.keys();
  if (n == m) return;
  other_masks(forms, Mask::Kind::causal, [&](const Mask& mask) -> std::optional<Tensor> {
    const Align align = mask.align.value_or(Align{});
    if (align.kind == Align::Kind::per_item) return std::nullopt;
    const Index offset = align.offset(0, n, m);
    if (offset != 0 && offset != m - n) return std::nullopt;
    return causal_moved(mask, forms.problem, [&](Index old) { return m - n - old; });
  });
}

// People forget padding first.
void mask_part_ignored(Forms& forms) {
  if (!forms.has(StepId::masked)) return;
  PlanEditor original(forms.right);
  const std::vector<ValueId>& terms = original.step(StepId::masked).in;
  std::vector<std::size_t> order;
  for (std::size_t i = 1; terms.size() > 2 && i < terms.size(); ++i) {
    const Mask& mask = forms.problem.masks[static_cast<std::size_t>(original.operand(terms[i]).mask)];
    order.insert(mask.kind == Mask::Kind::padding ? order.begin() : order.end(), i);
  }
  for (const std::size_t i : order) {
    std::vector<ValueId>& left = forms.add(original.operand(terms[i]).symbol).step(StepId::masked).in;
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

constexpr std::array mask_rows = {
    Mistake("mask_ignored", StepId::masked, 'B', mask_ignored,
            "the mask was left out: hidden entries become −∞ before the softmax",
            "漏加了掩码：softmax 之前要把被遮住的位置变为 −∞"),
    Mistake("mask_part_ignored", StepId::masked, 'B', mask_part_ignored,
            "one of several masks was left out: all of them are added", "几个掩码中漏了一个：所有掩码都要加上"),
    Mistake("mask_after_softmax", StepId::masked, 'B', mask_after_softmax,
            "hidden weights were set to 0 after the softmax, so that rows sum to less than 1: put −∞ before the softmax",
            "在 softmax 之后才把被遮住的权重置 0，各行之和小于 1：应在 softmax 之前置为 −∞"),
    Mistake("mask_multiplied", StepId::masked, 'B', mask_multiplied,
            "the scores were multiplied by the mask, which makes hidden entries 0 and e^0 is 1: they must be −∞",
            "分数与掩码相乘，被遮住的位置成了 0，而 e^0 = 1：应当是 −∞"),
    Mistake("mask_fill_weak", StepId::masked, 'B', mask_fill_weak,
            "hidden entries were filled with a number that is not small enough, so that weight leaks to them: use −∞",
            "被遮住的位置填的数不够小，权重会漏过去：应填 −∞"),
    Mistake(
        "mask_inverted", StepId::masked, 'A', [](Forms& forms) { mask_numbers(forms, minus_infinity, 0); },
        "the mask was used the wrong way round: −∞ belongs where a query may not look, 0 where it may",
        "掩码用反了：不可以看的位置才是 −∞，可以看的位置是 0"),
    Mistake(
        "mask_added", StepId::masked, 'A', [](Forms& forms) { mask_numbers(forms, 1, 0); },
        "the mask's 1 and 0 were added as numbers: add 0 where a query may look and −∞ where it may not",
        "把掩码的 1 和 0 当作数加上了：可以看的位置加 0，不可以看的位置加 −∞"),
    Mistake(
        "mask_added_inverted", StepId::masked, 'A', [](Forms& forms) { mask_numbers(forms, 0, 1); },
        "1 was added to hidden entries, which raises them: add −∞ there", "给被遮住的位置加了 1，反而提高了分数：应加 −∞"),
    Mistake(
        "mask_plus_inf", StepId::masked, 'C', [](Forms& forms) { mask_numbers(forms, 0, -minus_infinity); },
        "hidden entries became +∞, and the softmax NaN: they must be −∞", "被遮住的位置成了 +∞，softmax 得 NaN：应为 −∞"),
    Mistake(
        "mask_nan", StepId::masked, 'C',
        [](Forms& forms) { mask_numbers(forms, std::numeric_limits<double>::quiet_NaN(), minus_infinity); },
        "(1 − mask)·(−∞) was added, and 0·(−∞) is NaN where a query may look: choose 0 or −∞ instead of multiplying",
        "加的是（1 − 掩码）·(−∞)，可以看的位置 0·(−∞) 为 NaN：应直接取 0 或 −∞，不要相乘"),
    Mistake("padding_on_queries", StepId::masked, 'B', padding_on_queries,
            "the padding mask hid rows (queries): it hides columns, the keys that are padding",
            "填充掩码遮住了行（查询）：它遮住的是列，即作为填充的键"),
    Mistake("mask_transposed", StepId::masked, 'C', mask_transposed,
            "the mask had its rows and columns exchanged: row i says which keys query i may look at, a causal one hides "
            "all j > i",
            "掩码的行与列颠倒了：第 i 行说明查询 i 可以看哪些键，因果掩码遮住所有 j > i"),
    Mistake("padding_other_item", StepId::masked, 'B', padding_other_item,
            "the padding of another item was hidden: each item has its own padding, the same in all its heads",
            "遮住的是另一个样本的填充：每个样本有自己的填充掩码，它的各个头都用这一个"),
    Mistake("window_off_by_one", StepId::masked, 'A', window_off_by_one,
            "the window was one key too long or too short: left and right count the keys beside the query's own",
            "窗口多了或少了一个键：left 和 right 数的是查询自己的键两边的键"),
    Mistake("alibi_slopes", StepId::masked, 'B', other_slopes,
            "ALiBi had other slopes: head i of h, a power of two, has 2^(−8i/h); other numbers of heads take those of the "
            "power of two below, then every other one of the power of two above",
            "ALiBi 的斜率不对：h 为 2 的幂时，头 i 的斜率是 2^(−8i/h)；否则先取较小的 2 的幂的斜率，再隔一个取较大的 2 "
            "的幂的斜率"),
    Mistake(
        "causal_strict", StepId::masked, 'B', own_key_hidden,
        "the causal mask hid the query's own token as well, or its new key was not in the cache yet: j = i stays visible",
        "因果掩码把查询自己也遮住了，或者它的新键还没有写进缓存：j = i 应当可见"),
    Mistake("causal_one_ahead", StepId::masked, 'B', with<causal_shifted, 1>,
            "the causal mask let each query see one token ahead: hide every j > i",
            "因果掩码让查询多看到了后一个词元：应遮住所有 j > i"),
    Mistake("causal_corner", StepId::masked, 'A', causal_corner,
            "the causal triangle started in the other corner: with n ≠ m, align says where query i stands among the keys",
            "因果掩码的三角对齐到了另一个角：n ≠ m 时，看 align 说明查询 i 对应哪个键"),
};

}  // namespace

const std::span<const Mistake> mask_mistakes = mask_rows;

}  // namespace mha::study
