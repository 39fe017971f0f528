// The header of a .safetensors file, believed in nothing: 8 bytes with the length of a JSON object, the object, the data.
#include "io/arrays/array.hpp"

#include <fmt/ranges.h>

#include <cerrno>
#include <tuple>

#include "core/error.hpp"
#include "core/suggest.hpp"
#include "core/utf8.hpp"
#include "io/json/reader.hpp"
#include "io/json/tree.hpp"

namespace mha::io {
namespace {

constexpr Index length_bytes = 8;
constexpr Index longest_header = 100'000'000;  // as the format's own library has it
constexpr std::string_view metadata_key = "__metadata__";

// Types that the format has and mha does not read.
struct OtherDtype {
  std::string_view name;
  int bits;
};
constexpr std::array other_dtypes = {
    OtherDtype{"F8_E4M3", 8}, OtherDtype{"F8_E5M2", 8},     OtherDtype{"F8_E8M0", 8},
    OtherDtype{"F6_E2M3", 6}, OtherDtype{"F6_E3M2", 6},     OtherDtype{"F4", 4},
    OtherDtype{"C64", 64},    OtherDtype{"F8_E4M3FNUZ", 8}, OtherDtype{"F8_E5M2FNUZ", 8},
};

// What people take for a .safetensors file.
struct OtherFormat {
  std::string_view beginning;
  Text sentence;
};
constexpr std::array other_formats = {
    OtherFormat{
        "PK\x03\x04",
        {"this is a zip file, as PyTorch writes its .bin and .pt; save the tensors with the safetensors package first",
         "这是 zip 文件，PyTorch 的 .bin 和 .pt 就是这样；请先用 safetensors 软件包保存张量"}},
    OtherFormat{
        "\x80\x02",
        {"this is a pickle, as older PyTorch writes its .bin and .pt; save the tensors with the safetensors package first",
         "这是 pickle 文件，较早的 PyTorch 的 .bin 和 .pt 就是这样；请先用 safetensors 软件包保存张量"}},
    OtherFormat{"\x93NUMPY", {"this is a .npy file; name it so", "这是 .npy 文件；请用这个扩展名命名"}},
    OtherFormat{
        "GGUF",
        {"this is a GGUF file; take the .safetensors files of the model", "这是 GGUF 文件；请用模型的 .safetensors 文件"}},
    OtherFormat{"version https://git-lfs",
                {"this is only Git's pointer to the file; fetch the file itself: git lfs pull",
                 "这只是 Git 指向文件的指针；请取来文件本身：git lfs pull"}},
};

// Refusals of one file.
class Refusal {
 public:
  explicit Refusal(std::string_view path) : path_(path) {}
  template <typename... Parts>
  [[noreturn]] void operator()(const Text& sentence, const Parts&... parts) const {
    throw Error({"{}: {}", "{}：{}"}, path_, say(sentence, parts...));
  }
  template <typename... Parts>
  [[noreturn]] void operator()(const SafetensorsEntry& entry, const Text& sentence, const Parts&... parts) const {
    (*this)({"{}: {}", "{}：{}"}, tensor_called(entry.name), say(sentence, parts...));
  }

 private:
  std::string_view path_;
};

Index size_of_file(const InputFile& file, std::string_view path) {
  const struct stat status = file.status();
  if (S_ISDIR(status.st_mode)) throw named(path, EISDIR);
  if (!S_ISREG(status.st_mode))
    throw Error(
        {"{}: this is no file that can be read in places; copy it to one", "{}：这种文件不能从中间读取；请复制成普通文件"},
        path);
  return status.st_size;
}

// The length of the JSON object, by the first 8 bytes of a file of so many bytes. A file of another kind is called by its
// name.
Index header_length(std::string_view first_bytes, Index file_size, const Refusal& refuse) {
  const auto fail = [&](const Text& sentence, const auto&... parts) {
    for (const OtherFormat& other : other_formats)
      if (first_bytes.starts_with(other.beginning.substr(0, length_bytes))) refuse(other.sentence);
    refuse(sentence, parts...);
  };
  if (file_size < length_bytes)
    fail({"it has {}, too few for a .safetensors file, which begins with 8 bytes that say how long its header is",
          "只有 {}，对 .safetensors 文件来说太少：开头的 8 个字节说明文件头有多长"},
         counted(file_size, "byte"));
  std::uint64_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) length = length << 8U | static_cast<unsigned char>(first_bytes[i]);
  if (length > static_cast<std::uint64_t>(longest_header))
    fail({"its first 8 bytes say that the header has {} bytes, and at most {} are allowed; this is no .safetensors file, "
          "or a damaged one",
          "开头的 8 个字节说文件头有 {} 个字节，而最多允许 {} 个；这不是 .safetensors 文件，或者已损坏"},
         length, longest_header);
  if (static_cast<Index>(length) > file_size - length_bytes)
    fail({"its first 8 bytes say that the header has {} bytes, but the file has only {} more; it is damaged or not "
          "complete, fetch it again",
          "开头的 8 个字节说文件头有 {} 个字节，而文件只剩 {} 个；文件已损坏或不完整，请重新获取"},
         length, file_size - length_bytes);
  return static_cast<Index>(length);
}

// The values of a list of integers from 0 on: shape and data_offsets.
std::vector<Index> natural_numbers(Node& node) {
  Grid* grid = node.as<Grid>();
  if (grid == nullptr || grid->axes.size() != 1)
    fail(node, {"found {}, expected a list of whole numbers", "这里是{}，应为整数的列表"}, describe(node));
  std::vector<Index> numbers;
  if (grid->numbers.size() > 0)
    for (const double number : expect_numbers(node, grid->axes[0], {})) {
      if (!(number >= 0 && number <= 9007199254740992 && number == static_cast<double>(static_cast<Index>(number))))
        fail(node, {"found {}, expected a whole number from 0 to 2^53", "这里是 {}，应为 0 到 2^53 的整数"}, number);
      numbers.push_back(static_cast<Index>(number));
    }
  return numbers;
}

void read_dtype(const Node& node, SafetensorsEntry& entry) {
  const std::string& name = expect_text(node);
  std::vector<std::string_view> names;
  for (const NumberTypeInfo& row : number_types) {
    names.push_back(row.safetensors);
    if (row.safetensors == name) entry.dtype = row.safetensors, entry.type = row.type, entry.bits = 8 * row.bytes;
  }
  for (const OtherDtype& row : other_dtypes)
    if (row.name == name) entry.dtype = row.name, entry.bits = row.bits;
  if (entry.bits == 0)
    fail(node, {"unknown dtype {}.{}", "不认识的 dtype {}。{}"}, quote(name), did_you_mean_or_known(name, names));
}

SafetensorsEntry read_entry(Member& member) {
  SafetensorsEntry entry;
  entry.name = member.key;
  Node *dtype = nullptr, *shape = nullptr, *offsets = nullptr;
  for (Member& part : expect<Object>(
           member.node, {"{\"dtype\", \"shape\", \"data_offsets\"}", " {\"dtype\", \"shape\", \"data_offsets\"}"})) {
    Node** slot = part.key == "dtype"          ? &dtype
                  : part.key == "shape"        ? &shape
                  : part.key == "data_offsets" ? &offsets
                                               : nullptr;
    if (slot == nullptr)
      fail(member.node,
           {"unknown key {}; a tensor has dtype, shape and data_offsets",
            "不认识的键 {}；张量有 dtype、shape 和 data_offsets"},
           quote(part.key));
    *slot = &part.node;
  }
  for (const auto& [node, name] : {std::pair{dtype, "dtype"}, {shape, "shape"}, {offsets, "data_offsets"}})
    if (node == nullptr) fail(member.node, {"\"{}\" is missing", "缺少 \"{}\""}, name);
  read_dtype(*dtype, entry);
  entry.shape = natural_numbers(*shape);
  const std::vector<Index> ends = natural_numbers(*offsets);
  if (ends.size() != 2)
    fail(*offsets, {"found {}, expected two numbers: [begin, end]", "这里是{}，应为两个数：[起点, 终点]"},
         describe(*offsets));
  entry.begin = ends[0];
  entry.end = ends[1];
  return entry;
}

SafetensorsHeader parse_header(std::string_view text) {
  Source source(text);
  Node root = read_json(source, {}, NumberTexts::minus_infinity, Notes::kept);
  SafetensorsHeader header;
  for (Member& member : expect<Object>(root, {"an object of tensors", "由张量组成的对象"}))
    if (member.key != metadata_key)
      header.tensors.push_back(read_entry(member));
    else
      for (const Member& said : expect<Object>(member.node, {"an object of texts", "由文本组成的对象"}))
        expect_text(said.node);
  return header;
}

// Bytes of a tensor of this shape; −1 where there would be more than any file has, or no whole number of them.
Index whole_bytes_of(const SafetensorsEntry& entry) {
  Index bits = entry.bits;
  for (const Index axis : entry.shape)
    if (__builtin_mul_overflow(bits, axis, &bits)) return -1;
  return bits % 8 == 0 ? bits / 8 : -1;
}

// The data of all tensors, one behind the other, fill what follows the header; offsets count from its end until now.
void place_tensors(SafetensorsHeader& header, Index data_begin, Index data_size, const Refusal& refuse) {
  for (const SafetensorsEntry& entry : header.tensors) {
    const std::string place = fmt::format("data_offsets [{}, {}]", entry.begin, entry.end);
    if (entry.begin > entry.end) refuse(entry, {"{} run backwards", "{} 前后颠倒"}, place);
    if (entry.end > data_size)
      refuse(
          entry,
          {"{} lead behind the end of the file, which has {} bytes of data; it is damaged or not complete, fetch it again",
           "{} 超出文件末尾，文件的数据有 {} 个字节；文件已损坏或不完整，请重新获取"},
          place, data_size);
    if (const Index bytes = whole_bytes_of(entry); bytes != entry.end - entry.begin)
      refuse(entry, {"{} hold {} bytes, but {} numbers of shape [{}] need {}", "{} 有 {} 个字节，而 {} 的 [{}] 需要 {}"},
             place, entry.end - entry.begin, entry.dtype, fmt::join(entry.shape, ", "),
             bytes < 0 ? say(Text{"another count", "另一个数目"}) : named_so(fmt::format("{}", bytes)));
  }
  const auto place = [](const SafetensorsEntry& entry) { return std::tie(entry.begin, entry.end); };
  std::sort(header.tensors.begin(), header.tensors.end(),
            [&](const SafetensorsEntry& a, const SafetensorsEntry& b) { return place(a) < place(b); });
  Index filled = 0;
  const SafetensorsEntry* before = nullptr;
  for (SafetensorsEntry& entry : header.tensors) {
    if (entry.begin < filled)
      refuse(entry, {"its data overlap those of {}", "它的数据与{}的重叠"}, tensor_called(before->name));
    if (entry.begin > filled)
      refuse(entry,
             {"{} bytes before its data belong to no tensor; the file is damaged",
              "它的数据之前有 {} 个字节不属于任何张量；文件已损坏"},
             entry.begin - filled);
    filled = entry.end;
    before = &entry;
  }
  if (filled < data_size)
    refuse({"{} bytes at its end belong to no tensor; the file is damaged", "末尾有 {} 个字节不属于任何张量；文件已损坏"},
           data_size - filled);
  for (SafetensorsEntry& entry : header.tensors) {
    entry.begin += data_begin;
    entry.end += data_begin;
  }
}

}  // namespace

Saying tensor_called(std::string_view name) {
  return say({"tensor \"{}\"", "张量“{}”"}, escape(name, 200));
}

Index SafetensorsEntry::size() const {
  Index product = 1;
  for (const Index axis : shape) product *= axis;
  return product;
}

const SafetensorsEntry* SafetensorsHeader::find(std::string_view name) const {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const SafetensorsEntry& e) { return e.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

SafetensorsHeader read_safetensors_header(const InputFile& file, std::string_view shown) {
  const Refusal refuse(shown);
  const Index size = size_of_file(file, shown);
  const Index length = header_length(file.bytes_at(0, std::min(length_bytes, size)), size, refuse);
  const std::string text = file.bytes_at(length_bytes, length);
  if (!text.starts_with('{'))
    refuse({"its header does not begin with '{', as the JSON object of a .safetensors file does",
            "文件头不是以 '{' 开头，而 .safetensors 文件的 JSON 对象是这样开头的"});
  try {
    SafetensorsHeader header = parse_header(text);
    place_tensors(header, length_bytes + length, size - length_bytes - length, refuse);
    return header;
  } catch (const InputFault& fault) {
    const Saying place = fault.path().empty() ? say({"line {}, column {}", "第 {} 行第 {} 列"}, fault.position().line,
                                                    fault.position().column)
                                              : named_so(escape(fault.path(), 200));
    refuse({"in its header, {}: {}", "文件头中，{}：{}"}, place, fault.sentence());
  }
}

void expect_readable(const SafetensorsEntry& entry, std::string_view path) {
  if (entry.type) return;
  Refusal{path}(entry,
                {"its numbers are {}, which mha does not read; convert them to F16, BF16, F32 or F64",
                 "它的数是 {}，mha 不读这种数；请转换为 F16、BF16、F32 或 F64"},
                entry.dtype);
}

}  // namespace mha::io
