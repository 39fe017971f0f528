// Matrices in files. Cuts and transposes of an array change axes, strides and the first place, never the numbers.
#include "io/arrays/matrix_files.hpp"

#include <fmt/ranges.h>

#include <filesystem>
#include <map>

#include "core/error.hpp"
#include "core/utf8.hpp"
#include "io/arrays/array.hpp"
#include "io/json/tree.hpp"
#include "io/problem/problem_keys.hpp"

namespace mha::io {
namespace {

std::vector<Index> strides_of(const ArrayHeader& header) {
  std::vector<Index> strides(header.axes.size());
  Index stride = 1;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    const std::size_t axis = header.fortran_order ? i : strides.size() - 1 - i;
    strides[axis] = stride;
    stride *= header.axes[axis];
  }
  return strides;
}

Text remedy_of(Flaw flaw) {
  switch (flaw) {
    case Flaw::none: break;
    case Flaw::not_finite: return {"; here every entry is a finite number", "；这里的每个元素都是有限的数"};
    case Flaw::not_exact:
      return {", an integer that no double equals; beyond 2^53 save floats instead",
              "，这个整数没有对应的双精度数；超过 2^53 时请存为浮点数"};
    case Flaw::too_large:
      return {", which f32 cannot hold; compute with --dtype f64", "，f32 放不下；请用 --dtype f64 计算"};
    case Flaw::no_boolean: return {", but the byte of a boolean is 0 or 1", "，而布尔值的字节只能是 0 或 1"};
  }
  return {};
}

// The member of `parent` (which is canonical) or of a folder in it.
bool is_inside(const std::filesystem::path& path, const std::filesystem::path& parent) {
  const std::filesystem::path relative = path.lexically_relative(parent);
  return !relative.empty() && *relative.begin() != ".." && relative != ".";
}

class MatrixOpener {
 public:
  MatrixOpener(std::string_view name, const FileRules& rules) : name_(name), rules_(rules) {}

  void visit(Node& node) {
    if (List* list = node.as<List>())
      for (Node& entry : *list) visit(entry);
    Object* const object = node.as<Object>();
    if (object == nullptr) return;
    if (!node.path.empty())
      for (const Member& member : *object)
        if (member.key == "file") return replace(node);
    for (Member& member : *object) visit(member.node);
  }

  std::vector<std::string> opened() const {
    std::vector<std::string> paths;
    for (const auto& [path, archive] : archives_) paths.push_back(path);
    return paths;
  }

 private:
  // {"file": …} becomes a grid.
  void replace(Node& node) {
    const Fields fields(node, matrix_file_keys, {"a file: {\"file\": \"w.npy\"}", "文件：{\"file\": \"w.npy\"}"});
    try {
      const std::string& written = expect_text(*fields["file"]);
      const MatrixArchive& archive = archive_at(*fields["file"], written);
      auto matrix = std::make_shared<const FileMatrix>(
          array_of(archive, fields, node),
          fmt::format("{}:{}:{}: {}", name_, node.position.line, node.position.column, node.path));
      if (matrix->axes().empty())
        fail(node,
             {"{} is a single number, not a matrix; save it as an array of one row",
              "{} 是单独一个数，不是矩阵；请存为只有一行的数组"},
             matrix->name());
      Grid grid;
      grid.file = taken(std::move(matrix), fields);
      grid.axes = grid.file->axes();
      node.value = std::move(grid);
    } catch (const Error& error) {  // of the file
      fail(*fields["file"], error.sentence());
    }
  }

  const MatrixArchive& archive_at(const Node& node, const std::string& written) {
    if (!rules_.folder)
      fail(node, {"a problem without a folder of its own points to no files; save it as a file and write paths from there",
                  "题目没有自己的文件夹，不能引用文件；请把题目存为文件，路径从那里写起"});
    if (written.empty() || written.find('\0') != std::string::npos)
      fail(node, {"this is no path of a file", "这不是文件的路径"});
    std::error_code error;
    const std::filesystem::path folder =
        std::filesystem::weakly_canonical(rules_.folder->empty() ? "." : *rules_.folder, error);
    const std::filesystem::path path = std::filesystem::weakly_canonical(folder / written, error);
    if (error)
      fail(node, {"{} cannot be followed: {}", "无法沿 {} 找到文件：{}"}, quote(written), system_says(error.value()));
    if (!rules_.allow_outside && !is_inside(path, folder))
      fail(node,
           {"{} leads out of the problem's folder; put the file there, or allow it with --allow-outside",
            "{} 在题目的文件夹之外；请把文件放进来，或用 --allow-outside 允许"},
           quote(written));
    const auto [place, is_new] = archives_.try_emplace(path.string());
    if (is_new) place->second = open_matrix_archive(path.string(), written);
    return place->second;
  }

  // The array that the keys "name" and "tensor" choose.
  std::shared_ptr<const StoredArray> array_of(const MatrixArchive& archive, const Fields& fields, const Node& node) {
    const std::string_view key = archive.key;
    for (const auto& [other, chosen] : {std::pair{"name", fields["name"]}, std::pair{"tensor", fields["tensor"]}})
      if (chosen != nullptr && other != key)
        fail(*chosen, {"\"{}\" is for {} files; {}", "\"{}\" 用于 {} 文件；{}"}, other,
             other == std::string_view("name") ? ".npz" : ".safetensors",
             key.empty() ? Text{"a .npy file holds one array: leave it out", ".npy 文件只有一个数组，不要写它"}
                         : say({"here it is \"{}\"", "这里应写 \"{}\""}, key));
    if (key.empty()) return archive.array("");
    const Node* const chosen = fields[key];
    if (chosen == nullptr)
      fail(node,
           {"\"{}\" is missing: say which of the file's arrays it is.{}", "缺少 \"{}\"：请说明是文件中的哪个数组。{}"}, key,
           archive.known(""));
    const std::string& name = expect_text(*chosen);
    if (auto array = archive.array(name)) return array;
    fail(*chosen, {"{} is not in the file.{}", "文件中没有 {}。{}"}, quote(name), archive.known(name));
  }

  // The rows and columns that are wanted, then transposed.
  static std::shared_ptr<const FileMatrix> taken(std::shared_ptr<const FileMatrix> matrix, const Fields& fields) {
    const std::size_t axes = matrix->axes().size();
    const std::string name = matrix->name();
    if (axes == 1)
      for (const Node* node : {fields["cols"], fields["transpose"]})
        if (node != nullptr)
          fail(*node,
               {"{} is one-dimensional: rows takes a part of it, and there is nothing else to choose",
                "{} 是一维的：rows 取其中一段，此外没有可选的"},
               name);
    if (Node* rows = fields["rows"]) {
      const Index count = matrix->axes()[axes == 1 ? 0 : axes - 2];
      matrix = matrix->rows(read_cut(*rows, count, axes == 1 ? "number" : "row", name));
    }
    if (Node* cols = fields["cols"]) matrix = matrix->cols(read_cut(*cols, matrix->axes().back(), "column", name));
    const Node* const transpose = fields["transpose"];
    return transpose != nullptr && expect_truth(*transpose) ? matrix->transposed() : matrix;
  }

  // [a, b], half-open, from 0.
  static Cut read_cut(Node& node, Index count, std::string_view thing, std::string_view name) {
    const std::vector<Index> ends = expect_integers(
        node, 2, {"where the part begins and where it has ended, from 0", "从 0 数起，一段的起点和终点（不含终点）"});
    if (ends[0] < 0 || ends[0] >= ends[1] || ends[1] > count)
      fail(node,
           {"[{}, {}] is no part of {}; {} has {}, and [0, {}] takes all",
            "[{}, {}] 不是 {} 的一段；{} 有 {}，[0, {}] 取全部"},
           ends[0], ends[1], name, name, counted(count, thing), count);
    return {ends[0], ends[1]};
  }

  std::string_view name_;
  const FileRules& rules_;
  std::map<std::string, MatrixArchive> archives_;  // by path
};

}  // namespace

FileMatrix::FileMatrix(std::shared_ptr<const StoredArray> array, std::string where)
    : array_(std::move(array)),
      where_(std::move(where)),
      axes_(array_->header.axes),
      strides_(strides_of(array_->header)),
      origin_(axes_.size(), 0) {}

std::shared_ptr<const FileMatrix> FileMatrix::cut(std::size_t axis, Cut cut) const {
  auto part = std::make_shared<FileMatrix>(*this);
  part->axes_[axis] = cut.last - cut.first;
  part->origin_[axis] += cut.first;
  return part;
}

std::shared_ptr<const FileMatrix> FileMatrix::rows(Cut part) const {
  return cut(axes_.size() == 1 ? 0 : axes_.size() - 2, part);
}

std::shared_ptr<const FileMatrix> FileMatrix::cols(Cut part) const {
  return cut(axes_.size() - 1, part);
}

std::shared_ptr<const FileMatrix> FileMatrix::transposed() const {
  auto result = std::make_shared<FileMatrix>(*this);
  const std::size_t last = axes_.size() - 1;
  std::swap(result->axes_[last], result->axes_[last - 1]);
  std::swap(result->strides_[last], result->strides_[last - 1]);
  std::swap(result->origin_[last], result->origin_[last - 1]);
  result->transposed_ = !transposed_;
  return result;
}

// Row `index`, counted through all matrices.
RawNumbers FileMatrix::row(const std::byte* data, Index index) const {
  Index place = origin_.back() * strides_.back();
  for (std::size_t axis = axes_.size() - 1; axis-- > 0;) {
    place += (origin_[axis] + index % axes_[axis]) * strides_[axis];
    index /= axes_[axis];
  }
  const ArrayHeader& header = array_->header;
  return {header.type, header.big_endian, data + place * bytes_of(header.type), strides_.back()};
}

// "[13, 0]", as NumPy counts in the whole array.
std::string FileMatrix::place_in_file(Index row, Index col) const {
  std::vector<Index> place(axes_.size());
  place.back() = origin_.back() + col;
  for (std::size_t axis = axes_.size() - 1; axis-- > 0;) {
    place[axis] = origin_[axis] + row % axes_[axis];
    row /= axes_[axis];
  }
  if (transposed_) std::swap(place[place.size() - 1], place[place.size() - 2]);
  return fmt::format("[{}]", fmt::join(place, ", "));
}

template <typename T>
void FileMatrix::check_row(const RawNumbers& numbers, Index index, bool finite) const {
  for (Index col = 0; col < axes_.back(); ++col) {
    const Flaw flaw = flaw_of<T>(numbers, col);
    if (flaw == Flaw::none || (flaw == Flaw::not_finite && !finite)) continue;
    throw Error({"{}: found {} at {} of {}{}", "{0}：{3} 的 {2} 处是 {1}{4}"}, where_, text_of(numbers, col),
                place_in_file(index, col), name(), remedy_of(flaw));
  }
}

template <typename T>
void FileMatrix::read(Index first, Index count, T* to, bool finite) const {
  const std::byte* const data = array_->data();
  const Index cols = axes_.back();
  Index flawed = -1;
  for (Index i = 0; i < count && flawed < 0; ++i)
    if (convert(row(data, first + i), cols, to + i * cols)) {
      if (finite)
        flawed = first + i;
      else
        check_row<T>(row(data, first + i), first + i, finite);
    }
  array_->file->expect_whole();  // first: the zeros of a file that was cut short are nobody's numbers
  if (flawed >= 0) check_row<T>(row(data, flawed), flawed, finite);
}

void FileMatrix::read_rows(Index first, Index count, double* to) const {
  read(first, count, to, true);
}

void FileMatrix::read_rows(Index first, Index count, float* to) const {
  read(first, count, to, true);
}

void FileMatrix::read_addends(double* to) const {
  Index rows = 1;
  for (std::size_t axis = 0; axis + 1 < axes_.size(); ++axis) rows *= axes_[axis];
  read(0, rows, to, false);
}

std::vector<std::string> open_matrix_files(Node& root, std::string_view name, const FileRules& rules) {
  MatrixOpener opener(name, rules);
  opener.visit(root);
  return opener.opened();
}

}  // namespace mha::io
