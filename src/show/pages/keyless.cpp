// Tells of queries that may attend to no key, in so few sentences that a thousand of them stay readable.
#include "show/pages/keyless.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "core/utf8.hpp"
#include "show/words/phrases.hpp"

namespace mha::show {
namespace {

constexpr std::size_t most_names = 3;   // queries told by name; more are told by number
constexpr std::size_t most_ranges = 6;  // of numbers
constexpr std::size_t most_items = 5;   // items of the batch with a sentence of their own

using Indices = std::vector<Index>;  // ascending

// "1–3, 7"
std::string ranges(const Scene& scene, const Indices& indices) {
  const Language language = scene.options.language;
  std::string text;
  std::size_t count = 0;
  for (std::size_t first = 0; first < indices.size();) {
    std::size_t last = first;
    while (last + 1 < indices.size() && indices[last + 1] == indices[last] + 1) ++last;
    if (++count > most_ranges) return say(language, phrase::list_goes_on, text, indices.size());
    if (first > 0) text += say(language, phrase::comma);
    text += range_text(indices[first], indices[last], scene.options.index_base);
    first = last + 1;
  }
  return text;
}

Words names(const Scene& scene, Index item, const Indices& queries) {
  if (queries.size() > most_names) return say(scene.options.language, phrase::queries, ranges(scene, queries));
  Words words;
  for (const Index query : queries) {
    if (!words.empty()) words.add(say(scene.options.language, phrase::comma));
    words.append(query_name(scene, item, query));
  }
  return words;
}

Words sentence(const Scene& scene, Index item, const Indices& queries, const std::string& where) {
  return say_words(scene.options.language, phrase::no_key, {names(scene, item, queries), where});
}

// One sentence for all heads that have the same queries.
std::vector<Words> sentences(const Scene& scene, Index item, const std::map<Index, Indices>& by_head) {
  std::map<Indices, Indices> heads_of;
  for (const auto& [head, queries] : by_head) heads_of[queries].push_back(head);
  std::vector<Words> result;
  for (const auto& [queries, heads] : heads_of) {
    const bool in_all = static_cast<Index>(heads.size()) == scene.problem.heads;
    const Text& phrase = heads.size() == 1 ? phrase::in_head : phrase::in_heads;
    const std::string where = in_all ? "" : say(scene.options.language, phrase, ranges(scene, heads));
    result.push_back(sentence(scene, item, queries, where));
  }
  return result;
}

std::string plain(const Words& words) {
  std::string text;
  for (const Span& span : words.spans()) text += span.quoted ? visible(span.text) : span.text;
  return text;
}

}  // namespace

Words keyless_warning(const Scene& scene, Place place) {
  const auto before = [&](const Row& row) { return std::pair(row.item, row.head) < std::pair(place.item, place.head); };
  auto row = std::partition_point(scene.keyless.begin(), scene.keyless.end(), before);
  Indices queries;
  for (; row != scene.keyless.end() && row->item == place.item && row->head == place.head; ++row)
    queries.push_back(row->query);
  return queries.empty() ? Words() : sentence(scene, place.item, queries, "");
}

std::vector<std::string> warnings(const Problem& problem, const Plan& plan, const PageOptions& options) {
  const Trace no_trace;
  const Scene scene(problem, plan, no_trace, options);
  std::map<Index, std::map<Index, Indices>> by_item;
  for (const Row& row : scene.keyless) by_item[row.item][row.head].push_back(row.query);
  std::vector<std::string> result;
  std::size_t told = 0;
  for (const auto& [item, by_head] : by_item) {
    if (++told > most_items) {
      result.push_back(say(options.language, phrase::more_items, by_item.size() - most_items));
      break;
    }
    const Index number = scene.counted(options.chosen_item ? options.chosen_item->item : item);
    const std::string prefix = problem.batched ? say(options.language, phrase::in_item, number) : "";
    for (const Words& words : sentences(scene, item, by_head)) result.push_back(prefix + plain(words));
  }
  return result;
}

}  // namespace mha::show
