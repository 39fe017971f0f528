// The arrays of a trace, listed as the writer of the JSON lists them, and the binary formats. A .npz file is a zip archive
// whose entries are stored, so that sizes and places are known before the numbers are; a library would want each entry
// whole, and copies the archive when it closes it.
#include "io/arrays/trace_export.hpp"

#include <fmt/ranges.h>

#include "core/mask.hpp"
#include "io/json/writer.hpp"
#include "io/problem/problem_writer.hpp"

namespace mha::io {
namespace {

class ArrayLister {
 public:
  ArrayLister(const Problem& whole, const Plan& plan, const Selection& selection)
      : whole_(whole), plan_(plan), selection_(selection) {}

  std::vector<TraceArray> list(bool with_weights, const std::optional<Problem>& gradients) {
    list_steps(with_weights ? &whole_ : nullptr);
    if (!gradients) return std::move(arrays_);
    before_ = "gradients.";
    list_steps(selection_.parameters ? &*gradients : nullptr);
    return std::move(arrays_);
  }

 private:
  bool backward() const { return !before_.empty(); }

  void list_steps(const Problem* parameters) {
    const bool stack = !whole_.layers.empty();
    if (parameters != nullptr) {
      if (whole_.X_kv && !backward()) add_given("parameters.X_kv", *whole_.X_kv, batch_axes(*whole_.X_kv));
      if (stack) add_parameters(*parameters, "");  // of the final norm
      for (int layer = 0; layer < whole_.layer_count(); ++layer)
        if (!backward() || selection_.has_layer(layer)) add_parameters(parameters->layer(layer), prefix(layer));
    }
    if (backward())
      add_gradients_of_inputs();
    else if (selection_.has(StepId::X))
      add_given("X", whole_.X, batch_axes(whole_.X));
    for (int layer = 0; layer < whole_.layer_count(); ++layer)
      if (selection_.has_layer(layer)) add_layer(layer);
    add_step(name_of(StepId::final_norm), "final_norm", 0, 0);
  }

  // "layers.2."; empty where there is no stack.
  std::string prefix(int layer) const { return whole_.layers.empty() ? "" : fmt::format("layers.{}.", layer + 1); }

  std::vector<Index> batch_axes(const Tensor& tensor) const {
    const Shape& shape = tensor.shape();
    if (whole_.batched) return {shape.batch, shape.rows, shape.cols};
    return {shape.rows, shape.cols};
  }

  void add_layer(int layer) {
    const auto add = [&](auto belongs) {
      for (const StepName& step : step_names)
        if (belongs(step)) add_step(step, prefix(layer) + std::string(step.id), layer, 0);
    };
    add([](const StepName& step) { return step.step == StepId::norm || is_packed(step.step); });
    for (Index head = 0; head < whole_.layer(layer).heads; ++head) {
      if (!selection_.has_head(head)) continue;
      for (const StepName& step : step_names)
        if (step.per_head) add_step(step, fmt::format("{}heads.{}.{}", prefix(layer), head + 1, step.id), layer, head);
    }
    add([](const StepName& step) { return step.step >= StepId::concat && step.step != StepId::final_norm; });
  }

  void add_gradients_of_inputs() {
    for (std::size_t id = 0; id < plan_.values.size(); ++id) {
      const Value& value = plan_.values[id];
      if (value.gradient == Value::Gradient::whole && plan_.value(value.of).role == Value::Role::input)
        add_value(plan_.value(value.of).symbol, static_cast<ValueId>(id), 0, 1);
    }
  }

  void add_step(const StepName& step, const std::string& name, int layer, Index head) {
    std::optional<ValueId> value = plan_.find(step.step, layer);
    if (value && backward()) value = plan_.gradient(*value);
    if (value) add_value(name, *value, head, whole_.layer(layer).heads);
  }

  void add_value(const std::string& name, ValueId value, Index head, Index heads) {
    if (!selection_.has(plan_, plan_.value(value))) return;
    const Shape& shape = plan_.value(value).shape;
    TraceArray array{before_ + name, {shape.rows, shape.cols}, value, broadcast(head, shape.heads, heads), {}, 0};
    if (whole_.batched) array.axes.insert(array.axes.begin(), shape.batch);
    arrays_.push_back(std::move(array));
  }

  // The problem outlives the arrays, so that nobody needs to own its tensors.
  void add_given(std::string name, const Tensor& tensor, std::vector<Index> axes) {
    arrays_.push_back({std::move(name), std::move(axes), -1, 0, {std::shared_ptr<void>(), &tensor}, 0});
  }

  void add_parameters(const Problem& layer, const std::string& before) {
    for (Parameter& parameter : parameters_in(layer)) {
      std::string place(parameter.place);
      if (is_list(parameter.place)) place += fmt::format(".{}", parameter.entry + 1);
      if (!place.empty()) place += ".";
      arrays_.push_back({fmt::format("{}{}parameters.{}{}", before_, before, place, parameter.key),
                         std::move(parameter.axes), -1, 0, std::move(parameter.tensor), parameter.first_row});
    }
    if (backward()) return;
    // "mask.allow"; in a list "mask.2.allow".
    for (std::size_t i = 0; i < layer.masks.size(); ++i) {
      const Mask& mask = layer.masks[i];
      if (mask.matrix.size() == 0) continue;
      const std::string number = layer.mask_is_list ? fmt::format("{}.", i + 1) : "";
      add_given(fmt::format("{}parameters.mask.{}{}", before, number, mask_name(mask.kind)), mask.matrix, axes_of(mask));
    }
  }

  // As many as the file had.
  static std::vector<Index> axes_of(const Mask& mask) {
    const Shape& shape = mask.matrix.shape();
    switch (mask.matrix_axes) {
      case 1: return {shape.cols};
      case 2: return {shape.size() / shape.cols, shape.cols};
      case 3: return {shape.batch, shape.rows, shape.cols};
      default: return {shape.batch, shape.heads, shape.rows, shape.cols};
    }
  }

  const Problem& whole_;
  const Plan& plan_;
  const Selection& selection_;
  std::string before_;  // "gradients." while these are listed
  std::vector<TraceArray> arrays_;
};

Index data_bytes(const TraceArray& array, Dtype dtype) {
  return array.rows() * array.cols() * bytes_of(dtype);
}

// So many bytes for each number, little-endian.
template <int bytes, typename... Numbers>
std::string little(Numbers... numbers) {
  std::string text;
  const auto put = [&text](std::uint64_t number) {
    for (int i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i) & 255U);
  };
  (put(static_cast<std::uint64_t>(numbers)), ...);
  return text;
}

// Version 1.0, filled with spaces so that the numbers begin at a multiple of 64 bytes.
std::string npy_header(const TraceArray& array, Dtype dtype) {
  constexpr std::size_t alignment = 64, before = 10;
  std::string text =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", dtype == Dtype::f32 ? "<f4" : "<f8",
                  fmt::join(array.axes, ", "), array.axes.size() == 1 ? "," : "");
  const std::size_t length = (before + text.size() + alignment) / alignment * alignment - before;  // 1 more for the newline
  text.resize(length - 1, ' ');
  return std::string("\x93NUMPY\x01\x00", 8) + little<2>(length) + text + "\n";
}

// {"__metadata__": {…}, "output": {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]}, …}
std::string safetensors_header(const std::vector<TraceArray>& arrays, Dtype dtype,
                               const std::vector<std::pair<std::string, std::string>>& metadata) {
  StringSink text;
  const auto writer = std::make_unique<JsonWriter>(text);
  JsonWriter& json = *writer;
  constexpr auto line = Spread::line;
  json.begin_object(line);
  json.begin_object("__metadata__", line);
  for (const auto& [key, value] : metadata) json.text(key, value);
  json.end();
  Index begin = 0;
  for (const TraceArray& array : arrays) {
    const Index end = begin + data_bytes(array, dtype);
    json.begin_object(array.name, line);
    json.text("dtype", dtype == Dtype::f32 ? "F32" : "F64");
    json.integers("shape", array.axes);
    json.integers("data_offsets", std::array{begin, end});
    json.end();
    begin = end;
  }
  json.finish();
  return text.text();
}

constexpr std::uint32_t local_signature = 0x04034b50, entry_signature = 0x02014b50, end_signature = 0x06054b50;
constexpr std::uint32_t end64_signature = 0x06064b50, locator64_signature = 0x07064b50;
constexpr int plain_version = 20, zip64_version = 45;
constexpr std::uint32_t first_of_1980 = 0x00210000;  // the date of all entries: the same numbers give the same bytes
constexpr std::uint32_t see_zip64 = 0xFFFFFFFF;

struct ZippedArray {
  std::string name;
  Index size;  // of the .npy array, header and all
  bool large;  // the size needs the 64-bit form
  std::uint32_t crc = 0;
  Index begin = 0;
};

ZippedArray zipped(const TraceArray& array, Dtype dtype, Index large) {
  const Index size = static_cast<Index>(npy_header(array, dtype).size()) + data_bytes(array, dtype);
  return {array.name + ".npy", size, size >= large};
}

std::string local_header(const ZippedArray& entry) {
  const std::uint64_t size = entry.large ? see_zip64 : static_cast<std::uint64_t>(entry.size);
  return little<4>(local_signature) + little<2>(entry.large ? zip64_version : plain_version, 0, 0) +
         little<4>(first_of_1980, entry.crc, size, size) + little<2>(entry.name.size(), entry.large ? 20 : 0) + entry.name +
         (entry.large ? little<2>(1, 16) + little<8>(entry.size, entry.size) : "");
}

std::string directory_entry(const ZippedArray& entry, Index large) {
  const bool far = entry.begin >= large;
  const std::uint64_t size = entry.large ? see_zip64 : static_cast<std::uint64_t>(entry.size);
  const std::uint64_t begin = far ? see_zip64 : static_cast<std::uint64_t>(entry.begin);
  const int extra = (entry.large ? 16 : 0) + (far ? 8 : 0);
  const int version = extra > 0 ? zip64_version : plain_version;
  return little<4>(entry_signature) + little<2>(version, version, 0, 0) + little<4>(first_of_1980, entry.crc, size, size) +
         little<2>(entry.name.size(), extra > 0 ? extra + 4 : 0, 0, 0, 0) + little<4>(0, begin) + entry.name +
         (extra > 0 ? little<2>(1, extra) : "") + (entry.large ? little<8>(entry.size, entry.size) : "") +
         (far ? little<8>(entry.begin) : "");
}

std::string end_of_directory(std::size_t entries, Index begin, Index size, Index large) {
  if (entries < 0xFFFF && begin < large && size < large)
    return little<4>(end_signature) + little<2>(0, 0, entries, entries) + little<4>(size, begin) + little<2>(0);
  return little<4>(end64_signature) + little<8>(44) + little<2>(zip64_version, zip64_version) + little<4>(0, 0) +
         little<8>(entries, entries, size, begin) + little<4>(locator64_signature, 0) + little<8>(begin + size) +
         little<4>(1, end_signature) + little<2>(0, 0, 0xFFFF, 0xFFFF) + little<4>(see_zip64, see_zip64) + little<2>(0);
}

}  // namespace

Index TraceArray::rows() const {
  Index rows = 1;
  for (std::size_t axis = 0; axis + 1 < axes.size(); ++axis) rows *= axes[axis];
  return rows;
}

std::vector<TraceArray> trace_arrays(const Problem& problem, const Plan& plan, const Selection& selection,
                                     bool with_weights, const std::optional<Problem>& gradients) {
  return ArrayLister(problem, plan, selection).list(with_weights, gradients);
}

ArrayLayout npy_layout(const TraceArray& array, Dtype dtype) {
  std::string header = npy_header(array, dtype);
  const auto begin = static_cast<Index>(header.size());
  return {{begin}, {{0, std::move(header)}}, begin + data_bytes(array, dtype)};
}

ArrayLayout safetensors_layout(const std::vector<TraceArray>& arrays, Dtype dtype,
                               const std::vector<std::pair<std::string, std::string>>& metadata) {
  std::string header = safetensors_header(arrays, dtype, metadata);
  header.back() = ' ';  // the newline
  header.resize((header.size() + 7) / 8 * 8, ' ');
  ArrayLayout layout;
  layout.size = static_cast<Index>(8 + header.size());
  layout.around.push_back({0, little<8>(header.size()) + header});
  for (const TraceArray& array : arrays) {
    layout.begins.push_back(layout.size);
    layout.size += data_bytes(array, dtype);
  }
  return layout;
}

ArrayLayout npz_layout(const std::vector<TraceArray>& arrays, Dtype dtype, Index large) {
  ArrayLayout layout;
  for (const TraceArray& array : arrays) {
    const ZippedArray entry = zipped(array, dtype, large);
    layout.size += static_cast<Index>(local_header(entry).size());
    layout.around.push_back({layout.size, npy_header(array, dtype)});
    layout.size += entry.size;
    layout.begins.push_back(layout.size - data_bytes(array, dtype));
  }
  return layout;
}

std::vector<FilePiece> npz_directory(const std::vector<TraceArray>& arrays, Dtype dtype, const ArrayLayout& layout,
                                     const std::function<std::uint32_t(Index begin, Index count)>& crc, Index large) {
  std::vector<FilePiece> pieces;
  std::string directory;
  Index begin = 0;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    ZippedArray entry = zipped(arrays[i], dtype, large);
    entry.begin = begin;
    entry.crc = crc(layout.around[i].begin, entry.size);
    pieces.push_back({begin, local_header(entry)});
    directory += directory_entry(entry, large);
    begin = layout.around[i].begin + entry.size;
  }
  directory += end_of_directory(arrays.size(), begin, static_cast<Index>(directory.size()), large);
  pieces.push_back({begin, std::move(directory)});
  return pieces;
}

}  // namespace mha::io
