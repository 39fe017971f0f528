// A table with a line for each step, and a sentence for each that fails.
#include "study/check/against_page.hpp"

#include <algorithm>
#include <cmath>

#include "io/json/writer.hpp"
#include "show/words/phrases.hpp"

namespace mha::study {
namespace {

constexpr Text title{"Held against the CPU, step by step", "与 CPU 逐步对照"};
constexpr Text method{
    "Each step was computed again by the CPU in float64, from the very numbers that the device had before it. The bound is "
    "what {} arithmetic can account for in this entry; beside the verdict stands how near any entry comes to its own "
    "bound.",
    "每一步都由 CPU 用 float64、从设备自己的前一步结果重新计算。界限是 {} 运算在该元素上允许的误差；判断之后是各元素误差"
    "占其界限的最大比例。"};
constexpr Text step_header{"step", "步骤"};
constexpr Text verdict_header{"verdict", "判断"};
constexpr Text share_header{"of bound", "占界限"};
constexpr Text largest_header{"largest", "最大"};
constexpr Text difference_header{"difference", "差"};
constexpr Text bound_header{"bound", "界限"};
constexpr Text at_header{"at", "位置"};
constexpr Text absolute_word{"absolute", "绝对"};
constexpr Text relative_word{"relative", "相对"};
constexpr Text pass_word{"pass", "通过"};
constexpr Text fail_word{"FAIL", "不符"};
constexpr Text all_pass{"All steps are within what the arithmetic allows.", "所有步骤都在运算允许的误差之内。"};
constexpr Text fails{"{0}: the device has {1}, the CPU {2}; they differ by {3}, and {4} is allowed",
                     "{0}：设备得 {1}，CPU 得 {2}；相差 {3}，允许 {4}"};
constexpr Text item_of{"{0} of item {1}", "样本 {1} 的 {0}"};

bool is_batch(const std::vector<ComparedStep>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const ComparedStep& step) {
    return step.absolute.at.item > 0 || step.relative.at.item > 0 || step.share.at.item > 0;
  });
}

// "A2[3,1]", "packed.Q[1,2]", "Y[1,1]"
std::string entry_name(StepId step, const EntryPlace& at, Index base) {
  const StepName& name = name_of(step);
  const std::string head = name.per_head ? std::to_string(at.head + base) : "";
  return fmt::format("{}{}[{},{}]", is_packed(step) ? name.id : name.symbol, head, at.row + base, at.column + base);
}

std::string short_number(double value) {
  return fmt::format("{:.3g}", value);
}

std::string percent(double share) {
  if (!std::isfinite(share) || share >= 1000) return "> 1000 %";
  return fmt::format("{:.0f} %", std::ceil(100 * share));
}

class Page {
 public:
  Page(const show::PageOptions& options, bool batch) : options_(options), language_(options.language), batch_(batch) {}

  show::Document write(const std::vector<ComparedStep>& steps, const Trace& trace) {
    page_.language = language_;
    page_.index_base = options_.index_base;
    page_.blocks.emplace_back(show::Title{{show::Words(show::say(language_, title))}});
    show::Facts facts;
    facts.parts.emplace_back(show::Words().quote(trace.device).add(" " + std::string(dtype_name(trace.dtype))));
    facts.parts.emplace_back(show::say(language_, show::phrase::counted_from, options_.index_base));
    page_.blocks.emplace_back(std::move(facts));
    note(show::Note::Kind::paragraph, show::say(language_, method, dtype_name(trace.dtype)));
    add_table(steps);
    bool pass = true;
    for (const ComparedStep& step : steps) {
      if (step.passes()) continue;
      pass = false;
      const ComparedEntry& worst = step.share;
      note(show::Note::Kind::warning, show::say(language_, fails, place(step.step, worst.at), short_number(worst.device),
                                    short_number(worst.cpu), short_number(worst.absolute()), short_number(worst.bound)));
    }
    if (pass) note(show::Note::Kind::paragraph, show::say(language_, all_pass));
    return std::move(page_);
  }

 private:
  void note(show::Note::Kind kind, std::string text) { page_.blocks.emplace_back(show::Note{kind, show::Words(std::move(text))}); }

  std::string place(StepId step, const EntryPlace& at) const {
    const std::string entry = entry_name(step, at, options_.index_base);
    return batch_ ? show::say(language_, item_of, entry, at.item + options_.index_base) : entry;
  }

  // Two lines for each step that is not equal: the largest difference, and the largest in proportion to its number.
  void add_table(const std::vector<ComparedStep>& steps) {
    show::Table table;
    for (const Text* header :
         {&step_header, &verdict_header, &share_header, &largest_header, &difference_header, &bound_header, &at_header})
      table.header.push_back(show::say(language_, *header));
    table.numeric = {false, false, true, false, true, true, false};
    for (const ComparedStep& step : steps) {
      const ComparedEntry &absolute = step.absolute, &relative = step.relative;
      const bool equal = absolute.absolute() == 0;
      table.rows.push_back({show::Words(std::string(name_of(step.step).id)),
                            show::Words(show::say(language_, step.passes() ? pass_word : fail_word)),
                            show::Words(percent(step.share.share())), show::Words(show::say(language_, absolute_word)),
                            show::Words(short_number(absolute.absolute())), show::Words(equal ? "" : short_number(absolute.bound)),
                            show::Words(equal ? "" : place(step.step, absolute.at))});
      if (equal) continue;
      table.rows.push_back(
          {show::Words(), show::Words(), show::Words(), show::Words(show::say(language_, relative_word)), show::Words(short_number(relative.relative())),
           show::Words(short_number(relative.bound / std::abs(relative.cpu))), show::Words(place(step.step, relative.at))});
    }
    page_.blocks.emplace_back(std::move(table));
  }

  const show::PageOptions& options_;
  Language language_;
  bool batch_;
  show::Document page_;
};

class AgainstWriter {
 public:
  AgainstWriter(io::Sink& sink, const Trace& trace) : json_(sink), trace_(trace) {}

  void write(const std::vector<ComparedStep>& steps) {
    json_.begin_object();
    json_.text("format", "mha-against");
    json_.integer("version", 1);
    json_.text("device", trace_.device);
    json_.text("dtype", dtype_name(trace_.dtype));
    json_.text("against", "cpu f64");
    json_.boolean("pass", std::all_of(steps.begin(), steps.end(), [](const ComparedStep& step) { return step.passes(); }));
    json_.key("steps");
    json_.begin_array();
    for (const ComparedStep& step : steps) write(step);
    json_.end();
    json_.end();
    json_.finish();
  }

 private:
  void write(const ComparedStep& step) {
    json_.begin_object();
    json_.text("step", name_of(step.step).id);
    json_.boolean("pass", step.passes());
    write("largest_absolute", step.step, step.absolute);
    write("largest_relative", step.step, step.relative);
    write("nearest_to_bound", step.step, step.share);
    json_.end();
  }

  void write(std::string_view key, StepId step, const ComparedEntry& entry) {
    json_.key(key);
    json_.begin_object(io::JsonWriter::Spread::line);
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

show::Document describe(const std::vector<ComparedStep>& steps, const Trace& trace, const show::PageOptions& options) {
  return Page(options, is_batch(steps)).write(steps, trace);
}

void write_against(io::Sink& sink, const std::vector<ComparedStep>& steps, const Trace& trace) {
  AgainstWriter(sink, trace).write(steps);
}

}  // namespace mha::study
