// The rules of the families: scale, mask, window, softcap and rotary positions, from config.json, options and the layer.
#include "io/model/model_layers.hpp"

#include <algorithm>
#include <cmath>

#include "catch.hpp"
#include "core/error.hpp"
#include "io/files/temporary_folder.hpp"

using namespace mha;
using namespace mha::test;
using mha::test::TemporaryFolder;

namespace {

const Family& family(std::string_view name) {
  return *std::find_if(families.begin(), families.end(), [&](const Family& row) { return row.name == name; });
}

// `config` is the text of config.json; without one there is no such file. d_k is 4.
AttentionRules rules(std::string_view name, const std::string& config, std::optional<Index> layer = 3,
                     const RuleOptions& options = {}) {
  const TemporaryFolder folder;
  if (!config.empty()) folder.write("config.json", config);
  return find_rules(family(name), ModelConfig(folder / ""), options, layer, 4);
}

std::string fault(std::string_view name, const std::string& config, std::optional<Index> layer = 3,
                  const RuleOptions& options = {}) {
  try {
    rules(name, config, layer, options);
  } catch (const Error& error) {
    return error.what();
  } catch (const InputFault& wrong) {
    return wrong.path() + ": " + wrong.what();
  }
  return "";
}

std::optional<Index> window(std::string_view name, const std::string& config, Index layer,
                            const RuleOptions& options = {}) {
  return rules(name, config, layer, options).window;
}

constexpr Index wide = 7;
const std::string w = "\"sliding_window\": 7";

}  // namespace

TEST_CASE("every family has its own names or says which it is") {
  for (const Family& row : families) {
    INFO(row.name);
    CHECK(&row == &family(row.name));
    CHECK(row.rope == (row.names == Names::projections && row.name != "plain"));
    for (const std::string_view type : row.model_types)
      for (const Family& other : families)
        CHECK((type.empty() || &other == &row ||
               std::find(other.model_types.begin(), other.model_types.end(), type) == other.model_types.end()));
  }
}

TEST_CASE("imported: masks") {
  for (const std::string_view name : {"torch", "plain", "bert"}) CHECK_FALSE(rules(name, "{}").causal);
  for (const std::string_view name : {"gpt2", "llama", "mistral", "qwen2", "gemma", "gemma2"})
    CHECK(rules(name, "").causal);
  CHECK(rules("bert", R"({"is_decoder": true})").causal);
  CHECK_FALSE(rules("bert", R"({"is_decoder": false})").causal);
  CHECK(has(rules("bert", R"({"is_decoder": true})").mask_said.en, "is_decoder in config.json"));
  CHECK(has(rules("bert", R"({"is_decoder": true})").mask_said.zh, "因果掩码"));
}

TEST_CASE("imported: windows without a list of layer types") {
  CHECK(window("mistral", "{" + w + "}", 0) == wide);
  CHECK_FALSE(window("mistral", R"({"sliding_window": null})", 0));
  CHECK_FALSE(window("mistral", "{}", 0));
  CHECK_FALSE(window("llama", "{" + w + "}", 0));
  CHECK_FALSE(window("gemma", "{" + w + "}", 0));
  CHECK_FALSE(window("qwen2", "{" + w + R"(, "max_window_layers": 0})", 3));
  CHECK_FALSE(window("qwen2", "{" + w + R"(, "max_window_layers": 0, "use_sliding_window": false})", 3));
  CHECK_FALSE(window("qwen2", "{" + w + R"(, "max_window_layers": 4, "use_sliding_window": true})", 3));
  CHECK(window("qwen2", "{" + w + R"(, "max_window_layers": 3, "use_sliding_window": true})", 3) == wide);
  CHECK(has(fault("qwen2", "{" + w + R"(, "use_sliding_window": true})"), "max_window_layers"));
  for (const Index layer : {0, 1, 2, 3}) {
    INFO(layer);
    CHECK(
        window("gemma2", "{" + w + R"(, "query_pre_attn_scalar": 4, "attn_logit_softcapping": null})", layer).has_value() ==
        (layer % 2 == 0));
  }
}

TEST_CASE("imported: windows by the list of layer types") {
  const std::string types = R"("layer_types": ["full_attention", "sliding_attention"])";
  for (const std::string_view name : {"llama", "mistral", "qwen2", "gemma"}) {
    INFO(name);
    CHECK_FALSE(window(name, "{" + w + ", " + types + "}", 0));
    CHECK(window(name, "{" + w + ", " + types + "}", 1) == wide);
    CHECK(has(fault(name, "{" + w + ", " + types + "}", 2), "layer 2"));
    CHECK(has(fault(name, "{" + w + ", " + types + "}", std::nullopt), "--layer"));
    CHECK(has(fault(name, "{" + types + "}", 1), "sliding_window"));
    CHECK_FALSE(window(name, "{" + types + "}", 1, {{}, {}, {}, std::optional<Index>()}));
  }
  const AttentionRules other = rules("llama", R"({"layer_types": ["linear_attention"]})", 0);
  REQUIRE(other.parts.size() == 1);
  CHECK(other.parts[0].name == "layer_type");
  CHECK(has(fault("llama", R"({"layer_types": [3]})", 0), "layer_types"));
}

TEST_CASE("imported: windows by option") {
  const RuleOptions five{{}, {}, {}, std::optional<Index>(5)}, none{{}, {}, {}, std::optional<Index>()};
  for (const std::string_view name : {"llama", "mistral", "qwen2", "gemma"}) CHECK(window(name, "", 3, five) == 5);
  CHECK(window("gemma2", "", 2, five) == 5);
  CHECK_FALSE(window("gemma2", "", 3, five));
  CHECK(window("mistral", "{" + w + "}", 0, five) == 5);
  CHECK_FALSE(window("mistral", "{" + w + "}", 0, none));
  CHECK(has(fault("plain", "", 0, five), "--window"));
}

TEST_CASE("imported: scales") {
  using Kind = Scale::Kind;
  for (const std::string_view name : {"torch", "bert", "gpt2", "llama", "mistral", "qwen2", "gemma", "plain"})
    CHECK(rules(name, "{}").scale.kind == Kind::inverse_root_of_d_k);
  const Scale gemma2 = rules("gemma2", R"({"query_pre_attn_scalar": 16, "attn_logit_softcapping": 50})").scale;
  CHECK(gemma2.kind == Kind::number);
  CHECK(gemma2.number == 0.25);
  CHECK(rules("gemma2", R"({"query_pre_attn_scalar": 4, "attn_logit_softcapping": 50})").scale.kind ==
        Kind::inverse_root_of_d_k);
  CHECK(has(fault("gemma2", "{}"), "query_pre_attn_scalar"));
  CHECK(has(fault("gemma2", R"({"query_pre_attn_scalar": -1})"), "above 0"));
  CHECK(rules("gemma2", "").scale.kind == Kind::inverse_root_of_d_k);
  CHECK(rules("gpt2", R"({"scale_attn_weights": false})").scale.kind == Kind::none);
  CHECK(rules("gpt2", R"({"scale_attn_by_inverse_layer_idx": true})").scale.number == 0.125);
  CHECK(rules("gpt2", R"({"scale_attn_by_inverse_layer_idx": true})", 0).scale.kind == Kind::inverse_root_of_d_k);
  CHECK(rules("gpt2", R"({"scale_attn_by_inverse_layer_idx": true, "scale_attn_weights": false})").scale.number == 0.25);
  CHECK(has(fault("gpt2", R"({"scale_attn_by_inverse_layer_idx": true})", std::nullopt), "--layer"));
  CHECK(rules("llama", "", 3, {{}, std::optional<double>(0.5), {}, {}}).scale.number == 0.5);
  CHECK(rules("llama", "", 3, {{}, std::optional<double>(), {}, {}}).scale.kind == Kind::none);
}

TEST_CASE("imported: softcaps") {
  const std::string scalar = R"("query_pre_attn_scalar": 4)";
  CHECK(rules("gemma2", "{" + scalar + R"(, "attn_logit_softcapping": 50})").softcap == 50);
  CHECK_FALSE(rules("gemma2", "{" + scalar + R"(, "attn_logit_softcapping": null})").softcap);
  CHECK(has(fault("gemma2", "{" + scalar + "}"), "attn_logit_softcapping"));
  CHECK(has(fault("gemma2", "{" + scalar + R"(, "attn_logit_softcapping": 0})"), "above 0"));
  CHECK_FALSE(rules("gemma", R"({"attn_logit_softcapping": 50})").softcap);
  CHECK_FALSE(rules("gemma2", "").softcap);
  CHECK(has(rules("gemma2", "").softcap_said.en, "nothing says"));
  CHECK(rules("llama", "", 3, {{}, {}, std::optional<double>(20), {}}).softcap == 20);
}

TEST_CASE("imported: rotary positions") {
  for (const std::string_view name : {"torch", "bert", "gpt2", "plain"}) CHECK_FALSE(rules(name, "{}").rope);
  CHECK(rules("llama", "").rope->base == 10000);
  CHECK(rules("llama", "").rope->dims == 4);
  CHECK(rules("llama", R"({"rope_theta": 7})").rope->base == 7);
  CHECK(rules("llama", R"({"rope_parameters": {"rope_theta": 7}})").rope->base == 7);
  CHECK(rules("llama", R"({"rope_theta": 7, "rope_parameters": {"rope_theta": 7}})").rope->base == 7);
  CHECK(has(fault("llama", R"({"rope_theta": 7, "rope_parameters": {"rope_theta": 8}})"), "8"));
  CHECK(rules("llama", R"({"rope_theta": 7})", 3, {9, {}, {}, {}}).rope->base == 9);
  CHECK(rules("llama", R"({"partial_rotary_factor": 0.5})").rope->dims == 2);
  CHECK(has(fault("llama", R"({"partial_rotary_factor": 0.25})"), "partial_rotary_factor"));
  CHECK(has(fault("llama", R"({"rope_theta": -1})"), "above 0"));
  CHECK(has(fault("bert", "{}", 3, {9, {}, {}, {}}), "--rope-base"));
  CHECK(has(rules("llama", R"({"rope_theta": 7})").rope_said.en, "rope_theta in config.json"));
}

TEST_CASE("imported: rotary positions for each type of layer") {
  const std::string nested = R"({"layer_types": ["full_attention", "sliding_attention"], "sliding_window": 7,
    "rope_parameters": {"full_attention": {"rope_theta": 7, "rope_type": "linear", "factor": 8},
                        "sliding_attention": {"rope_theta": 8, "rope_type": "default"}}})";
  CHECK(rules("llama", nested, 0).rope->base == 7);
  CHECK(rules("llama", nested, 0).parts.size() == 1);
  CHECK(rules("llama", nested, 1).rope->base == 8);
  CHECK(rules("llama", nested, 1).parts.empty());
  const std::string half = R"({"rope_parameters": {"sliding_attention": {"rope_theta": 8}}})";
  CHECK(has(fault("llama", half), "full_attention"));
}

TEST_CASE("scalings of rotary positions are parts that mha does not compute") {
  for (const char* none : {"null", "{}", R"({"rope_type": "default"})", R"({"type": "default"})"})
    CHECK(rules("llama", std::string(R"({"rope_scaling": )") + none + "}").parts.empty());
  for (const char* some :
       {R"({"rope_type": "llama3"})", R"({"type": "dynamic"})", R"({"factor": 2})", R"({"rope_type": 3})"}) {
    const AttentionRules found = rules("llama", std::string(R"({"rope_scaling": )") + some + "}");
    REQUIRE(found.parts.size() == 1);
    CHECK(found.parts[0].name == "rope_scaling");
  }
  CHECK(rules("bert", R"({"position_embedding_type": "relative_key"})").parts.at(0).name == "position_embedding_type");
  CHECK(rules("bert", R"({"position_embedding_type": "absolute"})").parts.empty());
}
