// The page of a computation: its order, its facts, and what the options change.
#include "show/pages/page_parts.hpp"

#include <algorithm>

#include "catch.hpp"
#include "show/pages/small_problem.hpp"

namespace mha::test {
namespace {

std::string small_page(const PageOptions& options = {}, const TextStyle& style = {}) {
  const Problem problem = small_problem();
  const Plan plan = make_plan(problem);
  return write_text(describe(problem, plan, small_trace(plan), options), style);
}

// A page whose values are not there: headings, formulas and shapes only.
std::string bare_page(const Problem& problem, const PageOptions& options = {}) {
  const Plan plan = make_plan(problem);
  return write_text(describe(problem, plan, empty_trace(plan), options), {200, false, false});
}

TEST_CASE("the page begins with its title, sizes and conventions") {
  CHECK(small_page().rfind("Multi-head attention, step by step · small\n"
                           "2 tokens · d_model 2 · 2 heads · d_k 1 · d_v 1 · scale 0.5 · mask causal\n"
                           "cpu f64 · counted from 1\n"
                           "\n"
                           "Computed unrounded, shown with 3 decimals; --round 3 computes as with a pencil.\n"
                           "\n"
                           "A token is a row; weights multiply from the right, X·W.",
                           0) == 0);
}

TEST_CASE("steps stand in the order of the plan, head by head, then all heads together") {
  const std::string page = small_page();
  std::size_t last = 0;
  for (const char* heading :
       {"   Input   X ", "── Head 1 of 2 · who ─", "1  Queries   Q⁽¹⁾ = X · W_Q⁽¹⁾ ", "2  Keys   K⁽¹⁾ = X · W_K⁽¹⁾ ",
        "3  Values   V⁽¹⁾ = X · W_V⁽¹⁾ ", "4  Scores   S⁽¹⁾ = Q⁽¹⁾ · K⁽¹⁾ᵀ ", "5  Scaled scores   Z⁽¹⁾ = S⁽¹⁾ × scale ",
        "6  Masked scores   M⁽¹⁾ = Z⁽¹⁾ + causal ", "7  Weights   A⁽¹⁾ = softmax(M⁽¹⁾), each row ",
        "8  Head output   head⁽¹⁾ = A⁽¹⁾ · V⁽¹⁾ ", "── Head 2 of 2 ─", "1  Queries   Q⁽²⁾", "8  Head output   head⁽²⁾",
        "── All heads together ─", "9  Concatenation   Concat = [head⁽¹⁾ | head⁽²⁾] ",
        "10 Output projection   Y = Concat · W_O "}) {
    INFO(heading);
    const std::size_t found = page.find(heading);
    REQUIRE(found != std::string::npos);
    CHECK(found > last);
    last = found;
  }
}

TEST_CASE("a step shows what it reads and what comes out, with labels on both sides") {
  CHECK(contains(small_page(),
                 "4  Scores   S⁽¹⁾ = Q⁽¹⁾ · K⁽¹⁾ᵀ                                  2×1 · 1×2 → 2×2\n"
                 "   how well each query fits each key\n"
                 "                                         S⁽¹⁾\n"
                 "         Q⁽¹⁾          K⁽¹⁾ᵀ           he  reads\n"
                 "   he    ⎡ 1 ⎤       he  reads       ⎡  1      0 ⎤\n"
                 "   reads ⎣ 0 ⎦  ·  [  1      0 ]  =  ⎣  0      0 ⎦\n"));
  CHECK(contains(small_page(),
                 "   he    ⎡ 1.000  0.000 ⎤  1.000\n"
                 "   reads ⎣ 0.622  0.378 ⎦  1.000\n"));
  CHECK(contains(small_page(), "           head⁽¹⁾   head⁽²⁾\n   he    ⎡   1.000 │   2.000 ⎤\n"));
}

TEST_CASE("options choose steps, heads and items; the rest of the page stays as it is") {
  PageOptions options;
  options.selection = only({StepId::scores, StepId::output});
  options.selection.heads = {1};
  const std::string page = small_page(options);
  CHECK_FALSE(contains(page, "Head 1 of 2"));
  CHECK_FALSE(contains(page, "Input"));
  CHECK_FALSE(contains(page, "Queries"));
  CHECK(contains(page, "4  Scores   S⁽²⁾"));
  CHECK(contains(page, "10 Output projection"));
}

TEST_CASE("a step whose operand is not on the page shows it") {
  PageOptions options;
  options.selection = only({StepId::weights});
  const std::string masked_then_weights = "   he    ⎡ 0.500     −∞ ⎤     ⎡ 1.000  0.000 ⎤  1.000\n";
  CHECK(contains(small_page(options), masked_then_weights));
  options.selection = only({StepId::masked, StepId::weights});
  CHECK_FALSE(contains(small_page(options), masked_then_weights));
}

TEST_CASE("values that were not kept leave the formula and no matrix") {
  const std::string page = bare_page(small_problem());
  CHECK(contains(page, "4  Scores   S⁽¹⁾ = Q⁽¹⁾ · K⁽¹⁾ᵀ"));
  CHECK_FALSE(contains(page, "S⁽¹⁾[1,1]"));
}

TEST_CASE("counting from 0 concerns heads, entries and ranges") {
  PageOptions options;
  options.index_base = 0;
  const std::string page = small_page(options);
  CHECK(contains(page, "counted from 0"));
  CHECK(contains(page, "Head 0 of 2"));
  CHECK(contains(page, "Q⁽⁰⁾[0,0] = "));
  CHECK(contains(page, "causal: key 1 (reads) comes after query 0 (he)"));
  CHECK(contains(page, "head 0: 1.000"));
  CHECK_FALSE(contains(page, "⁽²⁾"));
}

TEST_CASE("the same page in Chinese") {
  PageOptions options;
  options.language = Language::zh;
  const std::string page = small_page(options);
  CHECK(contains(page, "多头注意力，逐步计算 · small\n2 个词元 · d_model 2 · 2 个头 · "));
  CHECK(contains(page, "── 头 1（共 2 个） · who ─"));
  CHECK(contains(page, "4  注意力分数   S⁽¹⁾ = Q⁽¹⁾ · K⁽¹⁾ᵀ"));
  CHECK(contains(page, "缩放因子 0.5 · 因果掩码"));
  CHECK(contains(page, "6  掩码后的分数   M⁽¹⁾ = Z⁽¹⁾ + 因果掩码"));
  CHECK(contains(page, "因果掩码：键 2（reads）在查询 1（he）之后"));
  for (const char* english : {"Head", "token", "query", "each", "weights", "decimals"})
    CHECK_FALSE(contains(page, english));
}

TEST_CASE("an English page with ASCII labels is ASCII throughout") {
  for (const PageOptions::Work work : {PageOptions::Work::first, PageOptions::Work::all}) {
    PageOptions options;
    options.work = work;
    for (const int width : {30, 80}) {
      const std::string page = small_page(options, {width, false, true});
      CHECK(std::all_of(page.begin(), page.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
      CHECK(contains(page, "softmax(M(1))"));
    }
  }
}

TEST_CASE("no line ends in spaces or is wider than the page") {
  for (const int width : {40, 60, 80, 120}) {
    const std::string page = small_page({}, {width, false, true});
    CHECK_FALSE(contains(page, " \n"));
    for (std::size_t start = 0; start < page.size(); start = page.find('\n', start) + 1)
      CHECK(page.find('\n', start) - start <= static_cast<std::size_t>(width));
  }
}

TEST_CASE("packed weights: one large product, then the split, told as such") {
  Problem problem;
  problem.X = filled({1, 1, 3, 4}, 1);
  problem.packed = problem.fused = true;
  problem.heads = problem.kv_heads = 2;
  for (Linear* linear : {&problem.Q, &problem.K, &problem.V}) linear->W = filled({1, 1, 4, 6}, 1);
  problem.O.W = filled({1, 1, 6, 4}, 1);
  const std::string page = bare_page(problem);
  CHECK(contains(page, "W_Q, W_K and W_V are cut from one W_QKV:\nits columns 1–6, 7–12 and 13–18.\n"));
  CHECK(contains(page, "── All heads at once ─"));
  CHECK(contains(page, "1  Queries of all heads   Q = X · W_Q"));
  CHECK(contains(page,
                 "   then split into heads: 3×6 → 3×2×3 by reshape, → 2×3×3 by swapping axes\n"
                 "   columns 1–3 go to head 1, columns 4–6 go to head 2\n"));
  CHECK(contains(page, "4  Queries   Q⁽²⁾ = Q, columns 4–6 "));
  CHECK(contains(page, "3×6 → 3×2×3 → 2×3×3\n"));
  CHECK(contains(page, "2×3×3 → 3×2×3 → 3×6\n"));
}

TEST_CASE("grouped heads name the key/value head that they share, and show it once") {
  Problem problem;
  problem.X = filled({1, 1, 2, 2}, 1);
  problem.grouped = true;
  problem.heads = 4;
  problem.kv_heads = 2;
  problem.Q.W = filled({1, 4, 2, 2}, 1);
  for (Linear* linear : {&problem.K, &problem.V}) linear->W = filled({1, 2, 2, 2}, 1);
  problem.O.W = filled({1, 1, 8, 2}, 1);
  const std::string page = bare_page(problem);
  CHECK(contains(page, "2 key/value heads"));
  CHECK(contains(page, "── Head 4 of 4 · uses key/value head 2 ─"));
  CHECK(contains(page, "S⁽⁴⁾ = Q⁽⁴⁾ · K⁽ᵏᵛ²⁾ᵀ"));
  CHECK(contains(page, "   key/value head 2, shared by heads 3–4\n"));
  CHECK(contains(page, "   the same as in head 3\n"));

  PageOptions options;
  options.selection.heads = {3};
  CHECK_FALSE(contains(bare_page(problem, options), "the same as"));
}

TEST_CASE("weights stored out×in are used transposed, and shown so") {
  Problem problem = small_problem();
  problem.layout = Layout::torch;
  for (Linear* linear : {&problem.Q, &problem.K, &problem.V}) linear->W = tensor({1, 2, 1, 2}, {1, 0, 0, 1});
  const std::string page = bare_page(problem);
  CHECK(contains(page, "weights stored out×in"));
  CHECK(contains(page, "Q⁽¹⁾ = X · W_Q⁽¹⁾ᵀ"));
  CHECK(contains(page, "Y = Concat · W_Oᵀ"));
}

TEST_CASE("rules that are not the usual ones stand among the facts") {
  Problem problem = small_problem();
  for (Linear* linear : {&problem.Q, &problem.K}) linear->W = filled({1, 2, 2, 2}, 1);
  problem.rope = Rope{100, Pairing::interleaved, 2, 0, {}, {}};
  problem.softcap = 30;
  problem.scale.kind = Scale::Kind::none;
  problem.X_kv = filled({1, 1, 3, 5}, 1);
  for (Linear* linear : {&problem.K, &problem.V}) linear->W = filled({1, 2, 5, 2}, 1);
  problem.O.W = filled({1, 1, 4, 7}, 1);
  problem.masks.clear();
  const std::string page = bare_page(problem);
  CHECK(contains(page,
                 "2 tokens · d_model 2 · 3 keys · d_kv 5 · 2 heads · d_k 2 · d_v 2 · d_out 7\n"
                 "rope interleaved, base 100 · no scale · softcap 30 · no mask · cpu f64\n"));
  CHECK(contains(page, "Input   X_kv"));
  CHECK(contains(page, "Q̃⁽¹⁾ = rope(Q⁽¹⁾), each row"));
  CHECK(contains(page, "positions 0, 1, 2; columns 1 and 2 turn together"));
  CHECK(contains(page, "Z̃⁽¹⁾ = 30·tanh(S⁽¹⁾/30)"));
}

TEST_CASE("a batch has a section for each item, or for the one that was chosen") {
  Problem problem = small_problem();
  problem.batched = true;
  problem.X = filled({2, 1, 2, 2}, 1);
  problem.tokens = {{"a", "b"}, {"c", "d"}};
  const std::string page = bare_page(problem);
  CHECK(contains(page, "batch of 2 · 2 tokens"));
  const std::size_t second = page.find("══ Item 2 of 2 ═");
  REQUIRE(second != std::string::npos);
  CHECK(page.find("══ Item 1 of 2 ═") < page.find("   a ⎡ 1  1 ⎤\n"));
  CHECK(second < page.find("   c ⎡ 1  1 ⎤\n"));

  PageOptions options;
  options.chosen_item = {1, 2};
  const Problem item = select_item(problem, 1);
  CHECK(contains(bare_page(item, options), "══ Item 2 of 2 ═"));
  CHECK_FALSE(contains(bare_page(item, options), "Item 1"));
}

TEST_CASE("large matrices show their corners only, and say so") {
  Problem problem = small_problem();
  problem.X = filled({1, 1, 600, 2}, 0.5);  // what is not shown is never looked at, not even for its decimals
  for (const Index row : {0, 1, 2, 597, 598, 599})
    for (const Index column : {0, 1}) problem.X.at(0, 0, row, column) = 1;
  problem.tokens.clear();
  problem.masks.clear();
  CHECK(contains(bare_page(problem),
                 "   ⎡ 1  1 ⎤\n   ⎢ 1  1 ⎥\n   ⎢ 1  1 ⎥\n   ⎢ ⋮  ⋮ ⎥\n   ⎢ 1  1 ⎥\n   ⎢ 1  1 ⎥\n   ⎣ 1  1 ⎦\n"
                 "   left out, unless --full: rows 4–597 of X\n"));
  PageOptions options;
  options.full = true;
  const std::string page = bare_page(problem, options);
  CHECK_FALSE(contains(page, "left out"));
  CHECK(contains(page, "0.5"));
}

TEST_CASE("rounding by hand is told once") {
  const Problem problem = small_problem();
  const Plan plan = make_plan(problem);
  Trace trace = small_trace(plan);
  trace.rounding = 3;
  const std::string page = write_text(describe(problem, plan, trace, {}), {});
  CHECK(contains(page, "each step rounded to 3 decimals · counted from 1\n"));
  CHECK_FALSE(contains(page, "· 3 decimals"));
  CHECK_FALSE(contains(page, "unrounded"));
  CHECK_FALSE(contains(bare_page(problem), "unrounded"));
}

}  // namespace
}  // namespace mha::test
