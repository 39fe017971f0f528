// A table with a line for each step, and a sentence for each that fails.
#include "study/check/against.hpp"

#include "io/json/writer.hpp"
#include "show/pages/page.hpp"

namespace mha::study {
namespace {

constexpr Text against_title{"Held against the CPU, step by step", "与 CPU 逐步对照"};
constexpr Text method{
    "Each step was computed again by the CPU in float64, from the very numbers that the device had before it. The bound is "
    "what {} arithmetic can account for in this entry; beside the verdict stands how near any entry comes to its own "
    "bound.",
    "每一步都由 CPU 用 float64、从设备自己的前一步结果重新计算。误差界是 {} 运算在该元素上允许的误差；判定之后是各元素误差"
    "占其误差界的最大比例。"};
constexpr Text share_header{"of bound", "占误差界"};
constexpr Text largest_header{"largest", "最大"};
constexpr Text difference_header{"difference", "差"};
constexpr Text bound_header{"bound", "误差界"};
constexpr Text at_header{"at", "位置"};
constexpr Text pass_word{"pass", "通过"};
constexpr Text fail_word{"FAIL", "不通过"};
constexpr Text all_within{"All steps are within what the arithmetic allows.", "所有步骤都在运算允许的误差之内。"};
constexpr Text fails{"{0}: the device has {1}, the CPU {2}; they differ by {3}, and {4} is allowed",
                     "{0}：设备得 {1}，CPU 得 {2}；相差 {3}，允许 {4}"};

bool is_batch(const std::vector<ComparedStep>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const ComparedStep& step) {
    return step.absolute.at.item > 0 || step.relative.at.item > 0 || step.share.at.item > 0;
  });
}

// "A2[3,1]", "packed.Q[1,2]", "Y[1,1]"
std::string entry_name(const ComparedStep& step, const Entry& at, Index base) {
  const StepName& name = name_of(step.step);
  const std::string head = step.per_head ? std::to_string(at.head + base) : "";
  const std::string_view symbol = !step.gradient.empty() ? step.gradient : is_packed(step.step) ? name.id : name.symbol;
  return fmt::format("{}{}[{},{}]", symbol, head, at.row + base, at.column + base);
}

std::string_view id_of(const ComparedStep& step) {
  return step.gradient.empty() ? name_of(step.step).id : step.gradient;
}

std::string percent(double share) {
  if (!std::isfinite(share) || share >= 1000) return "> 1000 %";
  return fmt::format("{:.0f} %", std::ceil(100 * share));
}

class AgainstPage {
 public:
  AgainstPage(const show::PageOptions& options, bool batch) : batch_(batch), page_(options.language, options.index_base) {}

  show::Document write(const std::vector<ComparedStep>& steps, const Trace& trace) {
    page_.title(against_title);
    page_.add(show::Facts{{show::Words().quote(trace.device).add(" " + std::string(dtype_name(trace.dtype))),
                           page_.say(show::phrase::counted_from, page_.counted(0))}});
    page_.paragraph(method, dtype_name(trace.dtype));
    add_table(steps);
    for (const ComparedStep& step : steps) {
      if (step.passes()) continue;
      const ComparedEntry& worst = step.share;
      page_.warning(fails, place(step, worst.at), show::short_text(worst.device), show::short_text(worst.cpu),
                    show::short_text(worst.absolute()), show::short_text(worst.bound));
    }
    if (all_pass(steps)) page_.paragraph(all_within);
    return page_.take();
  }

 private:
  std::string place(const ComparedStep& step, const Entry& at) const {
    const std::string entry = entry_name(step, at, page_.counted(0));
    return batch_ ? page_.say({"{0} of item {1}", "样本 {1} 的 {0}"}, entry, page_.counted(at.item)) : entry;
  }

  // Two lines for each step that is not equal: the largest difference, and the largest in proportion to its number.
  void add_table(const std::vector<ComparedStep>& steps) {
    show::Table table;
    table.header = page_.header(show::phrase::step, show::phrase::verdict, share_header, largest_header, difference_header,
                                bound_header, at_header);
    table.numeric = {false, false, true, false, true, true, false};
    for (const ComparedStep& step : steps) {
      const ComparedEntry &absolute = step.absolute, &relative = step.relative;
      const bool equal = absolute.absolute() == 0;
      table.rows.push_back({std::string(id_of(step)), page_.say(step.passes() ? pass_word : fail_word),
                            percent(step.share.share()), page_.say({"absolute", "绝对"}),
                            show::short_text(absolute.absolute()), equal ? "" : show::short_text(absolute.bound),
                            equal ? "" : place(step, absolute.at)});
      if (equal) continue;
      table.rows.push_back({"", "", "", page_.say({"relative", "相对"}), show::short_text(relative.relative()),
                            show::short_text(relative.bound / std::abs(relative.cpu)), place(step, relative.at)});
    }
    page_.add(std::move(table));
  }

  bool batch_;
  show::PageBuilder page_;
};

class AgainstWriter {
 public:
  AgainstWriter(io::Sink& sink, const Trace& trace) : json_(sink), trace_(trace) {}

  void write(const std::vector<ComparedStep>& steps) {
    json_.begin_file("mha-against");
    json_.text("device", trace_.device);
    json_.text("dtype", dtype_name(trace_.dtype));
    json_.text("against", "cpu f64");
    json_.boolean("pass", all_pass(steps));
    json_.begin_array("steps");
    for (const ComparedStep& step : steps) write(step);
    json_.finish();
  }

 private:
  void write(const ComparedStep& step) {
    json_.begin_object();
    json_.text("step", id_of(step));
    json_.boolean("pass", step.passes());
    write("largest_absolute", step, step.absolute);
    write("largest_relative", step, step.relative);
    write("nearest_to_bound", step, step.share);
    json_.end();
  }

  void write(std::string_view key, const ComparedStep& step, const ComparedEntry& entry) {
    json_.begin_object(key, io::Spread::line);
    json_.text("entry", entry_name(step, entry.at, 1));
    json_.integer("item", entry.at.item + 1);
    json_.number("device", entry.device);
    json_.number("cpu", entry.cpu);
    json_.number("difference", entry.absolute());
    json_.number("relative", entry.relative());
    json_.number("bound", entry.bound);
    json_.end();
  }

  io::JsonWriter json_;
  const Trace& trace_;
};

}  // namespace

bool all_pass(const std::vector<ComparedStep>& steps) {
  return std::all_of(steps.begin(), steps.end(), [](const ComparedStep& step) { return step.passes(); });
}

show::Document describe(const std::vector<ComparedStep>& steps, const Trace& trace, const show::PageOptions& options) {
  return AgainstPage(options, is_batch(steps)).write(steps, trace);
}

void write_against(io::Sink& sink, const std::vector<ComparedStep>& steps, const Trace& trace) {
  AgainstWriter(sink, trace).write(steps);
}

}  // namespace mha::study
