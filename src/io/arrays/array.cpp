// Arrays in files. The bytes may lie anywhere and in either order, so each number is copied out first. Of the files that
// hold arrays, one function for each format.
#include "io/arrays/array.hpp"

#include <bit>
#include <cstring>
#include <limits>

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "core/utf8.hpp"
#include "io/files/input_file.hpp"
#include "io/json/tree.hpp"

namespace mha::io {
namespace {

struct Half {
  std::uint16_t bits;
};
struct Brain {
  std::uint16_t bits;
};
struct TruthValue {
  std::uint8_t bits;
};

// IEEE 754 binary16: 1 bit of sign, 5 of exponent, 10 of fraction; every one of them is a float.
float value_of(Half half) {
  const auto sign = static_cast<std::uint32_t>(half.bits >> 15U) << 31U;
  const std::uint32_t exponent = half.bits >> 10U & 31U, fraction = half.bits & 1023U;
  if (exponent == 0) return std::copysign(static_cast<float>(fraction) * 0x1p-24F, std::bit_cast<float>(sign));
  const std::uint32_t wide = exponent == 31 ? 255U : exponent + 112U;
  return std::bit_cast<float>(sign | wide << 23U | fraction << 13U);
}
float value_of(Brain brain) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(brain.bits) << 16U);
}
int value_of(TruthValue boolean) {
  return boolean.bits;
}
template <typename Number>
Number value_of(Number number) {
  return number;
}

template <typename Number, bool swapped>
struct Loader {
  static constexpr std::ptrdiff_t bytes = sizeof(Number);

  auto operator()(const std::byte* from) const {
    std::array<std::byte, sizeof(Number)> own;
    std::memcpy(own.data(), from, sizeof(Number));
    if constexpr (swapped) std::reverse(own.begin(), own.end());
    return value_of(std::bit_cast<Number>(own));
  }
};

template <typename Number>
bool is_exact(Number number) {
  if constexpr (std::is_integral_v<Number> && sizeof(Number) == 8) {
    constexpr Number largest = Number(1) << 53U;
    if (number <= largest && (std::is_unsigned_v<Number> || number >= Number(0) - largest)) return true;
    const auto twos = static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(number)));
    const auto bits =
        static_cast<unsigned>(std::bit_width(std::is_signed_v<Number> && number < 0 ? 0 - static_cast<std::uint64_t>(number)
                                                                                    : static_cast<std::uint64_t>(number)));
    return bits - twos <= 53;
  }
  return true;
}

// Calls the function with a value of the type in which these numbers are stored.
template <typename Function>
auto with_type(NumberType type, Function function) {
  switch (type) {
    case NumberType::f16: return function(Half{});
    case NumberType::bf16: return function(Brain{});
    case NumberType::f32: return function(float{});
    case NumberType::f64: return function(double{});
    case NumberType::i8: return function(std::int8_t{});
    case NumberType::i16: return function(std::int16_t{});
    case NumberType::i32: return function(std::int32_t{});
    case NumberType::i64: return function(std::int64_t{});
    case NumberType::u8: return function(std::uint8_t{});
    case NumberType::u16: return function(std::uint16_t{});
    case NumberType::u32: return function(std::uint32_t{});
    case NumberType::u64: return function(std::uint64_t{});
    case NumberType::boolean: return function(TruthValue{});
  }
  return function(double{});
}

template <typename Function>
auto with_loader(const RawNumbers& from, Function function) {
  const bool swapped = from.big_endian != (std::endian::native == std::endian::big);
  return with_type(from.type, [&](auto number) {
    using Number = decltype(number);
    return swapped ? function(Loader<Number, true>()) : function(Loader<Number, false>());
  });
}

template <typename Load, typename T>
inline bool convert_all(Load load, const std::byte* first, std::ptrdiff_t step, std::int64_t count, T* to) {
  bool flawed = false;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto number = load(first + i * step);
    to[i] = static_cast<T>(number);
    flawed |= !(std::abs(to[i]) <= std::numeric_limits<T>::max());
    if constexpr (std::is_integral_v<decltype(number)>) flawed |= !is_exact(number);
  }
  return flawed;
}

using SharedFile = std::shared_ptr<const MappedFile>;

MatrixArchive open_npy(const SharedFile& file, const std::string& shown) {
  auto array = std::make_shared<StoredArray>();
  array->name = shown;
  array->file = file;
  array->header = read_npy_header({reinterpret_cast<const char*>(file->data()), file->size()}, file->size(), shown);
  file->expect_whole();
  return {"", {""}, [array](const std::string&) { return array; }};
}

MatrixArchive open_safetensors(const SharedFile& file, const std::string& shown) {
  const auto header = std::make_shared<const SafetensorsHeader>(read_safetensors_header(file->file(), shown));
  MatrixArchive archive{"tensor", {}, {}};
  for (const SafetensorsEntry& entry : header->tensors) archive.names.push_back(entry.name);
  archive.array = [file, shown, header](const std::string& name) -> std::shared_ptr<const StoredArray> {
    const SafetensorsEntry* const entry = header->find(name);
    if (entry == nullptr) return nullptr;
    expect_readable(*entry, shown);
    auto array = std::make_shared<StoredArray>();
    array->name = fmt::format("{} · {}", shown, escape(name, 80));
    array->file = file;
    array->header = {*entry->type, false, false, entry->shape, static_cast<std::size_t>(entry->begin)};
    check_size(array->header, array->name);
    if (static_cast<std::size_t>(entry->end) > file->size())  // it grew since it was mapped
      throw Error({"{}: the file changed while it was read; run again", "{}：读取时文件发生了变化；请重新运行"}, shown);
    return array;
  };
  return archive;
}

}  // namespace

template <typename T>
bool convert(const RawNumbers& from, std::int64_t count, T* to) {
  return with_loader(from, [&](auto load) {
    bool flawed = from.stride == 1 ? convert_all(load, from.first, load.bytes, count, to)  // so that it is vectorised
                                   : convert_all(load, from.first, load.bytes * from.stride, count, to);
    if (from.type == NumberType::boolean)
      for (std::int64_t i = 0; i < count; ++i) flawed |= to[i] > 1;
    return flawed;
  });
}
template bool convert(const RawNumbers&, std::int64_t, float*);
template bool convert(const RawNumbers&, std::int64_t, double*);

template <typename T>
Flaw flaw_of(const RawNumbers& from, std::int64_t index) {
  return with_loader(from, [&](auto load) {
    const auto number = load(from.first + index * from.stride * load.bytes);
    if (!std::isfinite(static_cast<double>(number))) return Flaw::not_finite;
    if (!is_exact(number)) return Flaw::not_exact;
    if (from.type == NumberType::boolean && static_cast<double>(number) > 1) return Flaw::no_boolean;
    return std::isfinite(static_cast<T>(number)) ? Flaw::none : Flaw::too_large;
  });
}
template Flaw flaw_of<float>(const RawNumbers&, std::int64_t);
template Flaw flaw_of<double>(const RawNumbers&, std::int64_t);

std::string text_of(const RawNumbers& from, std::int64_t index) {
  return with_loader(from,
                     [&](auto load) { return fmt::format("{}", load(from.first + index * from.stride * load.bytes)); });
}

std::size_t ArrayHeader::data_bytes() const {
  auto bytes = static_cast<std::size_t>(bytes_of(type));
  for (const Index axis : axes) bytes *= static_cast<std::size_t>(axis);
  return bytes;
}

const std::byte* StoredArray::data() const {
  if (!decompress) return file->data() + header.data_begin;
  const std::lock_guard lock(mutex_);
  if (decompressed_.empty()) decompressed_ = decompress();
  return decompressed_.data() + header.data_begin;
}

void check_size(const ArrayHeader& header, std::string_view name) {
  if (std::find(header.axes.begin(), header.axes.end(), 0) != header.axes.end())
    throw Error({"{}: the shape {} holds no numbers", "{}：形状 {} 不含任何数"}, name, shape_text(header.axes));
  Index bytes = bytes_of(header.type);
  for (const Index axis : header.axes)
    if (axis < 0 || __builtin_mul_overflow(bytes, axis, &bytes))
      throw Error({"{}: the shape {} is larger than any file", "{}：形状 {} 比任何文件都大"}, name,
                  shape_text(header.axes));
}

Saying MatrixArchive::known(const std::string& name) const {
  constexpr std::size_t most = 20;
  const std::vector<std::string_view> views(names.begin(), names.end());
  Saying near = did_you_mean(name, views);
  if (!near.en.empty()) return near;
  if (names.empty()) return {" There is none in it.", "文件中没有数组。"};
  std::string list;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) list += (i == 0 ? "" : ", ") + escape(names[i], 80);
  if (names.size() <= most) return say({" It holds {}.", "文件中有：{}。"}, list);
  return say({" It holds {} and {} more.", "文件中有：{}，另外还有 {} 个。"}, list, names.size() - most);
}

MatrixArchive open_matrix_archive(const std::string& path, const std::string& written) {
  const std::string shown = escape(written, 80);
  const auto open = [&path] { return std::make_shared<const MappedFile>(path); };
  if (written.ends_with(".npy")) return open_npy(open(), shown);
  if (written.ends_with(".npz")) return open_npz(open(), shown);
  if (written.ends_with(".safetensors")) return open_safetensors(open(), shown);
  const bool table = written.ends_with(".csv") || written.ends_with(".tsv") || written.ends_with(".txt");
  throw Error({"{0}: matrices are read from .npy, .npz and .safetensors files; the ending says which{1}",
               "{0}：矩阵从 .npy、.npz 和 .safetensors 文件中读取，由扩展名区分{1}"},
              shown,
              table ? say({". NumPy makes one of a table: np.save(\"X.npy\", np.loadtxt(\"{}\", delimiter=\",\"))",
                           "。用 NumPy 可由表格得到：np.save(\"X.npy\", np.loadtxt(\"{}\", delimiter=\",\"))"},
                          shown)
                    : Saying{});
}

}  // namespace mha::io
