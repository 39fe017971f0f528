// Checks answers: layer after layer, and many of them at once.
#include "study/check/check.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>

#include "core/error.hpp"
#include "study/mistakes/simulate.hpp"

namespace mha::study {
namespace {

constexpr std::chrono::milliseconds between_reports(100);
constexpr Text side_by_side{"Q, K or V of all heads stood side by side in one matrix: its columns were cut into heads",
                            "各头的 Q、K 或 V 并排写在一个矩阵里：已按列拆成各头"};
constexpr std::size_t most_read_again = 4096;  // numbers
constexpr int fewest_decimals_cut = 2, most_decimals_cut = 6;
constexpr Text digits_cut_off{
    "the numbers were cut off rather than rounded: each lies within a unit of its last place, nearer to 0",
    "各数的尾数是截去而不是舍入的：每个数都差不到末位的一个单位，且偏向 0"};
constexpr Text all_transposed{
    "every matrix is right but transposed: here a token is a row, and weights multiply from the right",
    "每个矩阵都是对的，只是转置了：这里一个词元是一行，权重矩阵从右边乘"};

void tell_forms(GivenMatrices& given, std::optional<int> layer, Report& report) {
  given.for_each([&](StepId step, Index head, const GivenMatrix& matrix) {
    if (step == StepId::X) return;
    report.decimals = std::max(report.decimals, matrix.writing.decimals);
    auto alike = std::find_if(report.judged.begin(), report.judged.end(),
                              [&](const Judged& judged) { return judged.form.is_told_as(matrix.form); });
    if (alike == report.judged.end()) alike = report.judged.insert(alike, {matrix.form, {}});
    alike->matrices.emplace_back(LayerStep{layer, step}, head);
  });
}

// Of which layer it is must be said, and the layer be there.
void tell_misplaced(const io::Answer& answer, int layers, Report& report) {
  for (const io::AnswerMatrix& matrix : answer.matrices) {
    const std::optional<int> layer = layer_of(matrix, layers);
    if (!layer)
      add_once(report.unknown, say({"{0} of which layer? Write layer1.{0}; it was passed over.",
                                    "是哪一层的 {0}？请写 layer1.{0}；已忽略。"},
                                   name_of(matrix.step).id));
    else if (matrix.is_result && layers == 1)
      add_once(report.unknown, say({"X{} is what a layer of a stack gives, and this problem is none: it was passed over",
                                    "X{} 是多层中某一层的结果，而这道题不是多层的：已忽略"},
                                   *layer + 1));
    else if (*layer >= layers)
      add_once(report.unknown, say({"this problem has no layer {}: what is given there was passed over.",
                                    "这道题没有第 {} 层：其中给出的内容已忽略。"},
                                   *layer + 1));
  }
}

void take_as_cut_off(std::vector<GivenMatrices>& given, Precision& precision, CutOff what) {
  const auto take = [](NumberForm& form) { form.cut_off = form.half_unit() > 0 && form.decimals >= fewest_decimals_cut; };
  for (GivenMatrices& layer : given) layer.for_each([&](StepId, Index, GivenMatrix& matrix) { take(matrix.form); });
  if (what == CutOff::all) take(precision.between);
}

// Everything that is wrong is so for one reason, and wrong once.
void tell_transposed(Report& report) {
  report.findings.resize(1);
  Finding& finding = report.findings.front();
  finding.suspects.clear();
  finding.sign = Sign{all_transposed, {}, true};
  for (StepVerdict& step : report.steps)
    if (step.verdict == Verdict::wrong && LayerStep(step) != LayerStep(finding)) step.verdict = Verdict::following;
}

}  // namespace

Checker::Checker(const Problem& problem, const ToleranceOptions& tolerance) : tolerance_(tolerance) {
  if (problem.layers.empty() && !problem.loss) {
    layers_.emplace_back(problem, std::nullopt);
    return;
  }
  const auto plan_of = [](const Problem& layer, int) { return answer_plan(layer); };
  problems_ = layered(problem, plan_of, problem.loss.has_value()).problems;
  if (problem.loss) backward_problems_ = problems_;
  for (std::size_t i = 0; i < problems_.size(); ++i) {
    const std::optional<int> layer = problem.layers.empty() ? std::nullopt : std::optional(static_cast<int>(i));
    problems_[i].loss.reset();
    layers_.emplace_back(problems_[i], layer);
    if (problem.loss) backward_.emplace_back(backward_problems_[i], layer);
  }
}

std::shared_ptr<const Tensor> Checker::truth(std::size_t layer, StepId step) const {
  if (!is_gradient(step)) return layers_[layer].truth(step);
  return backward_.empty() ? nullptr : backward_[layer].truth(step);
}

Report Checker::check(io::Answer answer) const {
  const auto goes_back = [](const io::AnswerMatrix& matrix) { return is_gradient(matrix.step); };
  if (backward_.empty() && std::any_of(answer.matrices.begin(), answer.matrices.end(), goes_back)) {
    io::Answer forward = answer;
    std::erase_if(forward.matrices, goes_back);
    forward.unknown.push_back(
        say({"gradients were passed over: the problem has no loss; write --loss sum, or as `mha gradient --help` says",
             "各梯度已忽略：题目没有 loss；请写 --loss sum，或照 `mha gradient --help` 所说"}));
    return check(forward);
  }
  Budget budget;
  const auto numbers = [](std::size_t sum, const io::AnswerMatrix& matrix) { return sum + matrix.numbers.size(); };
  if (std::accumulate(answer.matrices.begin(), answer.matrices.end(), std::size_t{0}, numbers) > most_read_again)
    return judge(std::move(answer), budget);
  Report report = judge(answer, budget);
  if (report.findings.empty()) return report;
  const auto is_unexplained = [](const Finding& finding) { return finding.suspects.empty(); };
  Budget nothing{0};  // to look for mistakes that are known already, or of which none may be there
  const bool by_decimals = !tolerance_.tol && !tolerance_.rtol && !tolerance_.sigfig;
  if (by_decimals && report.decimals <= most_decimals_cut) {
    const bool look = is_unexplained(report.findings.front());
    Report cut = judge(answer, look ? budget : nothing, CutOff::given);
    // Only what stands behind it, and follows, shows that digits were cut off before it as well.
    const auto follows = [&](const StepVerdict& step) {
      return LayerStep(cut.findings.front()) < LayerStep(step) &&
             (step.verdict == Verdict::right || step.verdict == Verdict::following);
    };
    if (!cut.findings.empty() && std::any_of(cut.steps.begin(), cut.steps.end(), follows))
      cut = judge(answer, look ? budget : nothing, CutOff::all);
    if (cut.findings.empty() || (look && std::none_of(cut.findings.begin(), cut.findings.end(), is_unexplained))) {
      add_once(cut.remarks, digits_cut_off);
      return cut;
    }
  }
  if (report.findings.size() == 1) return report;
  for (io::AnswerMatrix& matrix : answer.matrices) transpose(matrix);
  const Report turned = judge(std::move(answer), nothing);
  if (turned.findings.empty() && !turned.unusable) tell_transposed(report);
  return report;
}

Report Checker::judge(io::Answer answer, Budget& budget, CutOff cut_off) const {
  const int count = static_cast<int>(layers_.size());
  Report report;
  report.name = answer.name;
  report.layers = count;
  report.unknown = answer.unknown;
  for (const io::AnswerMatrix& matrix : answer.matrices)
    if (matrix.step != StepId::masked) report.blanks += static_cast<Index>(matrix.blank.size());
  std::vector<GivenMatrices> given;
  given.reserve(layers_.size());
  for (int i = 0; i < count; ++i) {
    const LayerChecker& layer = layers_[static_cast<std::size_t>(i)];
    given.emplace_back(answer, layer.problem(), i, count);
    layer.prepare_truth(given.back());
    if (!backward_.empty()) backward_[static_cast<std::size_t>(i)].prepare_truth(given.back());
    const auto truth_of = [&](StepId step) { return truth(static_cast<std::size_t>(i), step); };
    report.blanks += given.back().fill_hidden(truth_of);
    if (given.back().were_side_by_side()) add_once(report.remarks, side_by_side);
    if (const auto remark = given.back().spread_groups(layer.problem(), truth_of)) add_once(report.remarks, *remark);
  }
  tell_misplaced(answer, count, report);
  Precision precision =
      recognise_forms(given, tolerance_, [this](std::size_t layer, StepId step) { return truth(layer, step).get(); });
  if (cut_off != CutOff::nothing) take_as_cut_off(given, precision, cut_off);
  for (std::size_t i = 0; i < given.size(); ++i)
    tell_forms(given[i], count > 1 ? std::optional(static_cast<int>(i)) : std::nullopt, report);
  std::stable_sort(report.judged.begin(), report.judged.end(),
                   [](const Judged& a, const Judged& b) { return a.matrices.size() > b.matrices.size(); });
  std::size_t place = 0;
  Handed handed;
  handed.all_true = count > 1 && std::all_of(given.begin(), given.end(),
                                             [&](const GivenMatrices& layer) { return layers_[place++].is_true(layer); });
  std::vector<Handed> received_by;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const Report before = report;
    const Handed received = received_by.emplace_back(handed);
    given[i].sound_input = received.sound;
    handed = layers_[i].check(given[i], precision, received, budget, report);
    if (cut_off == CutOff::nothing)
      if (const auto better =
              blame_earlier({std::span(given).first(i + 1), received_by}, precision, budget, before, report))
        handed = *better;
    handed.all_true = received.all_true;
    if (i + 1 == given.size() || !layers_[i + 1].goes_on_from_last(given[i + 1], precision, handed)) continue;
    GivenMatrices passed_on = given[i].with(*handed.last, handed.result);  // what the person took for the layer's result
    report = before;
    ++report.inferred;
    handed = layers_[i].check(passed_on, precision, received, budget, report);
  }
  if (!backward_.empty()) check_backwards(given, precision, report);
  report.of = nothing_given().of;
  report.asks_for_gradients =
      report.has_gradients() || std::any_of(answer.left_blank.begin(), answer.left_blank.end(), is_gradient);
  const auto is_judged = [](const StepVerdict& step) {  // X is the problem's own
    return step.verdict != Verdict::not_given && (step.step != StepId::X || step.verdict == Verdict::wrong);
  };
  const auto is_step = [&](StepId step) {
    if (is_gradient(step)) return !backward_.empty();
    return std::any_of(layers_.begin(), layers_.end(),
                       [&](const LayerChecker& layer) { return layer.has(placed(step, layer.problem().is_post_norm())); });
  };
  if (std::any_of(report.steps.begin(), report.steps.end(), is_judged)) return report;
  report.all_blank = std::any_of(answer.left_blank.begin(), answer.left_blank.end(), is_step);
  if (!report.all_blank)
    report.unusable =
        say({"{}: nothing in it can be judged; {}", "{}：没有可以批改的内容；{}"}, answer.name,
            report.unknown.empty() ? Saying{"fill in at least one step", "请至少填写一个步骤"} : report.unknown.front());
  return report;
}

// From the last layer to the first, each with what it read on the way there.
void Checker::check_backwards(std::vector<GivenMatrices>& given, const Precision& precision, Report& report) const {
  Budget budget;
  Handed handed;
  for (std::size_t i = given.size(); i-- > 0;) {
    GivenMatrices own = given[i];
    if (i + 1 < given.size()) own = own.without(gradient_of(backward_[i].result()), {0});
    if (i > 0) own.take(given[i - 1], gradient_of(backward_[i - 1].result()), StepId::d_X);
    own.sound_gradient = handed.sound;
    Report found;
    found.steps = report.steps;
    handed = backward_[i].check(own, precision, Handed(handed), budget, found);
    found.steps.erase(found.steps.begin(), found.steps.begin() + static_cast<std::ptrdiff_t>(report.steps.size()));
    add_backward(i, found, report);
  }
}

void Checker::add_backward(std::size_t layer, const Report& found, Report& report) const {
  const auto place = [&](LayerStep& own) {
    if (own.step == StepId::d_X && layer > 0)
      own = {static_cast<int>(layer) - 1, gradient_of(backward_[layer - 1].result())};
    else if (layer + 1 < backward_.size() && own.step == gradient_of(backward_[layer].result()))
      return false;
    return is_gradient(own.step);
  };
  for (StepVerdict step : found.steps)
    if (place(step)) report.steps.push_back(step);
  for (Finding finding : found.findings)
    if (place(finding)) report.findings.push_back(std::move(finding));
  for (const Saying& remark : found.remarks) add_once(report.remarks, remark);
  for (const Saying& key : found.unknown) add_once(report.unknown, key);
}

Report Checker::nothing_given() const {
  Report report;
  report.layers = static_cast<int>(layers_.size());
  for (const LayerChecker& layer : layers_) layer.list(report);
  for (std::size_t i = backward_.size(); i-- > 0;) {
    Report own;
    backward_[i].list(own);
    add_backward(i, own, report);
  }
  report.of = static_cast<Index>(report.steps.size());
  return report;
}

namespace {

Report check_one(const CheckerOf& checker_of, const io::AnswerSource& answer) {
  std::shared_ptr<const Checker> checker;
  Report report;
  try {
    checker = checker_of(answer);
    if (answer.read) {
      io::Answer given = answer.read();  // throws where the answer belongs to no problem, and so to no checker
      report = checker->check(std::move(given));
    } else if (checker != nullptr) {
      report = checker->nothing_given();
    }
    report.missing = !answer.read;
  } catch (const Error& error) {
    if (checker != nullptr) report = checker->nothing_given();
    report.name = answer.file;
    report.unusable = error.sentence();
  }
  if (!answer.name.empty()) report.name = answer.name;
  report.file = answer.file;
  return report;
}

}  // namespace

std::vector<Report> check_all(const CheckerOf& checker_of, const std::vector<io::AnswerSource>& answers,
                              const Grading& grading, int threads, const std::function<void(std::size_t done)>& progress) {
  std::vector<Report> reports(answers.size());
  std::atomic<std::size_t> done = 0;
  compute::Workers workers(static_cast<int>(std::min<std::size_t>(static_cast<std::size_t>(threads), answers.size())));
  auto told = std::chrono::steady_clock::now();
  workers.each(static_cast<Index>(answers.size()), [&](Index piece, int worker) {
    Report& report = reports[static_cast<std::size_t>(piece)];
    report = check_one(checker_of, answers[static_cast<std::size_t>(piece)]);
    grade(report, grading);
    ++done;
    if (worker != 0 || std::chrono::steady_clock::now() - told < between_reports) return;  // 0: the thread that called
    progress(done);
    told = std::chrono::steady_clock::now();
  });
  return reports;
}

}  // namespace mha::study
