// The schema of problem files and the reader know the same keys.
#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "catch.hpp"
#include "io/json/reader.hpp"
#include "io/problem/problem_reader.hpp"

namespace mha::test {
namespace {

std::string_view schema_text(std::string_view name) {
  for (const EmbeddedFile& schema : schemas())
    if (schema.name == name) return schema.text;
  FAIL("no schema " << name);
  return "";
}

// Members by key all the way down, where a number in the path ("anyOf", "1") is a place in a list.
const Node& at(const Node& root, const std::vector<std::string_view>& path) {
  const Node* node = &root;
  for (const std::string_view key : path) {
    if (const List* list = node->as<List>()) {
      node = &list->at(static_cast<std::size_t>(key.front() - '0'));
      continue;
    }
    REQUIRE(node->as<Object>() != nullptr);
    const Object& object = *node->as<Object>();
    const auto member = std::find_if(object.begin(), object.end(), [&](const Member& m) { return m.key == key; });
    INFO(key);
    REQUIRE(member != object.end());
    node = &member->node;
  }
  return *node;
}

std::vector<std::string> sorted_keys(const Node& node) {
  std::vector<std::string> keys;
  for (const Member& member : *node.as<Object>()) keys.push_back(member.key);
  std::sort(keys.begin(), keys.end());
  return keys;
}

// Where the schema has the properties of each object that the reader knows.
const std::map<std::string_view, std::vector<std::string_view>> places = {
    {"the problem itself", {"properties"}},
    {"an entry of layers", {"$defs", "layer", "properties"}},
    {"an entry of heads", {"$defs", "head", "properties"}},
    {"an entry of kv_heads", {"$defs", "kv_head", "properties"}},
    {"a title or description", {"$defs", "caption", "anyOf", "1", "properties"}},
    {"mask", {"$defs", "mask", "anyOf", "1", "properties"}},
    {"mask.causal", {"$defs", "mask", "anyOf", "1", "properties", "causal", "properties"}},
    {"mask.window", {"$defs", "mask", "anyOf", "1", "properties", "window", "properties"}},
    {"mask.alibi", {"$defs", "mask", "anyOf", "1", "properties", "alibi", "properties"}},
    {"rope", {"$defs", "rope", "properties"}},
    {"norm", {"$defs", "norm", "properties"}},
    {"mlp", {"$defs", "mlp", "properties"}},
    {"loss", {"properties", "loss", "anyOf", "1", "properties"}},
    {"a matrix in a file", {"$defs", "matrix_file", "properties"}},
};

}  // namespace

TEST_CASE("schema: each object of a problem has the keys that the reader knows, no more and no fewer") {
  Source source(schema_text("problem"));
  const Node schema = read_json(source, {});  // leaves out $schema and keys with _, as everywhere
  const std::span<const KeySet> known = problem_keys();
  CHECK(known.size() == places.size());
  for (const KeySet& set : known) {
    INFO(set.object.en);
    REQUIRE(places.count(set.object.en) == 1);
    std::vector<std::string> keys(set.keys.begin(), set.keys.end());
    std::sort(keys.begin(), keys.end());
    std::vector<std::string> in_schema = sorted_keys(at(schema, places.at(set.object.en)));
    if (set.object.en == "the problem itself")  // or those of one layer stand here as well
      for (const std::string& key : sorted_keys(at(schema, places.at("an entry of layers")))) in_schema.push_back(key);
    std::sort(in_schema.begin(), in_schema.end());
    CHECK(in_schema == keys);
  }
}

}  // namespace mha::test
