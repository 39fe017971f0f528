// The parts of a model's attention that mha does not compute: known ones by a table, unknown ones by their tensors' names.
#include "io/model/model_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "core/utf8.hpp"

namespace mha::io {
namespace {

const UncomputedPart* part_of_key(std::string_view key) {
  for (const UncomputedPart& part : uncomputed_parts)
    for (const std::string_view known : part.keys)
      if (!known.empty() && key.starts_with(known)) return &part;
  return nullptr;
}

bool is_computed(const TensorNames& names, std::string_view key) {
  for (const std::string_view known :
       {names.qkv, names.q, names.k, names.v, names.o, names.b_qkv, names.b_q, names.b_k, names.b_v, names.b_o})
    if (!known.empty() && key == known) return true;
  return false;
}

bool is_ignored(Names names, std::string_view key) {
  return std::any_of(ignored_tensors.begin(), ignored_tensors.end(),
                     [&](const IgnoredTensor& row) { return row.names == names && row.key == key; });
}

// Whether every tensor behind this prefix belongs to the attention: "…self_attn.", "…attention."
bool is_module(std::string_view prefix) {
  const std::string_view path = prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1);
  const std::string_view last = path.substr(path.rfind('.') + 1);
  return last.find("attn") != std::string_view::npos || last.find("attention") != std::string_view::npos;
}

// A name for what has none in the table: the key without its kind.
std::string name_of(std::string_view key) {
  for (const std::string_view kind : {".weight", ".bias"})
    if (key.ends_with(kind)) key.remove_suffix(kind.size());
  return std::string(key);
}

bool is_projection_part(const TensorNames& names, std::string_view key) {
  for (const std::string_view known : {names.qkv, names.q, names.k, names.v, names.o})
    if (known.ends_with(".weight") && key.starts_with(known.substr(0, known.size() - 6))) return true;
  return false;
}

bool answers_to(const FoundPart& part, std::string_view name) {
  if (part.name == name) return true;
  for (const UncomputedPart& row : uncomputed_parts)
    if (row.name == part.name) return std::find(row.keys.begin(), row.keys.end(), name) != row.keys.end() && !name.empty();
  return false;
}

}  // namespace

FoundPart part_called(std::string_view name, std::string seen_as) {
  const auto* row = std::find_if(uncomputed_parts.begin(), uncomputed_parts.end(),
                                 [&](const UncomputedPart& part) { return part.name == name; });
  assert(row != uncomputed_parts.end());
  return {std::string(name), {std::string(row->what.en), std::string(row->what.zh)}, std::move(seen_as)};
}

std::vector<FoundPart> find_parts(const ModelFiles& model, const AttentionPlace& place) {
  const TensorNames& names = names_of(place.names);
  const std::string begin = place.prefix + std::string(names.module);
  const bool all_belong = !names.module.empty() || is_module(place.prefix);
  std::vector<FoundPart> parts;
  for (const std::string& name : model.names()) {
    if (!name.starts_with(begin)) continue;
    const std::string key = name.substr(place.prefix.size());
    if (is_computed(names, key) || is_ignored(place.names, key)) continue;
    const UncomputedPart* known = part_of_key(key);
    if (known == nullptr && !all_belong && !is_projection_part(names, key)) continue;
    FoundPart part = known != nullptr
                         ? part_called(known->name, name)
                         : FoundPart{name_of(key), {"a part that mha does not know", "mha 不认识的部分"}, name};
    const bool seen = std::any_of(parts.begin(), parts.end(), [&](const FoundPart& p) { return p.name == part.name; });
    if (!seen) parts.push_back(std::move(part));
  }
  return parts;
}

void refuse_parts(const std::vector<FoundPart>& parts, const std::vector<std::string>& ignored) {
  std::vector<std::string> texts, names;
  for (const FoundPart& part : parts) {
    if (std::any_of(ignored.begin(), ignored.end(), [&](const std::string& name) { return answers_to(part, name); }))
      continue;
    texts.push_back(fmt::format("{} ({}: {})", escape(part.name, 200), part.what.en, escape(part.seen_as, 200)));
    names.push_back(part.name);
  }
  if (texts.empty()) return;
  throw Error(
      fmt::format("mha does not compute {}, which this layer has; to go without, which gives other numbers than the "
                  "model's, say --ignore {}",
                  fmt::join(texts, ", "), fmt::join(names, ",")));
}

void refuse_unknown_names(const std::vector<FoundPart>& parts, const std::vector<std::string>& ignored) {
  std::vector<std::string_view> known;
  known.reserve(uncomputed_parts.size() + parts.size());
  for (const UncomputedPart& part : uncomputed_parts) known.push_back(part.name);
  for (const FoundPart& part : parts) known.push_back(part.name);
  for (const UncomputedPart& part : uncomputed_parts)
    for (const std::string_view key : part.keys)
      if (!key.empty()) known.push_back(key);
  for (const std::string& name : ignored)
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw Error(fmt::format("--ignore '{}': no part is called so.{}", name, did_you_mean_or_known(name, known)));
}

}  // namespace mha::io
