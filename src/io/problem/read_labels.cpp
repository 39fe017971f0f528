// Title and description in one language or two, and the labels of the tokens.
#include "io/problem/problem_parts.hpp"

#include <fmt/format.h>

#include "io/json/json_values.hpp"

namespace mha::io {
namespace {

Caption read_caption(Node& node) {
  if (const std::string* text = node.as<std::string>()) return {*text, "", false};
  const auto fields = read_fields(node, caption_fields, "a text, or {\"en\": \"…\", \"zh\": \"…\"}");
  if (fields.en == nullptr || fields.zh == nullptr)
    fail(node,
         fmt::format("\"{}\" is missing; write both languages, or one plain text", fields.en == nullptr ? "en" : "zh"));
  return {expect_text(*fields.en), expect_text(*fields.zh), true};
}

const List& expect_list_of_labels(const Node& node) {
  const List* list = node.as<List>();
  if (list == nullptr) fail(node, fmt::format("found {}, expected a list of labels: [\"the\", \"cat\"]", describe(node)));
  return *list;
}

// The labels of one item: one for each row of X or X_kv.
std::vector<std::string> read_item(const Node& node, Index rows, std::string_view input) {
  const List& list = expect_list_of_labels(node);
  const auto found = static_cast<Index>(list.size());
  if (found != rows)
    fail(node, fmt::format("{} for {} of {}; each row has one", counted(found, "label"), counted(rows, "row"), input));
  std::vector<std::string> labels;
  for (const Node& label : list) {
    if (label.as<std::string>() == nullptr)
      fail(label, fmt::format("found {}, expected a label, which is a text in double quotes", describe(label)));
    labels.push_back(*label.as<std::string>());
  }
  return labels;
}

Labels read_tokens(const Node& node, const Tensor& input, bool batched, std::string_view name) {
  const List& list = expect_list_of_labels(node);
  const bool per_item = !list.empty() && list.front().as<List>() != nullptr;
  const Shape& shape = input.shape();
  if (!per_item) return {read_item(node, shape.rows, name)};
  if (!batched) fail(node, fmt::format("lists of labels, but {} has no batch; write one list: [\"the\", \"cat\"]", name));
  if (static_cast<Index>(list.size()) != shape.batch)
    fail(node, fmt::format("{} of labels for {} of {}; write one for each, or one for all",
                           counted(static_cast<Index>(list.size()), "list"), counted(shape.batch, "item"), name));
  Labels labels;
  for (const Node& item : list) labels.push_back(read_item(item, shape.rows, name));
  return labels;
}

}  // namespace

void read_labels(const ProblemFields& fields, Problem& problem) {
  if (fields.title != nullptr) problem.title = read_caption(*fields.title);
  if (fields.description != nullptr) problem.description = read_caption(*fields.description);
  if (fields.tokens != nullptr) problem.tokens = read_tokens(*fields.tokens, problem.X, problem.batched, "X");
  if (fields.tokens_kv == nullptr) return;
  if (!problem.X_kv)
    fail(*fields.tokens_kv, "tokens_kv labels the rows of X_kv, and there is no X_kv; keys are labelled by tokens then");
  problem.tokens_kv = read_tokens(*fields.tokens_kv, *problem.X_kv, problem.batched, "X_kv");
}

}  // namespace mha::io
