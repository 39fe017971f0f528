// mha run and mha gradient: compute a problem, or its backward pass as well, and print every step, or export it.

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/options.hpp"
#include "compute/engine.hpp"
#include "core/gradient.hpp"
#include "io/arrays/trace_export.hpp"
#include "io/files/paths.hpp"
#include "io/files/sink.hpp"
#include "io/problem/problem_reader.hpp"
#include "io/problem/problem_writer.hpp"
#include "show/pages/page_parts.hpp"
#include "show/words/notation.hpp"
#include "show/words/phrases.hpp"
#include "show/writers.hpp"
#include "study/check/against.hpp"
#include "study/gradient/descent.hpp"
#include "study/table/steps_csv.hpp"

namespace mha::cli {
namespace {

// As written on the command line.
struct RunOptionTexts {
  std::vector<std::string> problem, output;
  std::optional<std::string> format, work, against, view, columns;
  SelectionTexts selection;
  bool full = false, with_weights = false, pause = false, quiet = false;
  PageOptionTexts page;
  bool allow_outside = false;
  ComputationOptionTexts computation;
  bool gradient = false;  // mha gradient, and its own:
  std::optional<std::string> loss, descend, times, next;
  bool with_forward = false;
};

constexpr Index most_cells_of_a_picture = 1 << 16;

constexpr std::array run_formats = {Format::Kind::page, Format::Kind::json, Format::Kind::steps, Format::Kind::arrays};

// Everything of the command line that can be settled without the problem.
struct RunRequest {
  std::string problem = "worked";
  std::vector<std::pair<std::string, const Format*>> outputs;
  const Format* format = nullptr;  // on stdout, when there are no outputs
  show::PageOptions page;
  show::TextStyle style;
  Arithmetic arithmetic;
  bool against_cpu = false, against_difference = false;  // instead of the page
  std::optional<double> rate;                            // of gradient descent
  int times = 1;
};

// --format goes before the ending, but arrays are what no --format names.
const Format& format_of_export(const std::string& path, const Format& otherwise, bool is_named) {
  const Format* format = format_of_file(path, run_formats);
  if (format != nullptr && is_named && format->kind == Format::Kind::arrays)
    throw Error({"-o '{}' is a file of arrays, and --format {} is another; leave --format out",
                 "-o '{}' 是数组文件，而 --format {} 是另一种格式；请去掉 --format"},
                path, otherwise.name);
  return format_of_output(path, run_formats, otherwise, is_named, true);
}

// "dA,dZ", "dS-dQ", "parameters". The forward steps stand on the page where they are asked for, and in every file.
void choose_gradients(const RunOptionTexts& texts, Selection& selection) {
  selection.steps.assign(step_count, texts.with_forward);
  if (!texts.selection.steps) return;
  constexpr std::string_view parameters = "parameters";
  std::string names;
  selection.parameters = false;
  for (const std::string_view item : split_at_commas("--steps", *texts.selection.steps)) {
    if (item == parameters) selection.parameters = true;
    if (item == parameters) continue;
    const std::size_t dash = item.find('-');
    const auto plain = [](std::string_view name) { return std::string(name.substr(name.starts_with('d') ? 1 : 0)); };
    names += (names.empty() ? "" : ",") + plain(item.substr(0, dash));
    if (dash != std::string_view::npos) names += "-" + plain(item.substr(dash + 1));
  }
  selection.gradients = names.empty() ? std::vector<bool>(step_count, false) : parse_steps(names);
}

show::PageOptions page_of_run(const RunOptionTexts& texts, const World& world, const Arithmetic& arithmetic) {
  show::PageOptions page = page_from(texts.page, world, arithmetic.rounding.value_or(show::PageOptions{}.precision));
  if (texts.gradient) choose_gradients(texts, page.selection);
  if (texts.work)
    page.work = static_cast<show::PageOptions::Work>(parse_choice("--work", *texts.work, {"first", "all", "none"}));
  page.full = texts.full;
  return page;
}

RunRequest run_request_from(const RunOptionTexts& texts, const World& world) {
  RunRequest request;
  request.problem = one_problem(texts.problem);
  request.format = &format_named(texts.format, run_formats);
  for (const std::string& path : texts.output)
    request.outputs.emplace_back(path, &format_of_export(path, *request.format, texts.format.has_value()));
  request.arithmetic = arithmetic_from(texts.computation);
  if (texts.against) {
    std::vector<std::string_view> known{"cpu"};
    if (texts.gradient) known.emplace_back("difference");
    request.against_cpu = parse_choice("--against", *texts.against, known) == 0;
    request.against_difference = !request.against_cpu;
  }
  if (request.against_difference && (request.arithmetic.rounding || request.arithmetic.dtype == Dtype::f32))
    throw Error({"--against difference needs every digit; leave out --round and --dtype f32",
                 "--against difference 需要每一位数字；请去掉 --round 和 --dtype f32"});
  if (texts.descend) request.rate = parse_tolerance("--descend", *texts.descend);
  if (texts.times) request.times = parse_number("--times", *texts.times, 1, 100000);
  if (!texts.descend && (texts.times || texts.next))
    throw Error({"{} goes with --descend, which says how far a step goes: --descend 0.1",
                 "{} 与 --descend 同用，后者给出步长：--descend 0.1"},
                texts.times ? "--times" : "--next");
  if (request.against_cpu && request.arithmetic.rounding)
    throw Error({"--against shows what the arithmetic of a device does; leave out --round, which changes every step",
                 "--against 显示设备的算术误差；请去掉会改变每一步的 --round"});
  request.page = page_of_run(texts, world, request.arithmetic);
  request.style = style_from(texts.page, world);
  if (texts.view) request.style.lines = parse_choice("--view", *texts.view, {"map", "lines"}) == 1;
  if (texts.columns) request.style.columns = parse_number("--columns", *texts.columns, 1, 100);
  return request;
}

// Whether pages are among what is written, or else whether anything but them is.
bool writes(const RunRequest& request, bool pages) {
  if (request.outputs.empty()) return (request.format->kind == Format::Kind::page) == pages;
  return std::any_of(request.outputs.begin(), request.outputs.end(),
                     [&](const auto& output) { return (output.second->kind == Format::Kind::page) == pages; });
}

// Hands rows on to every export.
class AllExports : public RowTaker {
 public:
  explicit AllExports(std::deque<io::TraceExport>& exports) : exports_(exports) {}

  void take_rows(ValueId id, Index item, Index head, Index first, Index count, const float* rows) override {
    hand_on(id, item, head, first, count, rows);
  }
  void take_rows(ValueId id, Index item, Index head, Index first, Index count, const double* rows) override {
    hand_on(id, item, head, first, count, rows);
  }

 private:
  // A file that cannot be written is told when it is committed; the computation goes on for the others.
  template <typename T>
  void hand_on(ValueId id, Index item, Index head, Index first, Index count, const T* rows) {
    std::size_t failed = 0;
    for (io::TraceExport& binary : exports_) try {
        binary.take_rows(id, item, head, first, count, rows);
      } catch (const Error&) {
        if (++failed == exports_.size()) throw;
      }
  }

  std::deque<io::TraceExport>& exports_;
};

class Run {
 public:
  Run(const RunOptionTexts& texts, RunRequest request, World& world)
      : texts_(texts),
        request_(std::move(request)),
        world_(world),
        problem_(read_problem(request_.problem, world, texts.allow_outside)) {
    if (texts_.gradient) problem_.loss = loss_from(texts_.loss, problem_, world);
    choose_item(texts_.computation, request_.page, problem_);
    SelectionTexts selection = texts_.selection;
    if (texts_.gradient) selection.steps.reset();  // which chose gradients
    choose(selection, {&problem_, 1}, request_.page);
    plan_ = make_plan(problem_);
    if (texts_.gradient) plan_ = with_gradient(std::move(plan_), *problem_.loss);
    exported_ = request_.page.selection;
    if (texts_.gradient) exported_.steps.assign(step_count, true);
  }

  // 1 where a device was held against the CPU and a step differs by more than its arithmetic allows.
  Exit tell_everything() {
    const compute::Device device = device_from(request_.arithmetic, world_);
    // The files are opened before the computation, so that a folder that cannot be written is known at once.
    io::refuse_overwriting(paths(), world_.inputs);
    std::deque<io::OutputFile> files;
    Exit opened = Exit::fine;
    std::erase_if(request_.outputs,
                  [&](const auto& output) { return !succeeds([&] { files.emplace_back(output.first); }, opened); });
    if (opened != Exit::fine && files.empty()) return opened;
    std::deque<io::OutputFile> next;
    if (texts_.next) next.emplace_back(*texts_.next);
    if (!texts_.gradient) open_exports(files, device);
    trace_ = compute::run(plan_, options(device));
    if (request_.rate) {
      compute::RunOptions how = options(device);
      descent_ = study::descend(problem_, *request_.rate, request_.times, how);
    }
    if (!next.empty()) {
      io::write_problem(next.front().sink(), descent_->problem);
      next.front().commit();
    }
    if (texts_.gradient) open_exports(files, device);  // which hold the parameters' gradients as they are joined then
    if (!texts_.quiet && !shows_any_step())
      tell(world_, {"this problem has none of the steps that --steps names, so none is shown",
                    "这道题没有 --steps 所列的步骤，因此没有内容可显示"});
    if (!texts_.quiet) {
      warn_of({&problem_, 1}, request_.page, world_);
      warn_of_overflow();
    }
    const Exit written = write_files(files);
    if (written != Exit::fine || opened != Exit::fine) return std::max(written, opened);
    if (request_.against_cpu) return write_comparison();
    if (request_.against_difference) return write_differences();
    if (files.empty()) write_to_stdout();
    return Exit::fine;
  }

 private:
  // Of what was kept. −∞ belongs into masked scores, and nowhere else.
  void warn_of_overflow() {
    for (const Step& step : plan_.steps) {
      const auto& numbers = trace_.values[static_cast<std::size_t>(step.out)];
      const Value& value = plan_.value(step.out);
      if (!value.step || numbers == nullptr) continue;
      const auto is_fine = [&](double x) { return std::isfinite(x) || (x < 0 && value.step == StepId::masked); };
      const double* end = numbers->data() + numbers->size();
      const double* at = std::find_if_not(numbers->data(), end, is_fine);
      if (at == end) continue;
      const Index head = (at - numbers->data()) / (value.shape.rows * value.shape.cols) % value.shape.heads;
      const Index base = request_.page.index_base;
      const std::optional<Index> number = value.per_head ? std::optional(head + base) : std::nullopt;
      const std::string layer =
          problem_.layers.empty() ? "" : say(world_.language, show::phrase::in_layer, step.layer + base);
      return tell(
          world_,
          {"{}{} {}: numbers pass what {} can hold and are infinite or NaN, as is what follows from them; use smaller "
           "ones in X or the weights",
           "{}{} {}：数超出了 {} 的范围，成为无穷大或 NaN，由它们得出的也是如此；请减小 X 或权重中的数"},
          layer, name_of(*value.step).title, show::symbol(*value.step, number), dtype_name(request_.arithmetic.dtype));
    }
  }

  // Where nothing but binary files is asked for, the numbers go there while they are computed, and nobody keeps them.
  bool streams() const {
    return !texts_.gradient && !exports_.empty() && exports_.size() == request_.outputs.size() && !request_.against_cpu;
  }

  compute::RunOptions options(const compute::Device& device) {
    compute::RunOptions options{kept_values(), request_.arithmetic.dtype, request_.arithmetic.rounding};
    options.device = device;
    options.threads = request_.arithmetic.threads;
    if (!streams()) return options;
    options.take = options.keep;
    for (std::size_t id = 0; id < plan_.values.size(); ++id)
      if (plan_.values[id].constant) options.take[id] = false;  // written already
    options.keep.assign(plan_.values.size(), false);
    options.taker = &takers_;
    return options;
  }

  // What is known before the run is written at once.
  void open_exports(std::deque<io::OutputFile>& files, const compute::Device& device) {
    if (texts_.gradient) gradients_ = gradients_of_parameters(problem_, plan_, trace_);
    for (std::size_t i = 0; i < files.size(); ++i)
      if (const auto format = request_.outputs[i].second->arrays)
        exports_.emplace_back(files[i], request_.outputs[i].first, *format,
                              io::trace_arrays(problem_, plan_, exported_, texts_.with_weights, gradients_),
                              request_.arithmetic.dtype, device.description);
  }

  // Where one fails, the others are written all the same.
  Exit write_files(std::deque<io::OutputFile>& files) {
    show::TextStyle plain = request_.style;
    plain.color = false;
    Exit exit = Exit::fine;
    auto binary = exports_.begin();
    for (std::size_t i = 0; i < files.size(); ++i) {
      const Format& format = *request_.outputs[i].second;
      io::TraceExport* const arrays = format.arrays ? &*binary++ : nullptr;
      const auto write_all = [&] {
        write(files[i].sink(), format, plain);
        if (arrays != nullptr && !streams()) arrays->take_trace(trace_);
        if (arrays != nullptr) arrays->finish();
        files[i].commit();
      };
      succeeds(write_all, exit);
    }
    return exit;
  }

  // Tells what cannot be written.
  template <typename Action>
  bool succeeds(const Action& write, Exit& exit) {
    try {
      return write(), true;
    } catch (const Error& error) {
      if (error.exit_code() != Exit::no_output) throw;
      tell_line(world_, error.sentence().in(world_.language));
      exit = Exit::no_output;
      return false;
    }
  }

  std::vector<std::string> paths() const {
    std::vector<std::string> result;
    for (const auto& output : request_.outputs) result.push_back(output.first);
    if (texts_.next) result.push_back(*texts_.next);
    return result;
  }

  bool shows_any_step() const {
    return std::any_of(plan_.values.begin(), plan_.values.end(),
                       [this](const Value& value) { return request_.page.selection.has(plan_, value); });
  }

  std::vector<bool> kept_values() const {
    if (request_.against_cpu || request_.against_difference) return compute::values_to_keep(plan_, Selection{}, true);
    const Selection& told = writes(request_, false) ? exported_ : request_.page.selection;
    std::vector<bool> keep = compute::values_to_keep(plan_, told, writes(request_, true));
    if (texts_.gradient) keep[static_cast<std::size_t>(plan_.forward_result())] = true;  // for the loss
    return keep;
  }

  Exit write_comparison() {
    const std::vector<study::ComparedStep> steps = study::against_cpu(plan_, trace_);
    if (request_.format->kind == Format::Kind::json)
      study::write_against(world_.out, steps, trace_);
    else
      world_.out.write(request_.format->write(describe(steps, trace_, request_.page), request_.style));
    return study::all_pass(steps) ? Exit::fine : Exit::difference;
  }

  Exit write_differences() {
    const std::vector<study::HeldGradient> held = study::against_differences(problem_, plan_, trace_);
    const bool json = request_.format->kind == Format::Kind::json;
    if (json) request_.page.index_base = 1;  // as all files
    const show::Scenes layers = show::scenes_of(problem_, plan_, trace_, request_.page);
    const Format& format = request_.format->kind == Format::Kind::page ? *request_.format : format_named({}, page_only);
    if (json)
      study::write_differences(world_.out, held, layers);
    else
      world_.out.write(format.write(describe(held, layers), request_.style));
    return study::all_hold(held) ? Exit::fine : Exit::difference;
  }

  show::Document page(const Format& format) const {
    show::PageOptions options = request_.page;
    options.sources = format.sources;
    const bool fits = problem_.queries() * problem_.keys() <= most_cells_of_a_picture;
    options.full = options.full || (format.is_whole && fits);
    show::Document document = describe(problem_, plan_, trace_, options);
    if (!descent_) return document;
    show::PageBuilder more(request_.page.language, request_.page.index_base);
    study::add_descent(*descent_, *request_.rate, request_.page.precision, more);
    for (show::Block& block : more.take().blocks) document.blocks.push_back(std::move(block));
    return document;
  }

  // Arrays are written while they are computed.
  void write(io::Sink& sink, const Format& format, const show::TextStyle& style) const {
    if (format.kind == Format::Kind::page) sink.write(format.write(page(format), style));
    if (format.kind == Format::Kind::json) io::write_trace(sink, problem_, plan_, trace_, exported_, texts_.with_weights);
    if (format.kind == Format::Kind::steps) write_steps(sink);
  }

  void write_steps(io::Sink& sink) const {
    sink.write(study::steps_csv_header);
    study::write_steps_csv(sink, problem_, plan_, trace_, exported_, 0, gradients_);
  }

  void write_to_stdout() {
    if (texts_.pause && request_.format->write == show::write_text)
      show_step_by_step(page(*request_.format), request_.style, world_);
    else
      write(world_.out, *request_.format, request_.style);
  }

  const RunOptionTexts& texts_;
  RunRequest request_;
  World& world_;
  Problem problem_;
  Plan plan_;
  Selection exported_;  // to files
  Trace trace_;
  std::optional<study::Descent> descent_;
  std::optional<Problem> gradients_;  // of the parameters, in their places
  std::deque<io::TraceExport> exports_;
  AllExports takers_{exports_};
};

// What mha run and mha gradient have in common.
void declare_run_options(CommandLine& app, RunOptionTexts& texts) {
  declare_arguments(app, "PROBLEM", texts.problem,
                    {"a file, - for standard input, or an example's name (default: worked)",
                     "文件，- 表示标准输入，或示例的名称（默认 worked）"});
  declare_repeatable(
      app, "-o,--output", texts.output, "FILE",
      say({"write to this file (repeatable); its ending says what: {}", "写到这个文件（可重复）；扩展名决定写什么：{}"},
          endings_text(run_formats)));
  declare_selection(app, texts.selection, texts.gradient);
  declare_format(app, texts.format, run_formats);
  declare_option(app, "--work", texts.work, "first|all|none",
                 {"which entries are spelled out (first)", "哪些元素写出算式（默认 first）"});
  declare_computation_options(app, texts.computation);
  declare_option(app, "--against", texts.against, texts.gradient ? "cpu|difference" : "cpu",
                 {"print how far each step is from the CPU in float64, and what the arithmetic allows, instead of the page",
                  "不打印页面，而打印每一步与 CPU 双精度结果的差，以及算术允许的差"});
  declare_page_options(app, texts.page);
  declare_allow_outside(app, texts.allow_outside);
  declare_flag(app, "--full", texts.full, {"print large matrices whole", "完整打印大矩阵"});
  declare_option(app, "--view", texts.view, "map|lines",
                 {"of an .svg: a map of the weights, or lines from queries to keys (map)",
                  "用于 .svg：权重的热图，或从查询到键的连线（map）"});
  declare_option(app, "--columns", texts.columns, "N", {"of an .svg: pictures in a row", "用于 .svg：一行放几幅图"});
  declare_flag(app, "--with-weights", texts.with_weights,
               {"put the weights and masks into the files as well", "把权重矩阵和掩码也写入文件"});
  declare_pause(app, texts.pause);
  declare_flag(app, "-q,--quiet", texts.quiet, {"no warnings", "不显示警告"});
}

void declare_run_examples(CommandLine& app) {
  declare_examples(
      app, {},
      {{"mha run                                    ", {"the worked 3×4 example", "3×4 手算示例"}},
       {"mha run mine.json --round 3                ", {"each step rounded, as with a pencil", "每步四舍五入，如同笔算"}},
       {"mha run mine.json -o trace.json            ", {"every step as JSON", "每一步写成 JSON"}},
       {"mha run mine.json -o page.html -o maps.svg ", {"for a browser and for slides", "用于浏览器和幻灯片"}},
       {"mha run mine.json --steps output -o y.npy  ", {"one matrix for NumPy", "给 NumPy 的一个矩阵"}},
       {"mha run packed --steps packed,Q --heads 2  ", {"only these steps, only head 2", "只看这些步骤和头 2"}},
       {"mha run --device gpu --dtype f32 --against cpu  ", {"each step held against the CPU", "每一步与 CPU 对照"}},
       {"mha run bag_zh --lang zh --steps weights   ", {"in Chinese", "用中文"}},
       {"cat mine.json | mha run -                  ", {"from standard input", "从标准输入"}}});
}

Action run_action(std::shared_ptr<RunOptionTexts> texts) {
  return [texts = std::move(texts)](World& world) {
    if (texts->pause) expect_terminal(world);
    return Run(*texts, run_request_from(*texts, world), world).tell_everything();
  };
}

}  // namespace

Action setup_run(CommandLine& app) {
  auto texts = std::make_shared<RunOptionTexts>();
  declare_run_options(app, *texts);
  declare_run_examples(app);
  return run_action(std::move(texts));
}

Action setup_gradient(CommandLine& app) {
  auto texts = std::make_shared<RunOptionTexts>();
  texts->gradient = true;
  declare_run_options(app, *texts);
  declare_loss(app, texts->loss);
  declare_flag(app, "--with-forward", texts->with_forward, {"show the forward steps before them", "先显示前向的各步"});
  declare_option(app, "--descend", texts->descend, "RATE",
                 {"take a step of gradient descent: each parameter less RATE times its gradient, and tell the loss",
                  "做一步梯度下降：每个参数减去 RATE 乘以它的梯度，并给出损失"});
  declare_option(app, "--times", texts->times, "N",
                 {"with --descend: so many steps, the loss after each", "与 --descend 同用：做 N 步，列出每步之后的损失"});
  declare_option(app, "--next", texts->next, "FILE.json",
                 {"with --descend: write the problem as it is then", "与 --descend 同用：写出更新之后的题目"});
  declare_examples(
      app,
      {"Every value's gradient of a loss, step by step backwards. The loss is the problem's own, or that of --loss.",
       "从后往前逐步计算损失对每个值的梯度。损失由题目给出，或由 --loss 给出。"},
      {{"mha gradient --loss sum                      ", {"the worked 3×4 example", "3×4 手算示例"}},
       {"mha gradient mine.json --steps dA,dZ         ", {"only these", "只看这些"}},
       {"mha gradient mine.json --descend 0.1 --times 9", {"watch the loss fall", "看损失下降"}},
       {"mha gradient mine.json --against difference  ", {"held against central differences", "与中心差分对照"}},
       {"mha gradient mine.json -o gradients.json     ", {"all of them as JSON", "全部写成 JSON"}}});
  return run_action(std::move(texts));
}

}  // namespace mha::cli
