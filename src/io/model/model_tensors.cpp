// The tensors of one attention, found by the names of their family, and joined ones cut into queries, keys and values.
#include "io/model/model_tensors.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/utf8.hpp"

namespace mha::io {
namespace {

class Locator {
 public:
  Locator(ModelFiles& model, const AttentionPlace& place)
      : model_(model), prefix_(place.prefix), names_(names_of(place.names)) {}

  AttentionTensors locate() {
    AttentionTensors found;
    found.out_by_in = names_.out_by_in;
    if (!names_.qkv.empty()) {
      refuse_uneven(weight(names_.qkv));
      found.qkv = projection(names_.qkv, names_.b_qkv);
      cut(found, found.qkv->W.out / 3);
    } else {
      found.q = projection(names_.q, names_.b_q);
      found.k = projection(names_.k, names_.b_k);
      found.v = projection(names_.v, names_.b_v);
      cut_biases(found);
    }
    found.o = projection(names_.o, names_.b_o);
    return found;
  }

 private:
  std::string named(std::string_view key) const { return prefix_ + std::string(key); }

  [[noreturn]] void refuse(const TensorPlace& place, const std::string& sentence) const {
    throw Error(fmt::format("{}: the tensor \"{}\" {}", place.file, escape(place.tensor, 200), sentence));
  }

  TensorPlace weight(std::string_view key) {
    const std::string name = named(key);
    const SafetensorsEntry& entry = model_.tensor(name);
    TensorPlace place{model_.file_of(name), name, 0, 0, {}};
    expect_readable(entry, place.file);
    if (entry.shape.size() != 2) refuse(place, fmt::format("is {}, expected a matrix", shape_of(entry)));
    if (entry.size() == 0) refuse(place, fmt::format("is {} and holds no number", shape_of(entry)));
    place.in = entry.shape[names_.out_by_in ? 1 : 0];
    place.out = entry.shape[names_.out_by_in ? 0 : 1];
    return place;
  }

  // Of so many numbers; nothing where the model has none.
  std::optional<TensorPlace> bias(std::string_view key, Index length) {
    if (key.empty() || !model_.has(named(key))) return std::nullopt;
    const SafetensorsEntry& entry = model_.tensor(named(key));
    TensorPlace place{model_.file_of(named(key)), named(key), 1, length, {}};
    expect_readable(entry, place.file);
    if (entry.shape != std::vector<Index>{length})
      refuse(place, fmt::format("is {}, expected {} numbers, as many as its weights give", shape_of(entry), length));
    return place;
  }

  ProjectionPlaces projection(std::string_view weight_key, std::string_view bias_key) {
    ProjectionPlaces places{weight(weight_key), {}};
    places.b = bias(bias_key, places.W.out);
    return places;
  }

  void refuse_uneven(const TensorPlace& joined) const {
    if (joined.out == 3 * joined.in) return;
    const auto [rows, cols] = names_.out_by_in ? std::pair{joined.out, joined.in} : std::pair{joined.in, joined.out};
    const std::string_view expected = names_.out_by_in ? "three times as many rows as columns (out×in: Q, K, V)"
                                                       : "three times as many columns as rows (in×out: Q, K, V)";
    refuse(joined, fmt::format("is {}×{}, expected {}; this is another kind of attention", rows, cols, expected));
  }

  static TensorPlace part(const TensorPlace& whole, Index first, Index count) {
    TensorPlace place = whole;
    place.out = count;
    place.cut = {first, first + count};
    return place;
  }

  static void cut(AttentionTensors& found, Index width) {
    Index first = 0;
    for (ProjectionPlaces* places : {&found.q, &found.k, &found.v}) {
      places->W = part(found.qkv->W, first, width);
      if (found.qkv->b) places->b = part(*found.qkv->b, first, width);
      first += width;
    }
  }

  // One bias for three weights.
  void cut_biases(AttentionTensors& found) {
    const auto joined = bias(names_.b_qkv, found.q.W.out + found.k.W.out + found.v.W.out);
    if (!joined) return;
    Index first = 0;
    for (ProjectionPlaces* places : {&found.q, &found.k, &found.v}) {
      places->b = part(*joined, first, places->W.out);
      first += places->W.out;
    }
  }

  ModelFiles& model_;
  std::string prefix_;
  const TensorNames& names_;
};

}  // namespace

AttentionTensors locate_tensors(ModelFiles& model, const AttentionPlace& place) {
  return Locator(model, place).locate();
}

}  // namespace mha::io
