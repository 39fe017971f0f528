// A comparison as a page: equal steps in a line, the others with both matrices.
#include "study/compare/compare.hpp"

#include "show/pages/page.hpp"
#include "show/pages/page_parts.hpp"
#include "show/words/notation.hpp"

namespace mha::study {
namespace {

constexpr Text sides{"left: {0} · right: {1}", "左：{0} · 右：{1}"};
constexpr Text equal{"equal on both sides: {}", "两边相同：{}"};
constexpr Text star_legend{"* marks an entry that is not the same on both sides", "* 标出两边不同的元素"};
constexpr Text unlike_shapes{"another shape: {} and {}", "形状不同：{} 和 {}"};
constexpr Text largest{"largest difference {0} at [{1},{2}]: {3} and {4}", "最大差 {0}，在 [{1},{2}]：{3} 和 {4}"};
constexpr Text incomparable{"the first number that cannot be compared is at [{0},{1}]: {2} and {3}",
                            "最先无法比较的数在 [{0},{1}]：{2} 和 {3}"};
constexpr Text all_equal{"All steps that both sides have are equal.", "两边都有的步骤全部相同。"};

class ComparePage {
 public:
  ComparePage(const Side& left, const Side& right, const show::PageOptions& options)
      : left_(left), right_(right), options_(options), page_(options.language, options.index_base) {}

  show::Document write(const Comparison& comparison, const std::vector<show::Words>& remarks) {
    page_.title({"Two computations, step by step", "两种计算，逐步对照"});
    page_.paragraph(show::say_words(options_.language, sides, {left_.name, right_.name}));
    for (const show::Words& remark : remarks) page_.paragraph(remark);
    for (const HeadRow& row : right_.rows)
      for (Index item = 0; item < left_.computed.problems.front().batch(); ++item) add_row(row, item);
    page_.paragraph(comparison.first ? star_legend : all_equal);
    for (std::size_t i = 0; i < comparison.matrices.size(); ++i) {
      const ComparedMatrix& matrix = comparison.matrices[i];
      if (!matrix.is_chosen(options_.selection)) continue;
      if (matrix.own_layer() != layer_) add_layer(matrix, comparison.matrices.back());
      if (matrix.verdict == MatrixVerdict::equal) {
        equal_.push_back(&matrix);
        continue;
      }
      add_equal();
      add(matrix, comparison.first == i);
    }
    add_equal();
    return page_.take();
  }

 private:
  void add_layer(const ComparedMatrix& matrix, const ComparedMatrix& last) {
    add_equal();
    layer_ = matrix.own_layer();
    page_.section({layer_ ? page_.say(show::phrase::layer_of, page_.counted(*layer_), *last.layer + 1)
                          : page_.say(show::phrase::behind_all_layers)},
                  show::Section::Level::item);
  }

  void add_row(const HeadRow& row, Index item) {
    page_.paragraph(row.caption);
    show::Equation equation;
    for (std::size_t i = 0; i < row.matrices.size(); ++i) {
      const bool last = i + 1 == row.matrices.size();
      if (i > 0) equation.parts.emplace_back(last ? row.last_sign : row.sign);
      show::Matrix matrix = show::View(*row.matrices[i], item, 0, style_, options_.full)
                                .matrix(last ? "Y" : page_.say(row.name, page_.counted(static_cast<Index>(i))));
      show::add_labels(matrix, left_.computed.problems.front(), StepId::output, item);
      equation.parts.emplace_back(std::move(matrix));
    }
    page_.add(std::move(equation));
  }

  // "equal on both sides: X, Q⁽¹⁾, Q⁽²⁾, K⁽¹⁾ … K⁽⁸⁾": what was found equal since the last difference.
  void add_equal() {
    std::string list;
    for (std::size_t first = 0, last = 0; first < equal_.size(); first = last + 1) {
      for (last = first; last + 1 < equal_.size() && follows(*equal_[last], *equal_[last + 1]);) ++last;
      if (!list.empty()) list += page_.say(show::phrase::comma);
      list += symbol(*equal_[first]);
      if (last > first) list += (last > first + 1 ? " … " : page_.say(show::phrase::comma)) + symbol(*equal_[last]);
    }
    if (!list.empty()) page_.paragraph(equal, list);
    equal_.clear();
  }

  static bool follows(const ComparedMatrix& a, const ComparedMatrix& b) {
    return a.step == b.step && a.item == b.item && a.head + 1 == b.head;
  }

  // "Weights   A⁽¹⁾   different"
  void add(const ComparedMatrix& matrix, bool is_first) {
    page_.add(show::StepHeading{{}, show::title(matrix.step, page_.language()), symbol(matrix), verdict(matrix, is_first)});
    if (matrix.verdict == MatrixVerdict::different) add_difference(matrix);
    if (matrix.verdict == MatrixVerdict::different || matrix.verdict == MatrixVerdict::other_shape)
      page_.add(show::Equation{{numbers(left_, Text{"left {}", "左 {}"}, matrix), std::string("≠"),
                                numbers(right_, Text{"right {}", "右 {}"}, matrix)}});
  }

  std::string symbol(const ComparedMatrix& matrix) const {
    const bool per_head = name_of(matrix.step).per_head;
    std::string text = show::symbol(matrix.step, per_head ? std::optional(page_.counted(matrix.head)) : std::nullopt);
    const Side& either = matrix.verdict == MatrixVerdict::right_only ? right_ : left_;
    if (either.tensor(matrix).shape().batch > 1)
      text += " " + page_.say({"item {}", "样本 {}"}, page_.counted(matrix.item));
    return text;
  }

  std::string verdict(const ComparedMatrix& matrix, bool is_first) const {
    const auto shape = [&](const Side& side) {
      const Shape& s = side.tensor(matrix).shape();
      return fmt::format("{}×{}", s.rows, s.cols);
    };
    if (is_first) return page_.say({"← the first difference", "← 最先不同"});
    switch (matrix.verdict) {
      case MatrixVerdict::equal: break;  // told in a line with others
      case MatrixVerdict::different: return page_.say({"different", "不同"});
      case MatrixVerdict::left_only: return page_.say({"only on the left, {}", "只有左边有，{}"}, shape(left_));
      case MatrixVerdict::right_only: return page_.say({"only on the right, {}", "只有右边有，{}"}, shape(right_));
      case MatrixVerdict::other_shape: return page_.say(unlike_shapes, shape(left_), shape(right_));
    }
    return {};
  }

  void add_difference(const ComparedMatrix& matrix) {
    const auto number = [&](const Side& side) {
      return side.tensor(matrix).at(matrix.item, matrix.head, matrix.row, matrix.column);
    };
    std::string left = style_.text(number(left_)), right = style_.text(number(right_));
    if (left == right) left = show::full_text(number(left_)), right = show::full_text(number(right_));
    const Index row = page_.counted(matrix.row), column = page_.counted(matrix.column);
    std::string apart = style_.text(matrix.largest);
    if (apart.find_first_of("123456789") == std::string::npos) apart = show::short_text(matrix.largest);
    if (std::isfinite(matrix.largest))
      page_.caption(largest, apart, row, column, left, right);
    else
      page_.caption(incomparable, row, column, left, right);
  }

  show::Matrix numbers(const Side& side, const Text& named, const ComparedMatrix& matrix) const {
    show::Matrix result = show::View(side.tensor(matrix), matrix.item, matrix.head, style_, options_.full)
                              .matrix(page_.say(named, symbol(matrix)));
    show::add_labels(result, side.computed.problems[static_cast<std::size_t>(matrix.layer.value_or(0))], matrix.step,
                     matrix.item);
    for (std::size_t i = 0; matrix.verdict == MatrixVerdict::different && i < result.cells.size(); ++i) {
      const Index columns = result.columns.count(), place = static_cast<Index>(i);
      const Entry at{matrix.item, matrix.head, result.rows.place(place / columns), result.columns.place(place % columns)};
      if (difference(left_.tensor(matrix).at(at), right_.tensor(matrix).at(at)) != 0)
        result.cells[i].mark = show::Cell::Mark::wrong;
    }
    return result;
  }

  const Side& left_;
  const Side& right_;
  const show::PageOptions& options_;
  show::PageBuilder page_;
  show::NumberStyle style_{options_.precision, show::NumberStyle::Origin::computed};
  std::vector<const ComparedMatrix*> equal_;  // not yet told
  std::optional<int> layer_;                  // whose section it is
};

}  // namespace

show::Document describe(const Comparison& comparison, const Side& left, const Side& right,
                        const std::vector<show::Words>& remarks, const show::PageOptions& options) {
  return ComparePage(left, right, options).write(comparison, remarks);
}

}  // namespace mha::study
