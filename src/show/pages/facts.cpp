// What stands above the first step.
#include "show/pages/page_parts.hpp"

#include "show/words/notation.hpp"
#include "show/words/number_text.hpp"
#include "show/words/phrases.hpp"

namespace mha::show {
namespace {

class FactsOf {
 public:
  explicit FactsOf(const Scene& scene) : problem_(scene.problem), scene_(scene) {}

  // Of all; of a stack its layers tell their own.
  Facts facts(bool computed) {
    sizes_of_input();
    if (scene_.is_stack())
      add_count(scene_.whole.layer_count(), Text{"1 layer", "1 层"}, phrase::layers);
    else
      layer();
    if (computed) arithmetic();
    return std::move(facts_);
  }

  Facts of_layer() {
    layer();
    return std::move(facts_);
  }

 private:
  template <typename... Parts>
  void add(const Text& text, const Parts&... parts) {
    facts_.parts.emplace_back(say(scene_.options.language, text, parts...));
  }
  void add_size(const char* name, Index size) { facts_.parts.emplace_back(fmt::format("{} {}", name, size)); }

  void add_count(Index count, const Text& one, const Text& many) { count == 1 ? add(one) : add(many, count); }

  void layer() {
    sizes();
    rules();
  }

  void sizes_of_input() {
    if (problem_.batched) add(phrase::batch, batch_size());
    add_count(problem_.queries(), phrase::one_token, phrase::tokens);
    add_size("d_model", scene_.whole.d_model());
    if (problem_.X_kv) {
      add_count(problem_.keys(), phrase::one_key, phrase::keys);
      add_size("d_kv", problem_.d_kv());
    }
  }

  void sizes() {
    add_count(problem_.heads, phrase::one_head, phrase::heads);
    if (problem_.grouped) add_count(problem_.kv_heads, phrase::one_kv_head, phrase::kv_heads);
    add_size("d_k", problem_.d_k());
    add_size("d_v", problem_.d_v());
    if (problem_.d_out() != problem_.d_model()) add_size("d_out", problem_.d_out());
  }

  Index batch_size() const { return scene_.options.chosen_item ? scene_.options.chosen_item->count : problem_.batch(); }

  void rules() {
    if (problem_.layout == Layout::torch) add({"weights stored out×in", "权重矩阵按“输出×输入”存放"});
    for (int op = 0; !info_of(static_cast<Op>(op)).name.empty(); ++op)
      if (std::string rule = rule_text(scene_, static_cast<Op>(op)); !rule.empty())
        facts_.parts.emplace_back(std::move(rule));
    if (problem_.residual) add({"residual", "有残差连接"});
  }

  void arithmetic() {
    facts_.parts.push_back(Words().quote(scene_.trace.device).add(" " + std::string(dtype_name(scene_.trace.dtype))));
    const Language language = scene_.options.language;
    if (scene_.trace.rounding) add(phrase::rounded, decimals_text(language, *scene_.trace.rounding));
    if (scene_.trace.rounding && scene_.trace.rounding != scene_.options.precision)
      facts_.parts.emplace_back(decimals_text(language, scene_.options.precision));
    add(phrase::counted_from, scene_.options.index_base);
  }

  const Problem& problem_;
  const Scene& scene_;
  Facts facts_;
};

// Whether a number of the page has more digits than it shows; float64's own noise is none.
bool shows_rounded(const View& view) {
  for (Index i = 0; i < view.shown_rows().count(); ++i)
    for (Index j = 0; j < view.shown_columns().count(); ++j) {
      const double number = view.at(view.shown_rows().place(i), view.shown_columns().place(j));
      if (std::isfinite(number) && view.style().rounds(number)) return true;
    }
  return false;
}

bool shows_rounded(const Scene& scene) {
  for (const Step& step : scene.plan.steps) {
    if (!scene.has(step)) continue;
    for (Index item = 0; item < scene.problem.batch(); ++item)
      for (Index head = 0; head < (scene.plan.value(step.out).per_head ? scene.problem.heads : 1); ++head) {
        if (scene.plan.value(step.out).per_head && !scene.options.selection.has_head(head)) continue;
        const std::optional<View> view = View::of(scene, step.out, {item, head});
        if (view && shows_rounded(*view)) return true;
      }
  }
  return false;
}

// Where W_Q, W_K and W_V stand in one W_QKV.
std::string fused_text(const Scene& scene) {
  const Problem& problem = scene.problem;
  const Index q = problem.heads * problem.d_k(), kv = problem.kv_heads * problem.d_k(), base = scene.options.index_base;
  const Text lines = problem.layout == Layout::torch ? Text{"rows", "行"} : Text{"columns", "列"};
  return say(scene.options.language, phrase::fused_convention, say(scene.options.language, lines),
             range_text(0, q - 1, base), range_text(q, q + kv - 1, base), range_text(q + kv, q + 2 * kv - 1, base));
}

}  // namespace

// It may have lines of its own; every other control character is left to the writer.
void add_description(const Caption& description, PageBuilder& page) {
  std::string_view text = description.in(page.language());
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    page.paragraph(Words().quote(std::string(text.substr(0, end))));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

Facts given_facts_of(const Scene& scene) {
  return FactsOf(scene).facts(false);
}

void add_facts(const Scenes& layers, PageBuilder& page) {
  const Scene& scene = layers.front();
  page.add(FactsOf(scene).facts(true));
  const int decimals = scene.options.precision;
  if (!scene.trace.rounding && std::any_of(layers.begin(), layers.end(), [](const Scene& s) { return shows_rounded(s); }))
    page.paragraph(phrase::shown_rounded, decimals_text(page.language(), decimals), decimals);
}

void add_layer_facts(const Scene& scene, PageBuilder& page) {
  page.add(FactsOf(scene).of_layer());
  if (scene.problem.fused) page.paragraph(Words(fused_text(scene)));
}

void add_header(const Scenes& layers, PageBuilder& page) {
  const Scene& scene = layers.front();
  page.title(scene.plan.is_backward(scene.plan.steps.back()) ? phrase::backward_title : phrase::title, scene.whole.title);
  add_facts(layers, page);
  std::string convention = page.say(phrase::convention);
  if (scene.whole.layout == Layout::torch) convention += page.say(phrase::and_torch);
  if (scene.whole.fused) convention += fused_text(scene);
  page.paragraph(Words(std::move(convention)));
  add_description(scene.whole.description, page);
}

}  // namespace mha::show
