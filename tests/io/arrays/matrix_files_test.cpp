// Matrices in files, from inside: what is read when, files that change meanwhile, and archives beyond 4 GB in small.
#include <unistd.h>

#include <cstring>

#include "catch.hpp"
#include "core/error.hpp"
#include "io/arrays/array.hpp"
#include "io/arrays/matrix_files.hpp"
#include "io/arrays/trace_export.hpp"
#include "io/files/input_file.hpp"
#include "io/files/sink.hpp"
#include "io/files/temporary_folder.hpp"
#include "io/problem/problem_reader.hpp"

namespace mha::test {
namespace {

std::string npy(const std::string& header, const std::string& data) {
  std::string text = header + "\n";
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) + '\0' + text + data;
}

template <typename T>
std::string bytes_of(const std::vector<T>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)};
}

constexpr std::string_view problem_text = R"({"X": {"file": "x.npy"}, "heads": [{"W_Q": [[1], [2]], "W_K": [[1], [1]],
  "W_V": [[3], [1]]}], "W_O": "identity"})";
constexpr std::string_view header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";

template <typename Function>
std::string fault_when(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TraceArray array_called(std::string name, std::vector<Index> axes) {
  TraceArray array;
  array.name = std::move(name);
  array.axes = std::move(axes);
  return array;
}

}  // namespace

TEST_CASE("a matrix in a file is read when it is asked for, in the type that is asked for, and once as doubles") {
  const test::TemporaryFolder folder;
  folder.write("x.npy", npy(std::string(header), bytes_of<float>({0.1F, 2, 3, 4})));
  folder.write("p.json", std::string(problem_text));
  const Problem problem = read_problem_file(folder / "p.json");
  CHECK(problem.files == std::vector<std::string>{std::filesystem::canonical(folder / "x.npy").string()});
  REQUIRE(problem.X.stored());
  float floats[2] = {};
  problem.X.stored()->read_rows(0, 1, floats);
  CHECK(floats[0] == 0.1F);
  const Tensor copy = problem.X;
  CHECK(problem.X.at(0, 0, 0, 0) == static_cast<double>(0.1F));
  CHECK(copy.data() == problem.X.data());
  Tensor changed = problem.X;
  changed.data()[0] = 7;
  CHECK(problem.X.at(0, 0, 0, 0) == static_cast<double>(0.1F));
  CHECK(changed.at(0, 0, 1, 1) == 4);
}

TEST_CASE("a file that is cut short after it was opened is told, whether its pages are gone or only its end") {
  const test::TemporaryFolder folder;
  const long page = sysconf(_SC_PAGESIZE);
  const auto columns = static_cast<std::size_t>(page);
  const std::string wide = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, " + std::to_string(columns) + "), }";
  for (const long left : {long{0}, page, 4 * page}) {
    folder.write("x.npy", npy(wide, bytes_of(std::vector<float>(2 * columns, 1))));
    const auto matrix = std::make_shared<const FileMatrix>(open_matrix_archive(folder / "x.npy", "x.npy").array(""), "X");
    std::vector<double> numbers(2 * columns);
    matrix->read_rows(0, 2, numbers.data());
    CHECK(numbers.back() == 1);
    REQUIRE(truncate((folder / "x.npy").c_str(), left) == 0);
    CHECK(fault_when([&] { matrix->read_rows(0, 2, numbers.data()); }).find("cut short while it was read") !=
          std::string::npos);
  }
}

TEST_CASE("a problem of text alone points to no files") {
  CHECK(fault_when([] { read_problem_text(problem_text, "in"); }) ==
        "in:1:16: X.file: a problem without a folder of its own points to no files; save it as a file and write paths from "
        "there");
}

TEST_CASE("an archive whose sizes and places need 64 bits is read back, here with a limit of some bytes") {
  const test::TemporaryFolder folder;
  const std::vector<TraceArray> arrays = {array_called("a", {2, 3}), array_called("heads.1.weights", {1, 2}),
                                          array_called("b", {2})};
  for (const Index limit : {zip64_from, Index{150}, Index{1}}) {
    const ArrayLayout layout = npz_layout(arrays, Dtype::f64, limit);
    std::string content(static_cast<std::size_t>(layout.size), '\0');
    const auto put = [&content](const FilePiece& piece) {
      const auto begin = static_cast<std::size_t>(piece.begin);
      content.resize(std::max(content.size(), begin + piece.bytes.size()));
      content.replace(begin, piece.bytes.size(), piece.bytes);
    };
    for (const FilePiece& piece : layout.around) put(piece);
    for (std::size_t i = 0; i < arrays.size(); ++i) put({layout.begins[i], bytes_of(std::vector<double>(2, 0.5))});
    const auto crc = [&content](Index begin, Index count) {
      std::uint32_t sum = 0xFFFFFFFF;
      for (Index i = begin; i < begin + count; ++i) {
        sum ^= static_cast<unsigned char>(content[static_cast<std::size_t>(i)]);
        for (int bit = 0; bit < 8; ++bit) sum = sum >> 1U ^ ((sum & 1U) != 0 ? 0xEDB88320U : 0U);
      }
      return ~sum;
    };
    for (const FilePiece& piece : npz_directory(arrays, Dtype::f64, layout, crc, limit)) put(piece);
    folder.write("t.npz", content);
    const auto archive = open_matrix_archive(folder / "t.npz", "t.npz");
    CHECK(archive.names == std::vector<std::string>{"a", "heads.1.weights", "b"});
    for (const TraceArray& array : arrays) {
      const FileMatrix matrix(archive.array(array.name), "here");
      CHECK(matrix.axes() == array.axes);
      std::vector<double> numbers(6);
      matrix.read_addends(numbers.data());
      CHECK(numbers[0] == 0.5);
    }
  }
}

TEST_CASE("a file is written at several places, and only under its name when it is complete") {
  const test::TemporaryFolder folder;
  OutputFile file(folder / "t.bin");
  file.make_room(10);
  file.write_at(6, "cd", 2);
  file.write_at(0, "ab", 2);
  char back[2] = {};
  file.read_at(6, back, 2);
  CHECK(std::memcmp(back, "cd", 2) == 0);
  CHECK_FALSE(std::filesystem::exists(folder / "t.bin"));
  file.commit();
  CHECK(folder.read("t.bin") == std::string("ab\0\0\0\0cd\0\0", 10));
}

}  // namespace mha::test
