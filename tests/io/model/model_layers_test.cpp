// Attentions among the tensors of a model: found by their names, chosen by layer and prefix, listed where that is not
// enough.
#include "io/model/model_layers.hpp"

#include <fmt/format.h>

#include "catch.hpp"
#include "core/error.hpp"
#include "io/files/temporary_folder.hpp"

using namespace mha;
using namespace mha::test;
using mha::test::TemporaryFolder;

namespace {

// A .safetensors file with these tensors, all empty matrices.
void write_model(const TemporaryFolder& folder, const std::vector<std::string>& names) {
  std::string header;
  for (const std::string& name : names)
    header += fmt::format(R"({}"{}": {{"dtype": "F32", "shape": [0, 2], "data_offsets": [0, 0]}})",
                          header.empty() ? "{" : ", ", name);
  header += "}";
  std::string bytes(8, '\0');
  for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<char>(header.size() >> (8 * i) & 0xFFU);
  folder.write("model.safetensors", bytes + header);
}

std::vector<std::string> llama(const std::string& prefix) {
  std::vector<std::string> names;
  for (const char* key : {"q_proj", "k_proj", "v_proj", "o_proj"}) names.push_back(prefix + key + ".weight");
  return names;
}

std::vector<std::string> all(const std::vector<std::vector<std::string>>& lists) {
  std::vector<std::string> names;
  for (const std::vector<std::string>& list : lists) names.insert(names.end(), list.begin(), list.end());
  return names;
}

// The prefix that is chosen, or what is said instead.
std::string chosen(const std::vector<std::string>& names, const LayerChoice& choice = {}) {
  const TemporaryFolder folder;
  write_model(folder, names);
  ModelFiles model(folder / "model.safetensors");
  try {
    return choose_attention(model, choice).prefix;
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("each kind of names, behind any prefix") {
  const std::vector<std::pair<Names, std::vector<std::string>>> kinds = {
      {Names::torch_packed, {"in_proj_weight", "out_proj.weight"}},
      {Names::torch_apart, {"q_proj_weight", "k_proj_weight", "v_proj_weight", "out_proj.weight"}},
      {Names::bert,
       {"attention.self.query.weight", "attention.self.key.weight", "attention.self.value.weight",
        "attention.output.dense.weight"}},
      {Names::gpt2, {"attn.c_attn.weight", "attn.c_proj.weight"}},
      {Names::projections, llama("")},
  };
  for (const auto& [kind, keys] : kinds)
    for (const std::string prefix : {"", "a.", "model.layers.12.b."}) {
      INFO(keys.front() << " behind " << prefix);
      std::vector<std::string> names;
      for (const std::string& key : keys) names.push_back(prefix + key);
      const TemporaryFolder folder;
      write_model(folder, names);
      const std::vector<AttentionPlace> found = find_attentions(ModelFiles(folder / "model.safetensors"));
      REQUIRE(found.size() == 1);
      CHECK(found[0].names == kind);
      CHECK(found[0].prefix.starts_with(prefix));
      CHECK(found[0].layer == (prefix.size() > 2 ? std::optional<Index>(12) : std::nullopt));
      names.pop_back();
      write_model(folder, names);
      CHECK(find_attentions(ModelFiles(folder / "model.safetensors")).empty());
    }
}

TEST_CASE("names that only end like those of attention are none") {
  CHECK(has(chosen({"xin_proj_weight", "xout_proj.weight"}), "xin_proj_weight"));
  CHECK(has(chosen({"h.0.mlp.c_proj.weight", "h.0.mlp.c_fc.weight"}), "h.N.mlp.c_proj.weight 0×2"));
  CHECK(has(chosen({"fc.weight"}), "none of the 1 tensors"));
}

TEST_CASE("the layer is the last number before the keys") {
  CHECK(chosen(all({llama("tower.1.layers.7.attn."), llama("tower.1.layers.8.attn.")}), {7, {}}) ==
        "tower.1.layers.7.attn.");
}

TEST_CASE("what is not chosen is listed") {
  const std::vector<std::string> many = all({llama("l.0.a."), llama("l.1.a."), llama("l.3.a."), llama("l.10.a.")});
  CHECK(has(chosen(many), "there are 4 attentions: layers 0–1, 3, 10 (l.N.a.); choose one with --layer"));
  CHECK(has(chosen(many, {2, {}}), "there is no layer 2; there are layers 0–1, 3, 10 (l.N.a.)"));
  CHECK(chosen(many, {10, {}}) == "l.10.a.");
  const std::vector<std::string> twins = all({llama("e.0."), llama("d.0."), llama("d.1.")});
  CHECK(has(chosen(twins, {0, {}}), "\"d.0.\", \"e.0.\""));
  CHECK(has(chosen(twins), "layers 0–1 (d.N.); layer 0 (e.N.)"));
  CHECK(chosen(twins, {1, {}}) == "d.1.");
  CHECK(chosen(twins, {0, "e"}) == "e.0.");
  CHECK(chosen(twins, {{}, "e"}) == "e.0.");
  CHECK(has(chosen(twins, {{}, "x"}), "--prefix 'x'"));
  CHECK(chosen(llama(""), {4, {}}).empty());
}

TEST_CASE("parts among the tensors of an attention") {
  const auto parts = [](const std::vector<std::string>& names) {
    const TemporaryFolder folder;
    write_model(folder, names);
    ModelFiles model(folder / "model.safetensors");
    std::string found;
    for (const FoundPart& part : find_parts(model, choose_attention(model, {}))) found += part.name + " ";
    return found;
  };
  CHECK(parts(all({llama("attn."), {"attn.q_norm.weight", "attn.k_norm.weight", "attn.sinks"}})) == "qk_norm sinks ");
  CHECK(parts(all({llama("attn."), {"attn.rotary_emb.inv_freq", "mlp.up.weight", "norm.weight"}})).empty());
  CHECK(parts(all({llama("attn."), {"attn.gate.weight"}})) == "gate ");
  CHECK(parts(all({llama(""), {"gate.weight", "q_proj.lora_A.weight"}})) == "q_proj.lora_A ");
  CHECK(parts({"h.attn.c_attn.weight", "h.attn.c_proj.weight", "h.attn.bias", "h.attn.masked_bias"}).empty());
  CHECK(parts({"in_proj_weight", "out_proj.weight", "bias_k", "bias_v"}) == "bias_k bias_v ");
}

TEST_CASE("parts are gone without only by name") {
  const std::vector<FoundPart> parts = {part_called("qk_norm", named_so("a")), part_called("sinks", named_so("b"))};
  CHECK_NOTHROW(refuse_parts(parts, {"sinks", "qk_norm"}));
  CHECK_NOTHROW(refuse_parts(parts, {"sinks", "k_norm"}));
  CHECK_NOTHROW(refuse_parts({}, {"sinks"}));
  const auto refusal = [&](const std::vector<std::string>& ignored) {
    try {
      refuse_unknown_names(parts, ignored);
      refuse_parts(parts, ignored);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(has(refusal({}), "--ignore qk_norm,sinks"));
  CHECK(has(refusal({"sinks"}), "--ignore qk_norm"));
  CHECK_FALSE(has(refusal({"sinks"}), "--ignore qk_norm,"));
  CHECK(has(refusal({"sink"}), "Did you mean \"sinks\""));
}
