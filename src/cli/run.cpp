// What mha run and mha gradient do: compute a problem, or its backward pass as well, and print every step, or export it.
#include "cli/run_request.hpp"
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

constexpr Index most_cells_of_a_picture = 1 << 16;

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
    exported_.of_parameters.clear();  // in files they stand together
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
    if (!texts_.quiet) warn_of(problem_, plan_, trace_, request_.page, world_);
    const Exit written = write_files(files);
    if (written != Exit::fine || opened != Exit::fine) return std::max(written, opened);
    if (request_.against_cpu) return write_comparison();
    if (request_.against_difference) return write_differences();
    if (files.empty()) write_to_stdout();
    return Exit::fine;
  }

 private:
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
    const Selection& told = request_.writes(false) ? exported_ : request_.page.selection;
    std::vector<bool> keep = compute::values_to_keep(plan_, told, request_.writes(true));
    if (texts_.gradient) keep[static_cast<std::size_t>(plan_.forward_result())] = true;  // for the loss
    return keep;
  }

  Exit write_comparison() {
    const std::vector<study::ComparedStep> steps = study::against_cpu(plan_, trace_);
    if (request_.format->kind == Format::Kind::json)
      study::write_against(world_.out, steps, trace_);
    else
      write_page(world_.out, *request_.format, request_.style,
                 [&](const auto& page) { return describe(steps, trace_, page); });
    return study::all_pass(steps) ? Exit::fine : Exit::difference;
  }

  Exit write_differences() {
    const std::vector<study::HeldGradient> held = study::against_differences(problem_, plan_, trace_);
    const bool json = request_.format->kind == Format::Kind::json;
    if (json) request_.page.index_base = 1;  // as all files
    const Format& format = request_.format->kind == Format::Kind::page ? *request_.format : format_named({}, page_only);
    if (json)
      study::write_differences(world_.out, held, show::scenes_of(problem_, plan_, trace_, request_.page));
    else
      write_page(world_.out, format, request_.style,
                 [&](const auto& page) { return describe(held, show::scenes_of(problem_, plan_, trace_, page)); });
    return study::all_hold(held) ? Exit::fine : Exit::difference;
  }

  void write_page(io::Sink& sink, const Format& format, const show::TextStyle& style, const Describe& describe_it) const {
    sink.write(format.write(page_in(format, request_.page, describe_it), style));
  }

  // Of the steps.
  show::Document page(const Format& format) const {
    show::PageOptions asked = request_.page;
    const bool fits = problem_.queries() * problem_.keys() <= most_cells_of_a_picture;
    asked.full = asked.full || (format.is_whole && fits);
    return page_in(format, asked, [this](const show::PageOptions& options) {
      show::Document document = describe(problem_, plan_, trace_, options);
      if (!descent_) return document;
      show::PageBuilder more(options.language, options.index_base);
      study::add_descent(*descent_, *request_.rate, options.precision, more);
      for (show::Block& block : more.take().blocks) document.blocks.push_back(std::move(block));
      return document;
    });
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
  io::AllExports takers_{exports_};
};

}  // namespace

Exit compute_and_tell(const RunOptionTexts& texts, RunRequest request, World& world) {
  return Run(texts, std::move(request), world).tell_everything();
}

}  // namespace mha::cli
