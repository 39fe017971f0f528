// The rules with a few numbers each: scale, softcap and rotary positions.
#include "core/utf8.hpp"
#include "io/problem/problem_parts.hpp"

#include <fmt/format.h>

#include "core/suggest.hpp"
#include "io/json/json_values.hpp"

namespace mha::io {
namespace {

constexpr std::string_view pairings[] = {"half", "interleaved"};

// Any finite number is a scale: 0 and negative ones show what they do.
Scale read_scale(const Node& node) {
  if (const std::string* text = node.as<std::string>()) {
    if (*text == "none") return {Scale::Kind::none, 0};
    fail(node, fmt::format("found {}, expected a number or \"none\"; without the key the scale is 1/√d_k", quote(*text)));
  }
  return {Scale::Kind::number, expect_number(node)};
}

double expect_positive(const Node& node) {
  const double number = expect_number(node);
  if (number <= 0) fail(node, fmt::format("found {}, expected a number above 0", number));
  return number;
}

Pairing read_pairing(const Node& node) {
  const std::string& text = expect_text(node);
  if (text == pairings[0]) return Pairing::half;
  if (text == pairings[1]) return Pairing::interleaved;
  fail(node,
       fmt::format("unknown pairing {}.{} Known: \"half\" (column t with t + dims/2), \"interleaved\" (2t with 2t + 1)",
                   quote(text), did_you_mean(text, pairings)));
}

Index read_dims(const Node& node, Index d_k) {
  const Index dims = expect_integer(node);
  if (dims < 2 || dims > d_k || dims % 2 != 0)
    fail(node, fmt::format("found {}, expected an even number from 2 to d_k = {}: columns turn in pairs", dims, d_k));
  return dims;
}

Rope read_rope(Node& node, const Problem& problem) {
  const auto fields = read_fields(node, rope_fields, "an object, {} for the usual rotary positions");
  Rope rope;
  rope.dims = problem.d_k();
  if (fields.dims != nullptr) rope.dims = read_dims(*fields.dims, problem.d_k());
  if (rope.dims % 2 != 0)
    fail(node, fmt::format("d_k = {} is odd, but columns turn in pairs; write how many turn, {}", rope.dims,
                           rope.dims > 1 ? fmt::format("\"dims\": {}", rope.dims - 1) : "which takes a d_k of at least 2"));
  if (fields.base != nullptr) rope.base = expect_positive(*fields.base);
  if (fields.pairing != nullptr) rope.pairing = read_pairing(*fields.pairing);
  if (fields.start != nullptr) rope.start = expect_integer(*fields.start);
  if (fields.positions != nullptr)
    rope.positions = expect_integers(*fields.positions, problem.queries(), "one for each row of X");
  if (fields.positions_kv != nullptr)
    rope.positions_kv = expect_integers(*fields.positions_kv, problem.keys(), "one for each key");
  return rope;
}

}  // namespace

void read_rules(const ProblemFields& fields, Problem& problem) {
  if (fields.scale != nullptr) problem.scale = read_scale(*fields.scale);
  if (fields.softcap != nullptr) problem.softcap = expect_positive(*fields.softcap);
  if (fields.rope != nullptr) problem.rope = read_rope(*fields.rope, problem);
}

}  // namespace mha::io
