// Steps as code for NumPy: an expression of the operands by the names that a person types.
#include "show/pages/numpy_code.hpp"

#include "show/words/notation.hpp"

namespace mha::show {
namespace {

class NumpyCodeBuilder {
 public:
  NumpyCodeBuilder(const Scene& scene, const Step& step, Place place) : scene_(scene), step_(step), place_(place) {}

  NumpyCode build() {
    code_.text = expression();
    if (scene_.trace.rounding && !code_.text.empty() && !info_of(step_.op).moves)
      code_.text = fmt::format("rounded({}, {})", code_.text, *scene_.trace.rounding);
    return std::move(code_);
  }

 private:
  std::string name(std::size_t i) { return named(i, place_); }
  std::string named(std::size_t i, Place place) {
    code_.needs.push_back(numpy_name(typed_name(scene_, step_.in[i], place)));
    return code_.needs.back();
  }
  std::string all(std::size_t from, std::string_view between) {
    std::string text;
    for (std::size_t i = from; i < step_.in.size(); ++i) text += (i == 0 ? "" : std::string(between)) + name(i);
    return text;
  }

  std::string expression() {
    switch (step_.op) {
      case Op::product:
        return name(0) + (step_.first_transposed ? ".T @ " : " @ ") + name(1) + (step_.transposed ? ".T" : "") +
               all(2, " + ");
      case Op::split: return split();
      case Op::rotate: return rotate();
      case Op::multiply: return multiply();
      case Op::softcap: return fmt::format("{0} * np.tanh({1} / {0})", full_text(step_.cap), name(0));
      case Op::add: return all(0, " + ");
      case Op::softmax: return step_.softmax == Softmax{} ? "softmax(" + name(0) + ")" : "";
      case Op::merge: return merge();
      case Op::copy: return name(0);
      case Op::norm: return norm();
      case Op::activation: {
        const std::string function(activation_names[static_cast<std::size_t>(step_.activation)]);
        const std::string bent = step_.activation == Activation::none ? name(0) : function + "(" + name(0) + ")";
        return step_.in.size() > 1 ? bent + " * " + name(1) : bent;
      }
      case Op::difference:
      case Op::slope:
      case Op::norm_slope:
      case Op::sum:
      case Op::reshape:
      case Op::pool: return "";
    }
    return "";
  }

  std::string split() {
    const Shape& to = scene_.plan.value(step_.out).shape;
    if (step_.arrangement != Arrangement::side_by_side) return "";
    const Index own = own_head(scene_, step_.out, place_.head);
    return fmt::format("{}[:, {}:{}]", name(0), own * to.cols, (own + 1) * to.cols);
  }

  std::string rotate() {
    std::string positions;
    for (Index row = 0; row < scene_.plan.value(step_.out).shape.rows; ++row)
      positions += fmt::format("{}{}", row == 0 ? "" : ", ", position_of_row(scene_, step_, row));
    return fmt::format("rotate({}, [{}], base={}, dims={}, pairing=\"{}\")", name(0), positions,
                       full_text(scene_.problem.rope->base), 2 * scene_.plan.value(step_.in[1]).shape.cols,
                       step_.pairing == Pairing::half ? "half" : "interleaved");
  }

  std::string multiply() {
    const std::optional<Scaling> scaling = scaling_of(scene_, step_);
    if (!scaling) return name(0) + " * " + name(1);
    if (scaling->name == "√d_k") return fmt::format("{} / np.sqrt({})", name(0), scene_.problem.d_k());
    return fmt::format("{} * {}", name(0), full_text(scene_.plan.value(step_.in[1]).constant->data()[0]));
  }

  std::string merge() {
    const Index heads = scene_.plan.value(step_.in[0]).shape.heads;
    if (step_.arrangement != Arrangement::side_by_side) return "";
    std::string list;
    for (Index head = 0; head < heads; ++head) list += (head == 0 ? "" : ", ") + named(0, {place_.item, head});
    return "np.hstack([" + list + "])";
  }

  std::string norm() {
    const bool plain = !step_.norm.sample_variance && !step_.norm.eps_outside && !step_.norm.by_column;
    if (!plain) return "";
    std::string text = fmt::format("{}_norm({}, {})", norm_name(step_.norm.kind), name(0), full_text(step_.norm.eps));
    for (std::size_t i = 1; i < step_.in.size(); ++i)
      if (scene_.plan.value(step_.in[i]).role != Value::Role::constant) text += (i == 1 ? " * " : " + ") + name(i);
    return text;
  }

  const Scene& scene_;
  const Step& step_;
  Place place_;
  NumpyCode code_;
};

}  // namespace

NumpyCode numpy_code(const Scene& scene, const Step& step, Place place) {
  if (scene.plan.is_backward(scene.plan.steps.back())) return {};  // its numbers stand for themselves
  return NumpyCodeBuilder(scene, step, place).build();
}

}  // namespace mha::show
