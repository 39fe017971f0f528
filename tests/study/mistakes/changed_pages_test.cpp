// Every mistake can be told as a page: the plan, however changed, with all its numbers.
#include <set>

#include "catch.hpp"
#include "fewer_draws.hpp"
#include "show/pages/page_parts.hpp"
#include "show/writers.hpp"
#include "study/check/random_study_problem.hpp"
#include "study/mistakes/mistake.hpp"
#include "study/mistakes/simulate.hpp"

namespace mha::test {
namespace {

std::string page(const Problem& problem, const Plan& plan, PageOptions::Work work = PageOptions::Work::first) {
  PageOptions options;
  options.work = work;
  return write_text(describe(problem, plan, simulate(plan), options), {100});
}

std::string page(const Problem& problem, std::string_view id) {
  return page(problem, find_mistake(id)->variants(problem).front().plan);
}

}  // namespace

TEST_CASE("every form of every mistake is told, with all its entries on the first problem that has it", "[study][show]") {
  std::uint32_t turn = 0;
  std::set<std::string> told;
  for (const StudyVariant& variant : study_variants) {
    const Problem problem = variant.draw(1);
    for (const Mistake& mistake : mistakes())
      for (const Variant& form : mistake.variants(problem)) {
        if (is_passed_over(turn)) continue;
        INFO(variant.name << ", " << mistake.id << " " << form.detail);
        const bool first = told.insert(std::string(mistake.id) + " " + form.detail).second;
        const std::string text = page(problem, form.plan, first ? PageOptions::Work::all : PageOptions::Work::first);
        CHECK(has(text, "Y[1,1]"));
      }
  }
}

TEST_CASE("changed steps say in their formula what was done", "[study][show]") {
  const Problem problem = study_problem(1);
  CHECK(has(page(problem, "softmax_columns"), "A⁽¹⁾ = softmax(M⁽¹⁾), each column"));
  CHECK(has(page(problem, "softmax_heads"), "A⁽²⁾ = softmax(M⁽²⁾), over the heads"));
  CHECK(has(page(problem, "softmax_all"), "A⁽¹⁾ = softmax(M⁽¹⁾), over the whole matrix"));
  CHECK(has(page(problem, "softmax_base2"), "A⁽¹⁾ = 2^M⁽¹⁾ / Σ 2^M⁽¹⁾, each row"));
  CHECK(has(page(problem, "softmax_plus_one"), "A⁽¹⁾ = e^M⁽¹⁾ / (1 + Σ e^M⁽¹⁾), each row"));
  CHECK(has(page(problem, "softmax_overflow"), "softmax(M⁽¹⁾), each row, no maximum subtracted"));
  CHECK(has(page(problem, "relu_projection"), "Q⁽¹⁾ = relu(Q′⁽¹⁾)"));
  CHECK(has(page(problem, "reshape_without_transpose"), "Q⁽¹⁾ = Q′ re-read as 3×5×2"));
  CHECK(has(page(problem, "reshape_for_transpose"), "S′⁽¹⁾ = K⁽¹⁾ re-read as 2×5"));
  CHECK(has(page(problem, "strided_heads"), "Q⁽²⁾ = Q′, columns 2, 5"));
  CHECK(has(page(problem, "heads_reversed"), "Q⁽¹⁾ = Q′, columns 5–6"));
  CHECK(has(page(problem, "concat_reversed"), "Concat = [head⁽³⁾ | head⁽²⁾ | head⁽¹⁾]"));
  CHECK(has(page(problem, "concat_interleaved"), "Concat = [head⁽¹⁾ | head⁽²⁾ | head⁽³⁾], columns in turns"));
  CHECK(has(page(problem, "heads_averaged"), "Concat = mean of head over all heads"));
  CHECK(has(page(problem, "attention_transposed"), "head⁽¹⁾ = A⁽¹⁾ᵀ · V⁽¹⁾"));
  CHECK(has(page(problem, "mask_multiplied"), "M⁽¹⁾ = Z⁽¹⁾ ∘ keep"));
  CHECK(has(page(problem, "residual_added"), "Y = Y′ + X"));
  CHECK(has(page(problem, "scale_sqrt_dmodel"), "√d_model = √6 = 2.449"));
  CHECK(has(page(square_head_problem(1), "elementwise_product"), "S⁽¹⁾ = Q⁽¹⁾ ∘ K⁽¹⁾"));
}

}  // namespace mha::test
