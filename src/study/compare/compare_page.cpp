// A comparison as a page: equal steps in a line, the others with both matrices.
#include "study/compare/compare_page.hpp"

#include <cmath>

#include "show/words/notation.hpp"
#include "show/words/number_text.hpp"
#include "show/words/phrases.hpp"

namespace mha::study {
namespace {

using Verdict = ComparedMatrix::Verdict;

constexpr Text title{"Two computations, step by step", "两种计算，逐步对照"};
constexpr Text sides{"left: {0} · right: {1}", "左：{0} · 右：{1}"};
constexpr Text item{"item {}", "第 {} 项"};
constexpr Text equal{"equal", "相同"};
constexpr Text first_difference{"← the first difference", "← 最先不同"};
constexpr Text differs{"different", "不同"};
constexpr Text only_left{"only on the left, {}", "只有左边有，{}"};
constexpr Text only_right{"only on the right, {}", "只有右边有，{}"};
constexpr Text other_shape{"another shape: {} and {}", "形状不同：{} 和 {}"};
constexpr Text largest{"largest difference {0} at [{1},{2}]: {3} and {4}", "最大差 {0}，在 [{1},{2}]：{3} 和 {4}"};
constexpr Text incomparable{"the first number that cannot be compared is at [{0},{1}]: {2} and {3}",
                            "最先无法比较的数在 [{0},{1}]：{2} 和 {3}"};
constexpr Text all_equal{"All steps that both sides have are equal.", "两边都有的步骤全部相同。"};

constexpr Index most_entries = 1000, edge = 3;  // larger matrices are elided, as on the pages of run

show::Shown shown(Index size, bool whole) {
  return whole || size <= 2 * edge ? show::Shown{size, size, 0} : show::Shown{size, edge, edge};
}

class Page {
 public:
  Page(const Side& left, const Side& right, const show::PageOptions& options) : left_(left), right_(right), options_(options) {}

  show::Document write(const Comparison& comparison, const show::Words& remark) {
    page_.language = options_.language;
    page_.index_base = options_.index_base;
    page_.blocks.emplace_back(show::Title{{show::Words(std::string(title.in(options_.language)))}});
    show::Words names = show::say_words(options_.language, sides, {left_.name, right_.name});
    page_.blocks.emplace_back(show::Note{show::Note::Kind::paragraph, std::move(names)});
    if (!remark.empty()) page_.blocks.emplace_back(show::Note{show::Note::Kind::paragraph, remark});
    if (!comparison.first) paragraph(std::string(all_equal.in(options_.language)));
    for (std::size_t i = 0; i < comparison.matrices.size(); ++i)
      if (is_chosen(comparison.matrices[i])) add(comparison.matrices[i], comparison.first == i);
    return std::move(page_);
  }

 private:
  bool is_chosen(const ComparedMatrix& matrix) const {
    return options_.selection.has(matrix.step) &&
           (!name_of(matrix.step).per_head || options_.selection.has_head(matrix.head));
  }

  const Tensor& tensor(const Side& side, const ComparedMatrix& matrix) const {
    return *side.numbers[static_cast<std::size_t>(matrix.step)];
  }

  std::string shape(const Side& side, const ComparedMatrix& matrix) const {
    const Shape& s = tensor(side, matrix).shape();
    return fmt::format("{}×{}", s.rows, s.cols);
  }

  // "Weights   A⁽¹⁾   equal"
  void add(const ComparedMatrix& matrix, bool is_first) {
    show::StepHeading heading;
    heading.title = name_of(matrix.step).title.in(options_.language);
    heading.formula = symbol(matrix);
    heading.shapes = verdict(matrix, is_first);
    page_.blocks.emplace_back(std::move(heading));
    if (matrix.verdict == Verdict::different) add_difference(matrix);
    if (matrix.verdict == Verdict::different || matrix.verdict == Verdict::other_shape)
      page_.blocks.emplace_back(show::Equation{{numbers(left_, matrix), std::string("≠"), numbers(right_, matrix)}});
  }

  std::string symbol(const ComparedMatrix& matrix) const {
    const StepName& name = name_of(matrix.step);
    std::string text(name.symbol);
    if (name.per_head) text += "⁽" + show::superscript(matrix.head + options_.index_base) + "⁾";
    const Tensor* either = left_.numbers[static_cast<std::size_t>(matrix.step)].get();
    if (either == nullptr) either = &tensor(right_, matrix);
    if (either->shape().batch > 1) text += " " + show::say(options_.language, item, matrix.item + options_.index_base);
    return text;
  }

  std::string verdict(const ComparedMatrix& matrix, bool is_first) const {
    const Language language = options_.language;
    if (is_first) return std::string(first_difference.in(language));
    switch (matrix.verdict) {
      case Verdict::equal: return std::string(equal.in(language));
      case Verdict::different: return std::string(differs.in(language));
      case Verdict::left_only: return show::say(language, only_left, shape(left_, matrix));
      case Verdict::right_only: return show::say(language, only_right, shape(right_, matrix));
      case Verdict::other_shape: return show::say(language, other_shape, shape(left_, matrix), shape(right_, matrix));
    }
    return {};
  }

  void add_difference(const ComparedMatrix& matrix) {
    const show::NumberStyle style(options_.precision, show::NumberStyle::Origin::computed);
    const auto text = [&](const Side& side) {
      return style.text(tensor(side, matrix).at(matrix.item, matrix.head, matrix.row, matrix.column));
    };
    const Index row = matrix.row + options_.index_base, column = matrix.column + options_.index_base;
    const std::string sentence =
        std::isfinite(matrix.largest)
            ? show::say(options_.language, largest, style.text(matrix.largest), row, column, text(left_), text(right_))
            : show::say(options_.language, incomparable, row, column, text(left_), text(right_));
    page_.blocks.emplace_back(show::Note{show::Note::Kind::caption, show::Words(sentence)});
  }

  show::Matrix numbers(const Side& side, const ComparedMatrix& matrix) const {
    const Tensor& from = tensor(side, matrix);
    const bool whole = options_.full || from.shape().rows * from.shape().cols <= most_entries;
    show::Matrix result;
    result.symbol = symbol(matrix);
    result.rows = shown(from.shape().rows, whole);
    result.columns = shown(from.shape().cols, whole);
    show::NumberStyle style(options_.precision, show::NumberStyle::Origin::computed);
    const auto each = [&](auto&& visit) {
      for (Index i = 0; i < result.rows.count(); ++i)
        for (Index j = 0; j < result.columns.count(); ++j)
          visit(from.at(matrix.item, matrix.head, result.rows.place(i), result.columns.place(j)));
    };
    each([&](double value) { style.see(value); });
    each([&](double value) { result.cells.push_back({style.text(value)}); });
    return result;
  }

  void paragraph(std::string text) { page_.blocks.emplace_back(show::Note{show::Note::Kind::paragraph, show::Words(std::move(text))}); }

  const Side& left_;
  const Side& right_;
  const show::PageOptions& options_;
  show::Document page_;
};

}  // namespace

show::Document describe(const Comparison& comparison, const Side& left, const Side& right, const show::Words& remark,
                  const show::PageOptions& options) {
  return Page(left, right, options).write(comparison, remark);
}

}  // namespace mha::study
