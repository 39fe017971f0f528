// By which rules a model's layer attends: the table of families says where each rule stands, this file what it comes to.
#include "io/model/model_layers.hpp"

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "core/utf8.hpp"
#include "io/json/tree.hpp"

namespace mha::io {
namespace {

constexpr Text both_say = {"{}, {}", "{}，{}"};

Saying nothing_says(std::string_view key) {
  return say({"nothing says {}", "config.json 没有 {}"}, key);
}

class RuleFinder {
 public:
  RuleFinder(const Family& family, const ModelConfig& config, const RuleOptions& options, std::optional<Index> layer,
             Index d_k)
      : family_(family), config_(config), options_(options), layer_(layer), d_k_(d_k) {}

  AttentionRules find() {
    find_mask();
    find_scale();
    find_softcap();
    find_rope_of_layer();
    if (type_ && type_->other) rules_.parts.push_back(*type_->other);
    return std::move(rules_);
  }

 private:
  const LayerType& type() {
    if (!type_) type_ = find_layer_type(family_, config_, layer_);
    return *type_;
  }

  void find_mask() {
    const auto decoder = family_.causal == CausalRule::if_decoder ? config_.boolean("is_decoder") : std::nullopt;
    rules_.causal = family_.causal == CausalRule::always || (decoder && decoder->value);
    if (family_.causal != CausalRule::always && options_.window && *options_.window)
      throw Error({"--window: {} has no sliding window; leave it out", "--window：{}没有滑动窗口；请去掉"}, family_.title);
    if (family_.causal == CausalRule::always) return find_window();
    rules_.mask_said = rules_.causal ? Saying{"causal mask", "因果掩码"} : Saying{"no mask", "无掩码"};
    if (family_.causal == CausalRule::never) return;
    rules_.mask_said =
        say({"{} ({})", "{}（{}）"}, rules_.mask_said, decoder ? in_config(decoder->key) : nothing_says("is_decoder"));
  }

  // Models of this family that were made to look both ways.
  void refuse_other_directions() {
    if (const auto causal = config_.boolean("is_causal"); causal && !causal->value)
      rules_.parts.push_back(part_in_config("bidirectional", *config_.value(causal->key)));
    const Node* both = config_.value("use_bidirectional_attention");
    if (both == nullptr || (both->as<bool>() != nullptr && !*both->as<bool>())) return;
    rules_.parts.push_back(part_in_config("bidirectional", *both));
  }

  // Whether --window says that there is a window, rather than only how wide it is.
  bool option_decides() const {
    if (!options_.window || config_.value("layer_types") != nullptr) return false;
    return family_.window == WindowRule::never ||
           (family_.window == WindowRule::qwen && config_.value("use_sliding_window") == nullptr);
  }

  // How wide a window is that this layer does not have is not looked at.
  std::optional<Index> window_said(Saying& from) {
    if (options_.window) {
      from = named_so("--window");
      return *options_.window;
    }
    const bool may_have = family_.window != WindowRule::never || config_.value("layer_types") != nullptr;
    const Node* const width = may_have ? config_.value("sliding_window") : nullptr;
    from = width != nullptr ? in_config(width->path) : nothing_says("sliding_window");
    if (width == nullptr) return std::nullopt;
    return type().sliding ? config_.count({"sliding_window"})->value : 0;
  }

  void find_window() {
    refuse_other_directions();
    rules_.causal = true;
    rules_.mask_said = {"causal mask", "因果掩码"};
    Saying from;
    const std::optional<Index> window = window_said(from);
    const bool listed = config_.value("layer_types") != nullptr;
    if (family_.window == WindowRule::never && !listed && !window) return;
    if (window && !option_decides() && type().from.en != from.en && !type().from.en.empty())
      from = say(both_say, from, type().from);
    if (listed && type().sliding && !window && !options_.window)
      throw Error({"{}: {} is \"sliding_attention\", but nothing says how wide sliding_window is; say it with --window",
                   "{}：{} 是 \"sliding_attention\"，但没有说明 sliding_window 多宽；请用 --window 指定"},
                  config_.path(), type().from.en);
    if (window && (option_decides() || type().sliding)) rules_.window = window;
    rules_.mask_said = rules_.window ? say({"causal mask with a window of {} ({})", "因果掩码，窗口为 {}（{}）"},
                                           counted(*window, "key"), from)
                                     : say({"causal mask without a window ({})", "因果掩码，无窗口（{}）"}, from);
  }

  void scale_by_number(double number, const Saying& from) {
    if (number == 1) {
      rules_.scale = {Scale::Kind::none, 0};
      rules_.scale_said = say({"no scale ({})", "不缩放（{}）"}, from);
      return;
    }
    rules_.scale = {Scale::Kind::number, number};
    rules_.scale_said = say({"scale {} ({})", "缩放因子 {}（{}）"}, number, from);
  }

  void find_scale() {
    if (options_.scale) return scale_by_number(options_.scale->value_or(1), named_so("--scale"));
    rules_.scale_said = say({"scale 1/√{} (d_k)", "缩放因子 1/√{}（d_k）"}, d_k_);
    switch (family_.scale) {
      case ScaleRule::root_of_d_k: return;
      case ScaleRule::gpt2: return find_gpt2_scale();
      case ScaleRule::query_pre_attn_scalar: break;
    }
    const auto scalar = config_.number("query_pre_attn_scalar");
    if (!scalar) {
      if (config_.given())
        throw Error({"{}: query_pre_attn_scalar is missing, by whose root {} scales; say it with --scale",
                     "{}：缺少 query_pre_attn_scalar，{} 按它的平方根缩放；请用 --scale 指定"},
                    config_.path(), family_.title);
      rules_.scale_said = say({"{}, since nothing says the query_pre_attn_scalar of {}",
                               "{}，因为 config.json 没有 {} 的 query_pre_attn_scalar"},
                              rules_.scale_said, family_.title);
      return;
    }
    if (scalar->value != static_cast<double>(d_k_)) rules_.scale = {Scale::Kind::number, 1 / std::sqrt(scalar->value)};
    rules_.scale_said = say({"scale 1/√{} ({})", "缩放因子 1/√{}（{}）"}, scalar->value, in_config(scalar->key));
  }

  // 1/√d_k unless scale_attn_weights is false; by scale_attn_by_inverse_layer_idx another 1/(layer + 1).
  void find_gpt2_scale() {
    const auto weights = config_.boolean("scale_attn_weights");
    const auto inverse = config_.boolean("scale_attn_by_inverse_layer_idx");
    const bool by_root = !weights || weights->value;
    Saying from = by_root ? named_so("1/√d_k") : in_config(weights->key);
    double number = by_root ? 1 / std::sqrt(static_cast<double>(d_k_)) : 1;
    if (inverse && inverse->value) {
      number /= static_cast<double>(
          1 + expect_layer(layer_, {"the scale depends on the layer "
                                    "(scale_attn_by_inverse_layer_idx in config.json)",
                                    "缩放因子取决于层（config.json 的 scale_attn_by_inverse_layer_idx）"}));
      from = say(both_say, from, in_config(inverse->key));
    } else if (by_root) {
      return;
    }
    scale_by_number(number, from);
    if (by_root && *layer_ == 0) rules_.scale = {};  // the paper's own
  }

  void find_softcap() {
    const auto tell = [this](const Saying& from) {
      rules_.softcap_said = rules_.softcap ? say({"softcap {} ({})", "软截断 {}（{}）"}, *rules_.softcap, from)
                                           : say({"no softcap ({})", "无软截断（{}）"}, from);
    };
    if (options_.softcap) {
      rules_.softcap = *options_.softcap;
      return tell(named_so("--softcap"));
    }
    if (family_.softcap == SoftcapRule::never) return;
    constexpr std::string_view key = "attn_logit_softcapping";
    if (family_.softcap == SoftcapRule::expected && config_.given() && !config_.has(key))
      throw Error({"{}: {} is missing, which {} has; say it with --softcap, or --softcap none",
                   "{}：缺少 {} 所需的 {}；请用 --softcap 指定，或写 --softcap none"},
                  config_.path(), key, family_.title);
    if (const auto configured = config_.number(key)) rules_.softcap = configured->value;
    tell(config_.has(key) ? in_config(std::string(key)) : nothing_says(key));
  }

  void find_rope_of_layer() {
    if (!family_.rope) {
      if (options_.rope_base)
        throw Error({"--rope-base: {} has no rotary positions; leave it out", "--rope-base：{}没有旋转位置编码；请去掉"},
                    family_.title);
      if (const auto kind = family_.names == Names::bert ? config_.text("position_embedding_type") : std::nullopt;
          kind && kind->value != "absolute")
        rules_.parts.push_back(part_in_config("position_embedding_type", *config_.value(kind->key)));
      rules_.rope_said = {"no rope", "无旋转位置编码"};
      return;
    }
    FoundRope found = find_rope(config_, options_.rope_base, rope_depends_on_type(config_) ? type() : LayerType{}, d_k_);
    rules_.rope = found.rope;
    rules_.rope_said = std::move(found.said);
    for (FoundPart& part : found.parts) rules_.parts.push_back(std::move(part));
  }

  const Family& family_;
  const ModelConfig& config_;
  const RuleOptions& options_;
  std::optional<Index> layer_;
  Index d_k_;
  std::optional<LayerType> type_;
  AttentionRules rules_;
};

}  // namespace

AttentionRules find_rules(const Family& family, const ModelConfig& config, const RuleOptions& options,
                          std::optional<Index> layer, Index d_k) {
  return RuleFinder(family, config, options, layer, d_k).find();
}

BlockRules find_block_rules(const BlockNames& block, const ModelConfig& config) {
  BlockRules rules{block.norm, block.activation, {}};
  const Saying assumed = {"the default", "默认值"};
  const auto eps = config.number(block.eps_key);
  if (eps) rules.norm.eps = eps->value;
  const Node* const name = config.value(block.activation_key);
  if (name != nullptr) {
    const auto* const row = std::find_if(std::begin(activations), std::end(activations),
                                         [&](const auto& known) { return known.first == expect_text(*name); });
    if (row == std::end(activations))
      fail(*name, {"mha does not compute {}; it knows {}", "mha 不计算 {}；它认识 {}"}, quote(expect_text(*name)),
           listed(column_of(activations, &std::pair<std::string_view, Activation>::first)));
    rules.activation = block.gemma && row->second == Activation::gelu ? Activation::gelu_tanh : row->second;
  }
  rules.said =
      say({"{} norms {} (eps {}, {}); MLP with {}{} ({})", "{} 归一化{}（eps {}，{}）；MLP 用 {}{}（{}）"},
          block.norm.kind == Norm::Kind::layer ? "layer" : "rms",
          block.place == NormPlace::pre ? Text{"before the sublayers", "在子层之前"}
                                        : Text{"behind the residual sums", "在残差相加之后"},
          rules.norm.eps, eps ? in_config(eps->key) : assumed, activation_names[static_cast<std::size_t>(rules.activation)],
          block.gate.empty() ? Text{} : Text{" and a gate", "，带门控"}, name != nullptr ? in_config(name->path) : assumed);
  return rules;
}

}  // namespace mha::io
