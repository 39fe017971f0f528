// Every sentence of the page that is not a step's title or meaning, in both languages.
#pragma once

#include "core/text.hpp"
#include "show/document.hpp"

namespace mha::show {

using mha::say;

// A sentence where a part may be the person's own words: {0} is the first one.
Words say_words(Language language, const Text& text, const std::vector<Words>& parts);

// "2–5", or "2" alone, counted from `base`.
std::string range_text(Index first, Index last, Index base);
// Of ascending numbers, "1–3, 7"; of many ranges the first ones, and how many numbers there are.
std::string ranges_text(Language language, const std::vector<Index>& numbers, Index base);

// "3 decimals"
std::string decimals_text(Language language, int count);

// "a + b + c", or "a + b + c + … + z" for more than `most` terms, "a + … + z" where `most` is 2; term(i) is the text of the
// i-th.
template <typename Term>
std::string series_text(Index count, Index most, Term term, const std::string& sign = " + ") {
  const Index kept = std::min<Index>(3, most - 1);
  std::string text;
  for (Index i = 0; i < count; ++i) {
    if (i > 0) text += sign;
    if (count > most && i == kept) {
      text += "…" + sign;
      i = count - 1;
    }
    text += term(i);
  }
  return text;
}

namespace phrase {

// Title and facts.
inline constexpr Text title{"Multi-head attention, step by step", "多头注意力，逐步计算"};
inline constexpr Text one_token{"1 token", "1 个词元"};
inline constexpr Text tokens{"{} tokens", "{} 个词元"};
inline constexpr Text one_head{"1 head", "1 个头"};
inline constexpr Text heads{"{} heads", "{} 个头"};
inline constexpr Text one_key{"1 key", "1 个键"};
inline constexpr Text keys{"{} keys", "{} 个键"};
inline constexpr Text one_kv_head{"1 key/value head", "1 个键值头"};
inline constexpr Text kv_heads{"{} key/value heads", "{} 个键值头"};
inline constexpr Text batch{"batch of {}", "一批 {} 个样本"};
inline constexpr Text mask{"mask {}", "{}"};
inline constexpr Text masks{"masks {}", "{}"};
inline constexpr Text shifted{" shifted by {}", "（错开 {}）"};  // query i stands at key i + {}
inline constexpr Text shifted_by_item{" shifted item by item", "（各样本错开不同）"};
inline constexpr Text layers{"{} layers", "{} 层"};
inline constexpr Text layer_norm{"layer", "层"};
inline constexpr Text rms_norm{"rms", " RMS "};
inline constexpr Text pre_norm{"{} norm before", "先做{}归一化"};
inline constexpr Text post_norm{"{} norm behind", "后做{}归一化"};
inline constexpr Text mlp{"MLP {}, {}", "MLP {}，{}"};
inline constexpr Text gated_mlp{"MLP {}, {} with a gate", "MLP {}，{}，带门控"};
inline constexpr Text half{"half", "前后两半配对"};
inline constexpr Text interleaved{"interleaved", "相邻两列配对"};
inline constexpr Text one_decimal{"1 decimal", "1 位小数"};
inline constexpr Text decimals{"{} decimals", "{} 位小数"};
inline constexpr Text rounded{"each step rounded to {}", "每步四舍五入到 {}"};
inline constexpr Text shown_rounded{"Computed unrounded, shown with {}; --round {} computes as with a pencil.",
                                    "计算时不舍入，显示 {}；--round {} 则像笔算那样每步舍入。"};
inline constexpr Text counted_from{"counted from {}", "从 {} 开始编号"};

// Conventions.
inline constexpr Text convention{
    "A token is a row; weights multiply from the right, X·W. Rows of scores and weights are "
    "queries, columns are keys.",
    "每个词元是一行，权重矩阵从右边相乘：X·W。注意力分数和注意力权重的行对应查询，列对应键。"};
inline constexpr Text and_torch{" Weights are stored out×in, as in PyTorch's Linear, and used transposed: X·Wᵀ.",
                                "权重矩阵按“输出×输入”存放（同 PyTorch 的 Linear），使用时转置：X·Wᵀ。"};
inline constexpr Text fused_convention{" W_Q, W_K and W_V are cut from one W_QKV: its {} {}, {} and {}.",
                                       "W_Q、W_K、W_V 取自同一个 W_QKV：依次为第 {1} {0}、第 {2} {0}、第 {3} {0}。"};

// The backward pass.
inline constexpr Text backward_title{"Backward pass, step by step", "反向传播，逐步计算"};
inline constexpr Text loss{"Loss", "损失"};
inline constexpr Text loss_cross_entropy{"mean of −log softmax({})[row, index]", "−log softmax({})[行, 下标] 的平均"};
inline constexpr Text gradient_of{"Gradient of the {}", "{}的梯度"};
inline constexpr Text part_of_gradient{"Part of the gradient of the {}", "{}的梯度的一部分"};
inline constexpr Text gradient_of_parameter{"Gradient of {}", "{} 的梯度"};
inline constexpr Text part_for_parameter{"For the gradient of {}", "用于 {} 的梯度"};
inline constexpr Text row_sums_meaning{"each row's mean of dA, weighted by A: what all its keys have in common",
                                       "每一行的 dA 按 A 加权的平均：该行各个键共有的部分"};
inline constexpr Text of_each_item{"of item {} alone", "只是样本 {} 的"};
inline constexpr Text normalised_alone{"the rows normalised, before γ and β", "归一化后、乘 γ 加 β 之前的各行"};
inline constexpr Text parts_are_added{"{} is read in several places: what comes back from each is added",
                                      "{} 在几处用到：各处传回的梯度相加"};
inline constexpr Text weights_compete{
    "a key gains what it is worth more than the row's mean; each row sums to 0, what is hidden stays 0",
    "一个键得到的是它高出该行平均的部分；每一行之和为 0，被遮住的仍为 0"};
inline constexpr Text group_is_added{"the heads of a group share {}: what comes back from each is added",
                                     "同组的头共用 {}：各头传回的梯度相加"};

// Section headings.
inline constexpr Text item_of{"Item {} of {}", "样本 {}（共 {} 个）"};
inline constexpr Text all_heads_at_once{"All heads at once", "所有头一起投影"};
inline constexpr Text uses_kv_head{"uses key/value head {}", "使用键值头 {}"};
inline constexpr Text heads_together{"All heads together", "各头合在一起"};
inline constexpr Text layer_of{"Layer {} of {}", "第 {} 层（共 {} 层）"};
inline constexpr Text each_token_by_itself{"MLP, each token by itself", "MLP：每个词元各自计算"};
inline constexpr Text behind_all_layers{"At the end", "最后"};

// Over the columns of tables.
inline constexpr Text step{"step", "步骤"};
inline constexpr Text verdict{"verdict", "判定"};

// Captions.
inline constexpr Text keys_and_values_from{"where keys and values come from", "键和值的来源"};
inline constexpr Text same_as_in_head{"the same as in head {}", "与头 {} 相同"};
inline constexpr Text split_first{"then split into heads: {} → {} by reshape, → {} by swapping axes",
                                  "然后拆成各头：重塑 {} → {}，再交换两轴 → {}"};
inline constexpr Text split_to{"{} to head {}", "{}归头 {}"};
inline constexpr Text split_to_kv{"{} to key/value head {}", "{}归键值头 {}"};
inline constexpr Text column_goes{"column {} goes", "第 {} 列"};
inline constexpr Text columns_go{"columns {} go", "第 {} 列"};
inline constexpr Text own_scale{"the problem's own scale: {}", "题目自定的缩放因子：{}"};
inline constexpr Text columns_of_packed{"{}, columns {}", "{} 的第 {} 列"};
inline constexpr Text column_of_packed{"{}, column {}", "{} 的第 {} 列"};
inline constexpr Text each_row{"{}, each row", "{}，逐行"};
inline constexpr Text mean_of{"mean of {}", "{} 的均值"};
inline constexpr Text variance{"mean {} and variance {} of this row", "本行均值 {}，方差 {}"};
inline constexpr Text each_column{"{}, each column", "{}，逐列"};
inline constexpr Text over_items{"{}, over the items of the batch", "{}，跨批次中的各样本"};
inline constexpr Text columns_in_turns{"{}, columns in turns", "{}，各列轮流排列"};
inline constexpr Text sum_of_heads{"sum of {} over all heads", "各头 {} 之和"};
inline constexpr Text sum_of_rows{"sum of {} over the rows", "{} 各行相加"};
inline constexpr Text sum_of_items{"sum of {} over the items", "各样本的 {} 之和"};
inline constexpr Text sum_of_rows_items{"sum of {} over the rows of all items", "所有样本的 {} 各行相加"};
inline constexpr Text sum_of_group{"sum of {} over the heads of the group", "组内各头的 {} 之和"};
inline constexpr Text sum_of_group_items{"sum of {} over the heads of the group and the items",
                                         "组内各头、各样本的 {} 之和"};
inline constexpr Text through_layer_norm{"(h − mean of h − x̂ ∘ mean of h ∘ x̂) / σ, h = {}, each row",
                                         "(h − h 的均值 − x̂ ∘ (h ∘ x̂ 的均值)) / σ，h = {}，逐行"};
inline constexpr Text through_rms_norm{"(h − x̂ ∘ mean of h ∘ x̂) / σ, h = {}, each row",
                                       "(h − x̂ ∘ (h ∘ x̂ 的均值)) / σ，h = {}，逐行"};
inline constexpr Text mean_of_slope{"h = {}, x̂ = {}, mean of h ∘ x̂ {}, σ = {}", "h = {}，x̂ = {}，h ∘ x̂ 的均值 {}，σ = {}"};
inline constexpr Text identity_output{"W_O is the identity: the heads are not mixed", "W_O 为单位矩阵：各头的结果不再混合"};

inline constexpr Text cache_new{"new: {0}; the cache was empty", "新写：{0}；缓存原来是空的"};
inline constexpr Text cache_grows{"new: {0}; read, not computed again: {1}", "新写：{0}；直接读取、不再计算：{1}"};
inline constexpr Text same_cache{"key/value head {} has one cache, shown in head {}", "键值头 {} 只有一份缓存，见头 {}"};

// What is left out.
inline constexpr Text columns_of{"{}, columns {} of {}", "{}，第 {} 列，共 {} 列"};
inline constexpr Text column_of{"{}, column {} of {}", "{}，第 {} 列，共 {} 列"};
inline constexpr Text left_out{"left out, unless --full: {}", "已省略（--full 显示全部）：{}"};
inline constexpr Text left_out_both{"rows {} and columns {} of {}", "{2} 的第 {0} 行和第 {1} 列"};

// Entries that are spelled out.
inline constexpr Text terms{"({} terms)", "（共 {} 项）"};
inline constexpr Text maximum_subtracted{"the maximum, {}, is subtracted first", "先减去最大值 {}"};
inline constexpr Text angle{"angle {0}·{1}^({2}) = {3} at position {0}", "位置 {0} 处的角度 {0}·{1}^({2}) = {3}"};
inline constexpr Text no_key_here{"{0} may attend to no key", "{0}没有可看的键"};

// Why a mask hides an entry.
inline constexpr Text causal{"causal: {1} comes after {0}", "因果掩码：{1}在{0}之后"};
inline constexpr Text causal_shifted{"causal: {1} comes after {0}, which stands at key {2}",
                                     "因果掩码：{0}位于键 {2}，{1}在其后"};
inline constexpr Text window_left{"window: {1} is {2} before {0}, more than {3}", "窗口：{1}在{0}之前 {2} 位，超过 {3}"};
inline constexpr Text window_right{"window: {1} is {2} after {0}, more than {3}", "窗口：{1}在{0}之后 {2} 位，超过 {3}"};
inline constexpr Text add{"the mask adds −∞ here", "加性掩码在此处加 −∞"};
inline constexpr Text alibi{"alibi: minus the head's slope {2} × distance {3}", "ALiBi：减去斜率 {2} × 距离 {3}"};

// Rows without a key.
inline constexpr Text no_key{"{0} may attend to no key{1}: weights 0, head output 0",
                             "{0}{1}没有可看的键：权重为 0，头的输出为 0"};
inline constexpr Text in_layer{"layer {}: ", "第 {} 层："};
inline constexpr Text queries{"queries {}", "查询 {}"};
inline constexpr Text more_items{"{} more items have queries that may attend to no key",
                                 "另有 {} 个样本也有查询没有可看的键"};

// Heads of equal projections.
inline constexpr Text same_heads{
    "heads {} have the same W_Q, W_K and W_V: unless their masks differ, all of them compute the same",
    "头 {} 的 W_Q、W_K、W_V 完全相同：只要掩码相同，它们算出的就完全一样"};

// Lists.
inline constexpr Text comma{", ", "、"};
inline constexpr Text semicolon{"; ", "；"};
inline constexpr Text clause{", ", "，"};
inline constexpr Text in_parentheses{" ({0})", "（{0}）"};

}  // namespace phrase
}  // namespace mha::show
