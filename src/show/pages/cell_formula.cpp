// Entries as formulas of a spreadsheet: SUMPRODUCT, EXP, MAX, SUM, … of their operands' cells, none of them for arrays.
#include "show/pages/page_parts.hpp"

#include "show/words/notation.hpp"

namespace mha::show {
namespace {

constexpr Index most_formulas = 5000;

// "1E-05"
std::string written_number(double number) {
  std::string text = full_text(number);
  std::replace(text.begin(), text.end(), 'e', 'E');
  return text;
}

class CellFormulaBuilder {
 public:
  CellFormulaBuilder(const Scene& scene, const Step& step, EntryAt at, Terms terms)
      : scene_(scene), step_(step), at_(at), terms_(std::move(terms)) {}

  CellFormula build() {
    const auto put_formula = formula_of(step_);
    if (put_formula == nullptr) return {};
    if (scene_.trace.rounding) put("ROUND(");
    (this->*put_formula)();
    if (scene_.trace.rounding) put(fmt::format(",{})", *scene_.trace.rounding));
    return std::move(formula_);
  }

  // Null where a sheet does not compute it.
  static void (CellFormulaBuilder::*formula_of(const Step& step))() {
    using Builder = CellFormulaBuilder;
    const Norm& norm = step.norm;
    switch (step.op) {
      case Op::product: return &Builder::product;
      case Op::multiply: return &Builder::multiply;
      case Op::softcap: return &Builder::softcap;
      case Op::add: return &Builder::add;
      case Op::softmax: return step.softmax == Softmax{} ? &Builder::softmax : nullptr;
      case Op::norm: return norm.sample_variance || norm.eps_outside || norm.by_column ? nullptr : &Builder::norm;
      case Op::activation: return &Builder::activation;
      case Op::split:
      case Op::merge:
      case Op::copy: return &Builder::copy;
      case Op::rotate:
      case Op::difference:
      case Op::slope:
      case Op::norm_slope:
      case Op::sum:
      case Op::reshape:
      case Op::pool: return nullptr;
    }
    return nullptr;
  }

 private:
  void put(std::string text) { formula_.emplace_back(std::move(text)); }
  void put(const CellRange& range) { formula_.emplace_back(range); }

  const ReadEntry& read(std::size_t term, std::size_t factor = 0) const { return terms_[term][factor]; }
  CellRange cell(std::size_t term, std::size_t factor = 0) const { return range(read(term, factor), read(term, factor)); }
  CellRange range(const ReadEntry& first, const ReadEntry& last) const {
    return {typed_name(scene_, step_.in[first.operand], first.place), first.at.row, first.at.column,
            last.at.row - first.at.row + 1, last.at.column - first.at.column + 1};
  }
  bool is_mask(std::size_t term) const { return scene_.plan.value(step_.in[read(term).operand]).role == Value::Role::mask; }

  void product() {
    std::size_t count = 0;
    while (count < terms_.size() && terms_[count].size() > 1) ++count;
    formula_.emplace_back(std::array{range(read(0, 0), read(count - 1, 0)), range(read(0, 1), read(count - 1, 1))});
    for (; count < terms_.size(); ++count) put("+"), put(cell(count));
  }

  void multiply() {
    put(cell(0));
    const std::optional<Scaling> scaling = scaling_of(scene_, step_);
    if (scaling && scaling->name == "√d_k") return put(fmt::format("/SQRT({})", scene_.problem.d_k()));
    put("*");
    scaling ? put(written_number(scene_.plan.value(step_.in[1]).constant->data()[0])) : put(cell(0, 1));
  }

  void softcap() {
    const std::string cap = written_number(step_.cap);
    put(cap + "*TANH("), put(cell(0)), put("/" + cap + ")");
  }

  void copy() { put(cell(0)); }

  // A mask that hides an entry says so by a text.
  void add() {
    std::string before = "IF(OR(";
    for (std::size_t i = 0; i < terms_.size(); ++i)
      if (is_mask(i)) put(std::exchange(before, ",") + "ISTEXT("), put(cell(i)), put(")");
    const bool any_mask = before == ",";
    if (any_mask) put("),-1E300,");
    for (std::size_t i = 0; i < terms_.size(); ++i) put(i == 0 ? "" : "+"), put(cell(i));
    if (any_mask) put(")");
  }

  // Every exponential by itself: what sums EXP of a range up needs a formula for arrays in some spreadsheets.
  void softmax() {
    const CellRange row = range(terms_.front().front(), terms_.back().front());
    const auto exponential = [&](std::size_t i) { put("EXP("), put(cell(i)), put("-MAX("), put(row), put("))"); };
    const bool any_mask = scene_.plan.value(step_.in[0]).step == StepId::masked;
    if (any_mask) put("IF(MAX("), put(row), put(")<=-1E300,0,");
    exponential(static_cast<std::size_t>(at_.column));
    for (std::size_t i = 0; i < terms_.size(); ++i) put(i == 0 ? "/SUM(" : ","), exponential(i);
    put(any_mask ? "))" : ")");
  }

  void norm() {
    const Index width = scene_.plan.value(step_.in[0]).shape.cols;
    const CellRange row = range(read(0), read(static_cast<std::size_t>(width - 1)));
    const CellRange own = cell(static_cast<std::size_t>(at_.column));
    const bool is_layer = step_.norm.kind == Norm::Kind::layer;
    put(is_layer ? "(" : ""), put(own);
    if (is_layer) put("-AVERAGE("), put(row), put("))");
    put(is_layer ? "/SQRT(VARP(" : "/SQRT(SUMSQ("), put(row);
    put((is_layer ? ")+" : fmt::format(")/{}+", width)) + written_number(step_.norm.eps) + ")");
    for (std::size_t i = 1; i < step_.in.size(); ++i) {
      const std::size_t term = static_cast<std::size_t>(width) + i - 1;
      const Value& value = scene_.plan.value(step_.in[i]);
      if (value.role == Value::Role::constant) continue;  // γ of ones
      put(i == 1 ? "*" : "+"), put(cell(term));
    }
  }

  void activation() {
    const CellRange x = cell(0);
    switch (step_.activation) {
      case Activation::none: put(x); break;
      case Activation::relu: put("MAX(0,"), put(x), put(")"); break;
      case Activation::gelu: put(x), put("*NORMSDIST("), put(x), put(")"); break;
      case Activation::gelu_tanh:
        put("0.5*"), put(x), put("*(1+TANH(SQRT(2/PI())*("), put(x), put("+0.044715*"), put(x), put("^3)))");
        break;
      case Activation::silu: put(x), put("/(1+EXP(-"), put(x), put("))"); break;
    }
    if (terms_.front().size() > 1) put("*"), put(cell(0, 1));
  }

  const Scene& scene_;
  const Step& step_;
  EntryAt at_;
  Terms terms_;
  CellFormula formula_;
};

}  // namespace

bool cells_can_compute(const Problem& problem, const Plan& plan, const Trace& trace, const PageOptions& options) {
  Index formulas = 0;
  for (const Step& step : plan.steps) {
    const Value& value = plan.value(step.out);
    if (!options.selection.has(plan, value)) continue;
    if (CellFormulaBuilder::formula_of(step) == nullptr) return false;
    formulas += value.shape.size();
  }
  return !problem.batched && plan.past.empty() && trace.dtype == Dtype::f64 && formulas <= most_formulas;
}

CellFormula cell_formula(const Scene& scene, const Step& step, const Spelling& spelling, EntryAt at) {
  return CellFormulaBuilder(scene, step, at, spelling.terms(at)).build();
}

}  // namespace mha::show
