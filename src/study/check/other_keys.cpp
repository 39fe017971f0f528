// Which keys a mistake hides or shows that should be visible or hidden.
#include "study/check/diagnose.hpp"

#include "show/words/phrases.hpp"
#include "study/mistakes/hidden_keys.hpp"

namespace mha::study {
namespace {

constexpr std::size_t most_groups = 4, most_numbers = 8;

constexpr Text of_row{"row {}: {}", "第 {} 行：{}"};
constexpr Text of_rows{"rows {}: {}", "第 {} 行：{}"};
constexpr Text of_item_row{"item {}, row {}: {}", "样本 {} 第 {} 行：{}"};
constexpr Text of_item_rows{"item {}, rows {}: {}", "样本 {} 第 {} 行：{}"};
constexpr Text key_hidden{"key {} should be hidden", "键 {} 应被遮住"};
constexpr Text keys_hidden{"keys {} should be hidden", "键 {} 应被遮住"};
constexpr Text key_visible{"key {} should be visible", "键 {} 应可见"};
constexpr Text keys_visible{"keys {} should be visible", "键 {} 应可见"};
constexpr Text and_others{", …", "、…"};

std::string numbers_text(const std::vector<Index>& numbers, Language language, Index base) {
  std::string text;
  for (std::size_t i = 0; i < std::min(numbers.size(), most_numbers); ++i)
    text += (i == 0 ? "" : show::say(language, show::phrase::comma)) + std::to_string(numbers[i] + base);
  return text + (numbers.size() > most_numbers ? show::say(language, and_others) : "");
}

std::string keys_text(const OtherKeys& keys, Language language, Index base) {
  std::string text;
  const auto add = [&](const std::vector<Index>& numbers, const Text& one, const Text& several) {
    if (numbers.empty()) return;
    text += (text.empty() ? "" : show::say(language, show::phrase::comma)) +
            show::say(language, numbers.size() == 1 ? one : several, numbers_text(numbers, language, base));
  };
  add(keys.hidden, key_hidden, keys_hidden);
  add(keys.visible, key_visible, keys_visible);
  return text;
}

// is_hidden(at) and should_be(at) of each entry of a head.
template <typename Hidden, typename ShouldBe>
std::vector<OtherKeys> keys_of(const Shape& shape, Index head, Hidden hidden, ShouldBe hidden_rightly) {
  std::vector<OtherKeys> result;
  for (Index item = 0; item < shape.batch; ++item)
    for (Index i = 0; i < shape.rows; ++i) {
      OtherKeys row{item, {i}, {}, {}};
      for (Index j = 0; j < shape.cols; ++j) {
        const Entry at{item, head, i, j};
        const bool is_hidden = hidden(at), should_be = hidden_rightly(at);
        if (is_hidden != should_be) (should_be ? row.hidden : row.visible).push_back(j);
      }
      if (row.hidden.empty() && row.visible.empty()) continue;
      const auto alike = [&](const OtherKeys& e) {
        return e.item == item && e.hidden == row.hidden && e.visible == row.visible;
      };
      const auto found = std::find_if(result.begin(), result.end(), alike);
      if (found == result.end())
        result.push_back(std::move(row));
      else
        found->rows.push_back(i);
    }
  return result;
}

}  // namespace

std::vector<OtherKeys> other_keys(const Reading& mistaken, const Reading& right, Index head) {
  const auto &own = mistaken.at(StepId::masked), &true_one = right.at(StepId::masked);
  if (!own || !true_one) return {};
  const Tensor &M = *own->expected.numbers, &expected = *true_one->expected.numbers;
  if (!(M.shape() == expected.shape()) || head >= expected.shape().heads) return {};
  const auto hides = [](const Tensor& scores) { return [&](const Entry& at) { return scores.at(at) == minus_infinity; }; };
  return keys_of(M.shape(), head, hides(M), hides(expected));
}

std::vector<OtherKeys> other_keys(StepId step, const GivenMatrix& given, const Reading& right, Index head) {
  const auto& row = right.at(step);
  const auto& masked = right.at(StepId::masked);
  if (!masked || (step != StepId::masked && step != StepId::weights)) return {};
  const Tensor& M = *masked->expected.numbers;
  if (head >= M.shape().heads || !given.numbers.shape().has_matrices_as(M.shape())) return {};
  const auto should_be = [&](const Entry& at) { return M.at(at) == minus_infinity; };
  const auto is_hidden = [&](const Entry& at) {
    const double own = given.numbers.at(at.item, 0, at.row, at.column);
    if (given.is_blank((at.item * M.shape().rows + at.row) * M.shape().cols + at.column)) return should_be(at);
    return step == StepId::masked ? own == minus_infinity : should_be(at) && !(own > row->expected.radius->at(at));
  };
  return keys_of(M.shape(), head, is_hidden, should_be);
}

std::string told(const std::vector<OtherKeys>& keys, Language language, Index base, bool items) {
  std::string text;
  for (std::size_t i = 0; i < std::min(keys.size(), most_groups); ++i) {
    const OtherKeys& group = keys[i];
    const bool one = group.rows.size() == 1;
    const std::string rows = numbers_text(group.rows, language, base), what = keys_text(group, language, base);
    text += i == 0 ? "" : show::say(language, show::phrase::semicolon);
    text += items ? show::say(language, one ? of_item_row : of_item_rows, group.item + base, rows, what)
                  : show::say(language, one ? of_row : of_rows, rows, what);
  }
  return text + (keys.size() > most_groups ? show::say(language, and_others) : "");
}

}  // namespace mha::study
