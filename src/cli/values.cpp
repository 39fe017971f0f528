// What people write behind an option, read strictly: option numbers are decimal, a list is one argument.
#include "cli/options.hpp"

#include <charconv>

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "core/utf8.hpp"

namespace mha::cli {
namespace {

// "a-b" as its two ends, "a" as a twice.
std::pair<std::string_view, std::string_view> ends_of_range(std::string_view item) {
  const std::size_t dash = item.find('-');
  if (dash == std::string_view::npos || dash == 0) return {item, item};
  if (dash + 1 == item.size()) return {item, item};
  return {item.substr(0, dash), item.substr(dash + 1)};
}

// The steps that a name means: one, or the three of "packed". Gradients are called as rows of an answer.
std::pair<std::size_t, std::size_t> steps_called(std::string_view name, std::string_view option, bool of_answers) {
  const std::size_t count = of_answers ? row_count : step_count;
  if (name == "packed") return {static_cast<std::size_t>(StepId::packed_Q), static_cast<std::size_t>(StepId::packed_V)};
  for (std::size_t i = 0; i < count; ++i)
    if (name == row_names[i].id) return {i, i};
  for (std::size_t i = 0; i < count; ++i)
    if (name == row_names[i].symbol && !is_packed(row_names[i].step)) return {i, i};
  std::vector<std::string_view> names{"packed"};
  for (const StepName& step : step_names)
    if (std::find(names.begin(), names.end(), step.id) == names.end()) names.push_back(step.id);
  throw Error({"{}: no step is called '{}'.{} The steps are {}", "{}：没有叫 '{}' 的步骤。{}步骤有 {}"}, option, name,
              did_you_mean(name, names), listed(names));
}

}  // namespace

std::vector<std::string_view> split_at_commas(std::string_view option, std::string_view text) {
  std::vector<std::string_view> items;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    items.push_back(text.substr(start, end - start));
    if (items.back().empty())
      throw Error({"{} '{}': an entry is empty; entries are separated by one comma",
                   "{} '{}'：有一项是空的；各项之间用一个逗号隔开"},
                  option, text);
    start = end + 1;
  }
  return items;
}

int parse_number(std::string_view option, std::string_view text, int least, int most) {
  const std::optional<Index> number = whole_number(text);
  if (!number || *number < least || *number > most)
    throw Error({"{} '{}': expected a whole number from {} to {}", "{} '{}'：应为 {} 到 {} 的整数"}, option, text, least,
                most);
  return static_cast<int>(*number);
}

double parse_tolerance(std::string_view option, std::string_view text) {
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (text.empty() || error != std::errc() || stop != end || !std::isfinite(number) || !(number >= 0))
    throw Error({"{} '{}': expected a finite number from 0 on, such as 0.01", "{} '{}'：应为 0 或更大的有限数，例如 0.01"},
                option, text);
  return number;
}

std::vector<Index> parse_numbers(std::string_view option, std::string_view text, Index count, int base, const Text& what) {
  std::vector<bool> chosen(static_cast<std::size_t>(count), false);
  for (const std::string_view item : split_at_commas(option, text)) {
    const auto [first_text, last_text] = ends_of_range(item);
    const std::optional<Index> whole_first = whole_number(first_text), whole_last = whole_number(last_text);
    if (!whole_first || !whole_last)
      throw Error({"{} '{}': '{}' is no number; write a list such as 1,3-5", "{} '{}'：'{}' 不是数；列表写作 1,3-5 这样"},
                  option, text, item);
    const Index first = *whole_first, last = *whole_last;
    if (first > last)
      throw Error({"{} '{}': the range {} runs backwards; write {}-{}", "{} '{}'：范围 {} 前后颠倒；请写 {}-{}"}, option,
                  text, item, last, first);
    if (first < base || last >= count + base)
      throw Error(
          {"{0} '{1}': there is no {2} {3} here; there {4}, counted from {5}",
           "{0} '{1}'：这里没有{2} {3}；{4}，从 {5} 开始编号"},
          option, text, what, first < base ? first : last,
          count == 1 ? say({"is one, {}", "只有 {}"}, base) : say({"are {} to {}", "有 {} 至 {}"}, base, count + base - 1),
          base);
    for (Index i = first; i <= last; ++i) chosen[static_cast<std::size_t>(i - base)] = true;
  }
  std::vector<Index> numbers;
  for (Index i = 0; i < count; ++i)
    if (chosen[static_cast<std::size_t>(i)]) numbers.push_back(i);
  return numbers;
}

std::vector<bool> parse_steps(std::string_view text, std::string_view option, bool of_answers) {
  std::vector<bool> chosen(of_answers ? row_count : step_count, false);
  for (const std::string_view item : split_at_commas(option, text)) {
    const auto [first_text, last_text] = ends_of_range(item);
    const std::size_t first = steps_called(first_text, option, of_answers).first,
                      last = steps_called(last_text, option, of_answers).second;
    if (first > last)
      throw Error({"{} '{}': the range {} runs backwards; write {}-{}", "{} '{}'：范围 {} 前后颠倒；请写 {}-{}"}, option,
                  text, item, last_text, first_text);
    for (std::size_t i = 0; i < chosen.size(); ++i)  // a norm has its name at two places
      if ((first <= i && i <= last) || row_names[i].id == row_names[first].id || row_names[i].id == row_names[last].id)
        chosen[i] = true;
  }
  return chosen;
}

std::size_t parse_choice(std::string_view option, std::string_view text, const std::vector<std::string_view>& names) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end())
    throw Error({"{} '{}': expected {}.{}", "{} '{}'：应为 {}。{}"}, option, text, listed(names, {" or ", " 或 "}),
                did_you_mean(text, names));
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace mha::cli
