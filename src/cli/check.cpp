// mha check: compares answers with what follows from them, step by step, and names the likely mistake.
#include "study/check/check.hpp"

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/options.hpp"
#include "core/suggest.hpp"
#include "io/files/paths.hpp"
#include "io/problem/problem_reader.hpp"
#include "study/check/report_files.hpp"

namespace mha::cli {
namespace {

// As written on the command line.
struct CheckOptionTexts {
  std::optional<std::string> problem;
  std::vector<std::string> answers;
  std::optional<std::string> tol, rtol, sigfig, dtype, hint, threads, require, points, as, loss;
  OutputTexts output;
  PageOptionTexts page;
  bool allow_outside = false, summary = false, as_class = false;
};

constexpr std::size_t most_told = 8;  // of the files that were passed over
constexpr std::array check_formats = {Format::Kind::page, Format::Kind::json, Format::Kind::csv, Format::Kind::gradescope};

study::ToleranceOptions tolerance_from(const CheckOptionTexts& texts) {
  study::ToleranceOptions tolerance;
  if (texts.tol) tolerance.tol = parse_tolerance("--tol", *texts.tol);
  if (texts.rtol) tolerance.rtol = parse_tolerance("--rtol", *texts.rtol);
  if (texts.sigfig) tolerance.sigfig = parse_number("--sigfig", *texts.sigfig, 1, 17);
  const std::vector<std::string_view> kinds = column_of(study::float_kinds, &study::Floats::option);
  if (texts.dtype) tolerance.floats = &study::float_kinds[parse_choice("--dtype", *texts.dtype, kinds)];
  if (tolerance.sigfig && (tolerance.tol || tolerance.rtol))
    throw Error({"--sigfig says how exactly the numbers are written, --tol and --rtol how far they may be off; give one",
                 "--sigfig 说明数写到几位有效数字，--tol 和 --rtol 说明数可以差多少；请只写一种"});
  return tolerance;
}

std::optional<study::Hint> hint_from(const CheckOptionTexts& texts) {
  if (!texts.hint) return std::nullopt;
  return static_cast<study::Hint>(parse_number("--hint", *texts.hint, 1, 3));
}

double points_from(std::string_view text) {
  const std::size_t sign = text.find('=');
  if (sign == std::string_view::npos)
    throw Error({"--points '{}': expected steps and what they are worth, output=4,weights=2, or a file",
                 "--points '{}'：应为步骤和它们的分值，例如 output=4,weights=2，或一个文件"},
                text);
  return parse_tolerance(fmt::format("--points {}=", text.substr(0, sign)), text.substr(sign + 1));
}

// "all", "Q-weights", "layer2.output".
study::StepChoice choice_from(std::string_view text, std::string_view option, double points = 1) {
  const std::vector<bool> steps =
      text == "all" ? std::vector<bool>(row_count, true) : parse_steps(io::without_layer(text), option, true);
  return {steps, io::said_layer(text), points};
}

// Steps that are not named are worth 1; "all" means every one.
void set_points(const std::string& text, study::Grading& grading) {
  std::vector<std::pair<std::string, double>> points;
  if (text.find('=') == std::string::npos && io::status_of(text))
    points = io::read_points(text);
  else
    for (const std::string_view item : split_at_commas("--points", text))
      points.emplace_back(item.substr(0, item.find('=')), points_from(item));
  for (const auto& [name, value] : points) grading.points.push_back(choice_from(name, "--points", value));
}

study::Grading grading_from(const CheckOptionTexts& texts) {
  study::Grading grading;
  if (texts.points) set_points(*texts.points, grading);
  if (!texts.require) return grading;
  for (const std::string_view item : split_at_commas("--require", *texts.require))
    grading.required.push_back(choice_from(item, "--require"));
  return grading;
}

void expect_matrix_name(const std::optional<std::string>& name) {
  if (!name || io::matrix_name(io::without_layer(*name))) return;
  const std::vector<std::string> names = io::known_matrix_names();
  throw Error({"--as '{}': no matrix is called so.{}", "--as '{}'：没有叫这个名称的矩阵。{}"}, *name,
              did_you_mean_or_known(*name, std::vector<std::string_view>(names.begin(), names.end())));
}

Exit exit_of(const std::vector<study::Report>& reports) {
  Exit exit = Exit::fine;
  for (const study::Report& report : reports) exit = std::max(exit, name_of(report.verdict()).exit);
  return exit;
}

// A checker of an answer's own problem.
struct OwnChecker {
  OwnChecker(Problem own, const study::ToleranceOptions& tolerance)
      : problem(std::move(own)), checker(problem, tolerance) {}

  Problem problem;
  study::Checker checker;
};

class Check {
 public:
  Check(const CheckOptionTexts& texts, World& world)
      : texts_(texts),
        world_(world),
        tolerance_(tolerance_from(texts)),
        grading_(grading_from(texts)),
        page_(page_from(texts.page, world)),
        telling_{page_.language, page_.index_base, hint_from(texts), texts.summary},
        output_(texts.output, check_formats, style_from(texts.page, world), world) {
    expect_matrix_name(texts.as);
  }

  Exit run() {
    std::vector<std::string> names = texts_.answers;
    names.push_back(texts_.problem.value_or(""));
    refuse_two_standard_inputs(names);
    const int threads = compute::thread_count(threads_from(texts_.threads));
    const std::vector<io::AnswerSource> answers = find();
    tell_passed_over();
    if (texts_.require || texts_.points) expect_graded(answers);
    const auto is_one_array = [](const io::AnswerSource& answer) { return answer.file.ends_with(".npy"); };
    if (texts_.as && std::none_of(answers.begin(), answers.end(), is_one_array))
      throw Error({"--as says which matrix a .npy file holds, and no answer is one; leave it out",
                   "--as 说明 .npy 文件中是哪个矩阵，而没有答卷是这种文件；请去掉它"});
    if (output_.kind() == Format::Kind::gradescope && (texts_.summary || texts_.as_class))
      throw Error({"--format gradescope tells of one answer, and --summary and --class of many; leave one out",
                   "--format gradescope 说的是一份答卷，--summary 和 --class 说的是全班；请去掉一个"});
    if (output_.kind() == Format::Kind::gradescope && answers.size() != 1)
      throw Error({"--format gradescope is for one answer at a time, but there are {}",
                   "--format gradescope 一次只能用于一份答卷，而这里有 {} 份"},
                  answers.size());
    output_.open(inputs(answers));
    const std::vector<study::Report> reports = check(answers, threads);
    const bool alone = reports.size() == 1 && !texts_.as_class && !texts_.summary;
    const bool nothing_to_show = output_.kind() == Format::Kind::page && alone && reports.front().unusable;
    if (!nothing_to_show) {
      write(reports);
      output_.finish();
    }
    for (const study::Report& report : reports)
      if (report.unusable) tell_line(world_, report.unusable->in(page_.language));
    return exit_of(reports);
  }

 private:
  // A folder as PROBLEM is a class: each answer has a problem of its own, all of which it is to work out unless
  // --require says less.
  std::vector<io::AnswerSource> find() {
    const auto status = io::status_of(*texts_.problem);
    const bool is_class = status && S_ISDIR(status->st_mode) && !is_example(*texts_.problem);
    if (!is_class && texts_.answers.empty())
      throw Error({"name a problem and at least one answer: mha check worked answer.json",
                   "请写一道题目和至少一份答卷：mha check worked answer.json"});
    std::vector<io::AnswerSource> answers;
    if (!is_class) common_ = checker_for(read_problem(*texts_.problem, world_, texts_.allow_outside));
    if (common_) warn_of({&common_->problem, 1}, page_, world_);
    if (!texts_.answers.empty()) answers = io::find_answers(texts_.answers, world_.input, texts_.as, &passed_over_);
    if (!is_class) return answers;
    if (grading_.required.empty()) grading_.required = {choice_from("all", "--require")};
    return io::find_class(*texts_.problem, std::move(answers), passed_over_);
  }

  void tell_passed_over() {
    std::erase(passed_over_, texts_.output.file.value_or(""));
    if (passed_over_.empty()) return;
    const std::size_t told = std::min(passed_over_.size(), most_told);
    const std::span<const std::string> first(passed_over_.data(), told);
    tell(world_,
         {"passed over, {} in all: {}{}; answers lie in their students' folders, or in one together, a file or folder each "
          "(`mha check CLASS FOLDER`); a table needs the columns of steps.csv, or the named cells of sheet.xlsx",
          "已跳过，共 {} 个：{}{}；答卷应在各个学生的文件夹里，或收在一个文件夹里，每人一个文件或文件夹（`mha check 班级 "
          "文件夹`）；表格要有 steps.csv 的各列，或 sheet.xlsx 中命名的单元格"},
         passed_over_.size(), listed(first), passed_over_.size() > told ? Saying{", …", "……"} : Saying{});
  }

  // The steps that --require and --points name are there, in one of a class's problems at least, and the points add up.
  void expect_graded(const std::vector<io::AnswerSource>& answers) const {
    std::vector<study::StepVerdict> steps;
    double most = 0;
    for (const io::AnswerSource& answer : answers) {
      try {
        const std::shared_ptr<const study::Checker> checker = checker_of(answer);
        if (checker == nullptr) continue;
        const study::Report report = checker->nothing_given();
        double points = 0;
        for (const study::GradedStep& step : study::graded_steps(report, grading_)) points += step.points;
        most = std::max(most, points);
        steps.insert(steps.end(), report.steps.begin(), report.steps.end());
      } catch (const Error&) {  // told when the answer is checked
      }
    }
    if (steps.empty()) return;  // no problem can be read
    for (const auto& [option, text, choices] :
         {std::tuple{"--require", &texts_.require, &grading_.required}, {"--points", &texts_.points, &grading_.points}})
      for (const study::StepChoice& choice : *choices)
        if (*text && std::none_of(steps.begin(), steps.end(), [&](const auto& step) { return choice.has(step); }))
          throw Error({"{} '{}': the problem has not all of these steps; `mha run PROBLEM` shows which it has",
                       "{} '{}'：题目没有其中的某些步骤；`mha run 题目` 显示它有哪些"},
                      option, **text);
    if (most == 0 || !std::isfinite(most))
      throw Error({"--points '{}': together the steps are worth {}; give points that come to a number above 0",
                   "--points '{}'：各步骤的总分是 {}；总分应为大于 0 的有限数"},
                  *texts_.points, most);
  }

  std::shared_ptr<OwnChecker> checker_for(Problem problem) const {
    if (texts_.loss) problem.loss = io::loss_named(*texts_.loss, problem);
    return std::make_shared<OwnChecker>(std::move(problem), tolerance_);
  }

  // Null for an answer of nobody's.
  std::shared_ptr<const study::Checker> checker_of(const io::AnswerSource& answer) const {
    std::shared_ptr<OwnChecker> own = common_;
    if (!answer.problem.empty()) own = checker_for(io::read_problem_file(answer.problem, texts_.allow_outside));
    return {own, own ? &own->checker : nullptr};
  }

  std::vector<std::string> inputs(const std::vector<io::AnswerSource>& answers) const {
    std::vector<std::string> inputs = texts_.answers;
    if (texts_.points) inputs.push_back(*texts_.points);
    if (texts_.loss) inputs.push_back(texts_.loss->substr(texts_.loss->find(':') + 1));
    inputs.push_back(*texts_.problem);
    for (const io::AnswerSource& answer : answers) {
      inputs.push_back(answer.file);
      if (answer.problem.empty()) continue;
      inputs.push_back(answer.problem);
      if (!texts_.output.file) continue;
      try {
        const Problem own = io::read_problem_file(answer.problem, texts_.allow_outside);
        inputs.insert(inputs.end(), own.files.begin(), own.files.end());
      } catch (const Error&) {  // told when the answer is checked
      }
    }
    for (std::size_t i = texts_.answers.size() + (texts_.points ? 2 : 1); i-- > 0;)  // who they are of
      for (const char* name : {"/submission_metadata.yml", "/teacher/index.csv", "/index.csv"})
        if (io::status_of(inputs[i] + name)) inputs.push_back(inputs[i] + name);
    return inputs;
  }

  std::vector<study::Report> check(const std::vector<io::AnswerSource>& answers, int threads) const {
    Progress progress(world_, answers.size());
    std::vector<study::Report> reports =
        study::check_all([this](const io::AnswerSource& answer) { return checker_of(answer); }, answers, grading_, threads,
                         [&](std::size_t done) { progress.show(done); });
    progress.clear();
    return reports;
  }

  void write(const std::vector<study::Report>& reports) {
    const Caption title = common_ ? common_->problem.title : Caption();
    switch (output_.kind()) {
      case Format::Kind::page:
        return output_.write(page_, [&](const auto& page) {
          return describe(reports, title, page, telling_.hint, texts_.as_class,
                          telling_.summary_only ? study::Tell::nobody
                          : output_.has_links() ? study::Tell::everyone
                                                : study::Tell::not_right);
        });
      case Format::Kind::json: return study::write_report_json(output_.sink(), reports, telling_);
      case Format::Kind::csv: return study::write_report_csv(output_.sink(), reports, telling_);
      case Format::Kind::gradescope:
        return study::write_report_gradescope(output_.sink(), reports.front(), grading_, telling_);
      case Format::Kind::steps:
      case Format::Kind::arrays: return;  // not among those of check
    }
  }

  const CheckOptionTexts& texts_;
  World& world_;
  study::ToleranceOptions tolerance_;
  study::Grading grading_;
  show::PageOptions page_;
  study::Telling telling_;
  Output output_;
  std::shared_ptr<OwnChecker> common_;  // of all answers without a problem of their own
  std::vector<std::string> passed_over_;
};

void declare_check_options(CommandLine& app, CheckOptionTexts& texts) {
  declare_argument(app, "PROBLEM", texts.problem,
                   {"a file, - for standard input, or an example's name", "文件，- 表示标准输入，或示例的名称"});
  declare_arguments(
      app, "ANSWER", texts.answers,
      {"files (.json, .csv, .xlsx, .npz, .safetensors, .npy), folders of them or with a folder for each student, or "
       ".jsonl files with one answer on each line",
       "文件（.json、.csv、.xlsx、.npz、.safetensors、.npy）、放有它们或每个学生一个文件夹的文件夹，或每行一份答卷的 "
       ".jsonl 文件"});
  declare_flag(app, "--summary", texts.summary,
               {"how all answers together came out, and nothing of a single one", "只看全部答卷的汇总，不看单份"});
  declare_flag(app, "--class", texts.as_class,
               {"the answers are a class's: the summary first, even of a single answer",
                "答卷属于一个班：先给出汇总，即使只有一份"});
  declare_option(app, "--require", texts.require, "LIST|all",
                 {"steps without which an answer is incomplete", "缺了就算未完成的步骤"});
  declare_option(app, "--points", texts.points, "LIST|FILE",
                 {"what steps count in the score: output=4,weights=2, by default 1 each; or a JSON file with these",
                  "各步骤在得分中的分值：output=4,weights=2，默认各为 1；或写有它们的 JSON 文件"});
  declare_option(app, "--as", texts.as, "NAME",
                 {"the matrix that a .npy file holds: Y, A1, output", ".npy 文件中是哪个矩阵：Y、A1、output"});
  declare_loss(app, texts.loss);
  declare_option(app, "--hint", texts.hint, "1|2|3",
                 {"tell only the step, or also the place, or also the mistake in words",
                  "只说是哪一步，或再说位置，或再用文字说明错误"});
  declare_option(app, "--tol", texts.tol, "X",
                 {"how far a number may be off (by default as its decimals imply)", "数可以差多少（默认由小数位数得出）"});
  declare_option(app, "--rtol", texts.rtol, "X", {"the same as a share of the number", "同上，但按数的比例"});
  declare_option(app, "--sigfig", texts.sigfig, "N",
                 {"the numbers are written to N significant figures", "数写到 N 位有效数字"});
  declare_option(app, "--dtype", texts.dtype, "f64|f32|f16|bf16",
                 {"what the numbers were computed in (by default as they look)", "数是用什么精度算的（默认由数本身看出）"});
  declare_output(app, texts.output, check_formats);
  declare_threads(app, texts.threads);
  declare_page_options(app, texts.page);
  declare_allow_outside(app, texts.allow_outside);
  declare_examples(
      app,
      {"An answer holds any part of a trace: {\"heads\": [{\"weights\": ...}], \"output\": ...}, or flat: {\"A1\": ..., "
       "\"Y\": ...}.\n"
       "Each step is judged from the answer's own numbers before it, as exactly as they are written.\n"
       "A folder as PROBLEM is a class as `mha exercise --roster` makes it: each answer is held against its own problem.\n"
       "exit code: 0 all right, 1 something is wrong, incomplete or missing, 2 an answer cannot be read, 4 the report "
       "cannot be written",
       "答卷是计算记录的任何一部分：{\"heads\": [{\"weights\": ...}], \"output\": ...}，或平铺：{\"A1\": ..., \"Y\": "
       "...}。\n"
       "每一步都从答卷自己前面的数来判断，按所写的精确程度。\n"
       "题目处写文件夹就是一个班，即 `mha exercise --roster` 写出的：每份答卷与自己的题目对照。\n"
       "退出码：0 全部正确，1 有错误、未完成或未提交的，2 有答卷无法读取，4 报告无法写出"},
      {{"mha check worked answer.json                ", {"what is wrong, and why", "错在哪里，为什么"}},
       {"mha check worked answer.json --hint 2       ", {"where to look, no true number", "错在何处，但不给出正确的数"}},
       {"mha check mine.json answers/ --format csv   ",
        {"a folder of answers, one line each", "一个文件夹的答卷，每份一行"}},
       {"mha check class/ -o grades.csv              ", {"everyone's own problem", "每人自己的题目；--summary 看全班"}},
       {"mha check worked class.jsonl -o report.json ",
        {"an answer a line, with \"name\"", "每行一份答卷，各有 \"name\""}}});
}

}  // namespace

Action setup_check(CommandLine& app) {
  auto texts = std::make_shared<CheckOptionTexts>();
  declare_check_options(app, *texts);
  return [texts](World& world) {
    if (!texts->problem)
      throw Error({"name a problem and at least one answer: mha check worked answer.json",
                   "请写一道题目和至少一份答卷：mha check worked answer.json"});
    return Check(*texts, world).run();
  };
}

}  // namespace mha::cli
