// Writes steps for a spreadsheet, from the list of arrays that the binary files have.
#include "study/table/steps_csv.hpp"

#include "core/csv.hpp"
#include "io/arrays/trace_export.hpp"
#include "io/json/writer.hpp"
#include "show/pages/scene.hpp"

namespace mha::study {
namespace {

// "gradients.layers.2.heads.1.weights" is layer 2, head 1, "dweights".
struct PlaceInTrace {
  std::string layer, head, step;

  explicit PlaceInTrace(std::string_view name) {
    std::string before;
    const auto takes = [&](std::string_view prefix) {
      const bool found = name.starts_with(prefix);
      if (found) name.remove_prefix(prefix.size());
      return found;
    };
    const auto number = [&] {
      const std::size_t dot = name.find('.');
      const std::string text(name.substr(0, dot));
      name.remove_prefix(dot + 1);
      return text;
    };
    if (takes("gradients.")) before = "d";
    if (takes("layers.")) layer = number();
    takes("parameters.");
    if (takes("heads.") || takes("kv_heads.")) head = number();
    step = before + std::string(name);
  }
};

// As in JSON, where what is no finite number stands in quotation marks.
std::string_view number_field(double value, Dtype dtype, std::array<char, io::number_text_size>& room) {
  const char* const end =
      dtype == Dtype::f32 ? io::write_number(room.data(), static_cast<float>(value)) : io::write_number(room.data(), value);
  const std::string_view text(room.data(), static_cast<std::size_t>(end - room.data()));
  return text.front() == '"' ? text.substr(1, text.size() - 2) : text;
}

std::vector<std::string> label_fields(const std::vector<std::string>& labels) {
  std::vector<std::string> fields;
  for (const std::string& label : labels) fields.push_back(csv_line({csv_text(label)}, ""));
  return fields;
}

}  // namespace

void write_steps_csv(io::Sink& sink, const Problem& problem, const Plan& plan, const Trace& trace,
                     const Selection& selection, Index past, const std::optional<Problem>& gradients) {
  std::array<char, io::number_text_size> room;
  for (const io::TraceArray& array : io::trace_arrays(problem, plan, selection, false, gradients)) {
    const Tensor* const value = array.value < 0 ? array.given.get() : trace.value(array.value);
    if (value == nullptr) continue;
    const PlaceInTrace place(array.name);
    const bool is_parameter = array.value < 0 && place.step != name_of(StepId::X).id;
    const Index items = problem.batched && !is_parameter ? value->shape().batch : 1;
    const Index rows = is_parameter ? array.rows() : value->shape().rows, cols = value->shape().cols;
    const show::Axes axes = array.value < 0 ? show::Axes{is_parameter ? show::Axis::none : show::Axis::queries}
                                            : show::axes_of(plan, plan.value(array.value));
    for (Index item = 0; item < items; ++item) {
      const std::vector<std::string> row_labels = label_fields(labels_of(problem, axes.rows, item)),
                                     column_labels = label_fields(labels_of(problem, axes.columns, item));
      const auto label = [](const std::vector<std::string>& labels, Index i) {
        return static_cast<std::size_t>(i) < labels.size() ? labels[static_cast<std::size_t>(i)] : std::string();
      };
      const double* number = is_parameter ? value->data() + array.first_row * cols : value->matrix(item, array.head);
      for (Index row = 0; row < rows; ++row) {
        std::string lines;
        for (Index column = 0; column < cols; ++column)
          fmt::format_to(std::back_inserter(lines), "{},{},{},{},{},{},{},{},{}\n", place.layer, place.head,
                         problem.batched && !is_parameter ? fmt::format("{}", item + 1) : "", place.step, past + row + 1,
                         column + 1, label(row_labels, past + row), label(column_labels, column),
                         number_field(*number++, trace.dtype, room));
        sink.write(lines);
      }
    }
  }
}

}  // namespace mha::study
