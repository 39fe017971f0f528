// What the wrong numbers of a step have in common where no known mistake fits: one function for each sign, the most telling
// first.
#include "study/check/diagnose.hpp"

#include "core/op_rules.hpp"

namespace mha::study {
namespace {

// The given matrices of one item and head beside the expected ones.
struct Clue {
  StepId step;
  Index head;
  const GivenMatrices& all;
  const Reading& reading;
  const Plan& plan;
  const GivenMatrix& given;
  const Uncertain& expected;

  Index rows() const { return given.numbers.shape().rows; }
  Index cols() const { return given.numbers.shape().cols; }
  Index items() const { return given.numbers.shape().batch; }
  double own(Index item, Index i, Index j) const { return given.numbers.at(item, 0, i, j); }
  double right(Index item, Index i, Index j) const { return expected.numbers->at(item, head, i, j); }
  double tolerance(Index item, Index i, Index j) const { return expected.radius->at(item, head, i, j); }
  bool is_wrong(Index item, Index i, Index j) const {
    return !is_same(own(item, i, j), right(item, i, j), tolerance(item, i, j));
  }

  bool is_blank(Index item, Index i, Index j) const { return given.is_blank((item * rows() + i) * cols() + j); }

  // Of what was filled in.
  template <typename Holds>
  bool every(Holds holds) const {
    for (Index item = 0; item < items(); ++item)
      for (Index i = 0; i < rows(); ++i)
        for (Index j = 0; j < cols(); ++j)
          if (!is_blank(item, i, j) && !holds(item, i, j)) return false;
    return true;
  }
};

using Found = std::optional<Sign>;

constexpr Text copied = {"X is given: copy it from the problem", "X 是题目给出的：照抄即可"};
constexpr Text heads_differ = {"the problem has fewer heads", "题目的头没有这么多"};
constexpr Text shape_differs = {"a matrix of another shape than expected", "形状不符"};
constexpr Text z_is_scaled = {"another shape: Z is the scaled scores here; a head's output is head1, head2, …",
                              "形状不符：Z 在这里是缩放后的分数；头的输出写作 head1、head2……"};
constexpr Text zero_hides = {"0 stands where the mask hides a key: −∞ belongs there, since e^0 is 1 and e^(−∞) is 0",
                             "被掩码遮住的位置写了 0：那里应为 −∞，因为 e^0 = 1，而 e^(−∞) = 0"};
constexpr Text mask_itself = {"the mask itself stands here: M is the scaled scores, with −∞ where it hides a key",
                              "这里写的是掩码本身：M 应是缩放后的分数，被遮住的位置为 −∞"};
constexpr Text other_keys_hidden = {"−∞ stands for other keys than those that the mask hides",
                                    "−∞ 所在的键不是掩码遮住的那些"};
constexpr Text not_numbers = {"NaN or infinite entries where a number is expected: an overflow, 0·∞ or ∞ − ∞",
                              "应为数的位置出现 NaN 或无穷大：溢出、0·∞ 或 ∞ − ∞"};
constexpr Text leak = {"weight where the mask hides the key: the hidden score was not −∞ before the softmax",
                       "被掩码遮住的键得到了权重：softmax 之前那里的分数不是 −∞"};
constexpr Text column_sums = {"the columns sum to 1 instead of the rows: the softmax ran along the other axis",
                              "每一列之和为 1，而不是每一行：softmax 沿了另一个轴"};
constexpr Text total_sum = {"the whole matrix sums to 1 instead of each row: the softmax ran over all entries",
                            "整个矩阵之和为 1，而不是每一行：softmax 对所有元素做了"};
constexpr Text sums_over_heads = {"each entry sums to 1 over the heads: the softmax ran over the heads",
                                  "每个位置在各头上之和为 1：softmax 沿头的方向做了"};
constexpr Text equal_sums = {
    "all rows sum to one and the same number that is not 1: something was multiplied after the softmax",
    "各行之和都是同一个不为 1 的数：softmax 之后又乘了某个数"};
constexpr Text small_sums = {"rows sum to less than 1: weight was taken away, or something added to the denominator",
                             "各行之和小于 1：权重被去掉了一部分，或分母多加了东西"};
constexpr Text other_sums = {"rows do not sum to 1: these are no weights of a softmax",
                             "各行之和不是 1：这不是 softmax 的权重"};
constexpr Text signs_flipped = {"the numbers are right but for their signs: a minus sign was lost or added",
                                "数值对，符号不对：漏了或多了负号"};
constexpr Text elsewhere = {
    "the right numbers in other places: an error in the arrangement (a transpose, a split, an order)",
    "数都对，位置不对：排列错误（转置、拆分或顺序）"};
constexpr Text one_ratio = {"every entry is the expected one times one number: an error in a scale",
                            "每个元素都是应有值乘以同一个数：缩放错误"};
constexpr Text one_row = {"the same difference in every row: an error in a bias", "每一行的差都相同：偏置错误"};
constexpr Text few_entries = {"all other entries are right: a slip in the arithmetic", "其余元素都对：计算失误"};

// With the items of a batch in front, where there is one.
std::string shape_text(const Shape& shape, bool batched) {
  return (batched ? fmt::format("{}×", shape.batch) : "") + fmt::format("{}×{}", shape.rows, shape.cols);
}

Found shape(const Clue& clue) {
  const Shape& right = clue.expected.numbers->shape();
  if (clue.head >= right.heads) return Sign{heads_differ, {}};
  const Shape& own = clue.given.numbers.shape();
  if (own.has_matrices_as(right)) return std::nullopt;
  const bool batched = own.batch > 1 || right.batch > 1 || clue.given.batched;
  const std::string shapes = fmt::format("{} ≠ {}", shape_text(own, clue.given.batched), shape_text(right, batched));
  const auto& output = clue.reading.at(StepId::head_output);
  const Shape of_output = output ? output->expected.numbers->shape() : right;
  const bool is_output = own.has_matrices_as(of_output);
  return Sign{clue.step == StepId::scaled && is_output ? z_is_scaled : shape_differs, shapes};
}

Found input(const Clue& clue) {
  return clue.step == StepId::X ? Found({copied, {}}) : std::nullopt;
}

// 0 where a key is hidden, and else what is right; or the mask as 0 and −∞, or as 1 and 0 either way.
Found written_mask(const Clue& clue) {
  if (clue.step != StepId::masked) return std::nullopt;
  const auto is_hidden = [&](Index item, Index i, Index j) { return clue.right(item, i, j) == minus_infinity; };
  const auto zero = [&](Index item, Index i, Index j) {
    return is_hidden(item, i, j) ? clue.own(item, i, j) == 0 : !clue.is_wrong(item, i, j);
  };
  if (clue.every(zero)) return Sign{zero_hides, {}, true};
  for (const auto& [hidden, visible] : {std::pair(minus_infinity, 0.0), {0.0, 1.0}, {1.0, 0.0}}) {
    const auto is_mask = [&, h = hidden, v = visible](Index item, Index i, Index j) {
      return clue.own(item, i, j) == (is_hidden(item, i, j) ? h : v);
    };
    if (clue.every(is_mask)) return Sign{mask_itself, {}, true};
  }
  return std::nullopt;
}

Found other_pattern(const Clue& clue) {
  const bool same = clue.step != StepId::masked || clue.every([&](Index item, Index i, Index j) {
    return (clue.own(item, i, j) == minus_infinity) == (clue.right(item, i, j) == minus_infinity);
  });
  return same ? std::nullopt : Found({other_keys_hidden, {}});
}

// How many of the wrong entries there are, of how many.
Found slip(const Clue& clue) {
  const Likeness& likeness = clue.reading.at(clue.step)->heads[static_cast<std::size_t>(clue.head)];
  const bool few = likeness.wrong == 1 ? likeness.entries > 2 : 4 * likeness.wrong <= likeness.entries;
  return few ? Found({few_entries, {}}) : std::nullopt;
}

Found no_number(const Clue& clue) {
  const bool finite = clue.every([&](Index item, Index i, Index j) {
    return std::isfinite(clue.own(item, i, j)) || !std::isfinite(clue.right(item, i, j));
  });
  return finite ? std::nullopt : Found({not_numbers, {}});
}

Found leaked(const Clue& clue) {
  const std::optional<StepReading>& masked = clue.reading.at(StepId::masked);
  if (clue.step != StepId::weights || !masked) return std::nullopt;
  const Tensor& scores = *masked->used.numbers;
  const bool tight = clue.every([&](Index item, Index i, Index j) {
    const double score = scores.at(item, clue.head, i, j);
    return !(std::isinf(score) && score < 0) || !clue.is_wrong(item, i, j);
  });
  return tight ? std::nullopt : Found({leak, {}});
}

// The sum over these entries of one item, or whether it is 1 as far as the tolerance goes.
struct Sum {
  double value = 0;
  double tolerance = 0;
  bool is(double number) const { return std::abs(value - number) <= tolerance; }
};

Sum sum_over(const Clue& clue, Index item, Index first_row, Index rows, Index first_col, Index cols) {
  Sum sum;
  for (Index i = first_row; i < first_row + rows; ++i)
    for (Index j = first_col; j < first_col + cols; ++j) {
      sum.value += clue.own(item, i, j);
      sum.tolerance += clue.tolerance(item, i, j);
    }
  return sum;
}

std::vector<Sum> row_sums(const Clue& clue) {
  std::vector<Sum> sums;
  for (Index item = 0; item < clue.items(); ++item)
    for (Index i = 0; i < clue.rows(); ++i)
      if (const Sum sum = sum_over(clue, item, i, 1, 0, clue.cols()); !std::isnan(sum.value)) sums.push_back(sum);
  return sums;
}

bool columns_sum_to_one(const Clue& clue) {
  for (Index item = 0; item < clue.items(); ++item)
    for (Index j = 0; j < clue.cols(); ++j)
      if (!sum_over(clue, item, 0, clue.rows(), j, 1).is(1)) return false;
  return true;
}

bool all_sums_to_one(const Clue& clue) {
  for (Index item = 0; item < clue.items(); ++item)
    if (!sum_over(clue, item, 0, clue.rows(), 0, clue.cols()).is(1)) return false;
  return true;
}

bool heads_sum_to_one(const Clue& clue) {
  const Index heads = clue.expected.numbers->shape().heads;
  return heads > 1 && clue.every([&](Index item, Index i, Index j) {
    Sum sum;
    for (Index head = 0; head < heads; ++head) {
      const GivenMatrix* other = clue.all.find(clue.step, head);
      if (other == nullptr || !(other->numbers.shape() == clue.given.numbers.shape())) return false;
      sum.value += other->numbers.at(item, 0, i, j);
      sum.tolerance += clue.tolerance(item, i, j);
    }
    return sum.is(1);
  });
}

Found sums(const Clue& clue) {
  if (clue.step != StepId::weights || !weights_sum_to_one(clue.plan)) return std::nullopt;
  const std::vector<Sum> rows = row_sums(clue);
  const auto is_one = [](const Sum& sum) { return sum.is(1); };
  if (std::all_of(rows.begin(), rows.end(), is_one)) return std::nullopt;
  if (columns_sum_to_one(clue)) return Sign{column_sums, {}};
  if (all_sums_to_one(clue)) return Sign{total_sum, {}};
  if (heads_sum_to_one(clue)) return Sign{sums_over_heads, {}};
  const double first = rows.front().value;
  if (std::all_of(rows.begin(), rows.end(), [&](const Sum& sum) { return sum.is(first); }))
    return Sign{equal_sums, fmt::format("{:.4g}", first)};
  if (std::all_of(rows.begin(), rows.end(), [](const Sum& sum) { return sum.value <= 1 + sum.tolerance; }))
    return Sign{small_sums, {}};
  return Sign{other_sums, {}};
}

Found flipped(const Clue& clue) {
  const bool same_sizes = clue.every([&](Index item, Index i, Index j) {
    return is_same(std::abs(clue.own(item, i, j)), std::abs(clue.right(item, i, j)), clue.tolerance(item, i, j));
  });
  return same_sizes ? Found({signs_flipped, {}}) : std::nullopt;
}

// Sorted, the given numbers are the expected ones.
Found rearranged(const Clue& clue) {
  struct Number {
    double number, tolerance;
    bool operator<(const Number& other) const { return number < other.number; }
  };
  std::vector<double> own;
  std::vector<Number> right;
  const bool numbers = clue.every([&](Index item, Index i, Index j) {
    own.push_back(clue.own(item, i, j));
    right.push_back({clue.right(item, i, j), clue.tolerance(item, i, j)});
    return !std::isnan(own.back()) && !std::isnan(right.back().number);
  });
  if (!numbers) return std::nullopt;
  std::sort(own.begin(), own.end());
  std::sort(right.begin(), right.end());
  const auto fits = [](double number, const Number& entry) { return is_same(number, entry.number, entry.tolerance); };
  return std::equal(own.begin(), own.end(), right.begin(), fits) ? Found({elsewhere, {}}) : std::nullopt;
}

// The ratio is taken where it is known best, at the largest number.
Found constant_ratio(const Clue& clue) {
  double largest = 0, ratio = 1;
  clue.every([&](Index item, Index i, Index j) {
    const double right = clue.right(item, i, j);
    if (!std::isfinite(right) || std::abs(right) <= largest) return true;
    largest = std::abs(right);
    ratio = clue.own(item, i, j) / right;
    return true;
  });
  const bool constant = largest > 0 && clue.every([&](Index item, Index i, Index j) {
    const double tolerance = clue.tolerance(item, i, j) * (1 + std::abs(ratio));
    return is_same(clue.own(item, i, j), ratio * clue.right(item, i, j), tolerance);
  });
  return constant && clue.rows() * clue.cols() > 1 ? Found({one_ratio, fmt::format("{:.4g}", ratio)}) : std::nullopt;
}

Found constant_row(const Clue& clue) {
  const bool constant = clue.rows() > 1 && clue.every([&](Index item, Index i, Index j) {
    const double first = clue.own(item, 0, j) - clue.right(item, 0, j);
    return is_same(clue.own(item, i, j), clue.right(item, i, j) + first,
                   clue.tolerance(item, i, j) + clue.tolerance(item, 0, j));
  });
  return constant ? Found({one_row, {}}) : std::nullopt;
}

constexpr std::array signs = {shape,  input, written_mask, other_pattern, slip,           no_number,
                              leaked, sums,  flipped,      rearranged,    constant_ratio, constant_row};

}  // namespace

std::optional<Sign> sign_of(StepId step, Index head, const GivenMatrices& given, const Reading& reading, const Plan& plan) {
  const Clue clue{step, head, given, reading, plan, *given.find(step, head), reading.at(step)->expected};
  for (const auto sign : signs)
    if (Found found = sign(clue)) return found;
  return std::nullopt;
}

}  // namespace mha::study
