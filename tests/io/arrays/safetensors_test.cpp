// Headers of .safetensors files: what is read, and a sentence for each way in which one can lie.
#include "io/arrays/array.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "catch.hpp"
#include "core/error.hpp"
#include "io/files/temporary_folder.hpp"

using namespace mha;
using namespace mha::test;
using namespace std::string_literals;
using mha::test::TemporaryFolder;

namespace {

std::string eight_bytes(std::uint64_t length) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xFFU);
  return bytes;
}

std::string file_of(const std::string& header, std::size_t data_size) {
  return eight_bytes(header.size()) + header + std::string(data_size, '\1');
}

std::string tensor(const std::string& name, const std::string& dtype, const std::string& shape,
                   const std::string& offsets) {
  return fmt::format(R"("{}": {{"dtype": "{}", "shape": {}, "data_offsets": {}}})", name, dtype, shape, offsets);
}

SafetensorsHeader read_header(const std::string& path) {
  return read_safetensors_header(InputFile(path), path);
}

template <typename Act>
std::string error_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// What is wrong with a file of these bytes, without its path; empty where nothing is.
std::string fault_in_header(const std::string& bytes) {
  const TemporaryFolder folder;
  folder.write("a.safetensors", bytes);
  const std::string said = error_of([&] { read_header(folder / "a.safetensors"); });
  const std::string begin = (folder / "a.safetensors") + ": ";
  if (said.empty()) return said;
  CHECK(said.starts_with(begin));
  return said.substr(begin.size());
}

std::string fault_of_header(const std::string& header, std::size_t data_size) {
  return fault_in_header(file_of(header, data_size));
}

// Whether the sentence says all of these.
void says(const std::string& sentence, const std::vector<std::string>& words) {
  INFO(sentence);
  for (const std::string& word : words) {
    INFO(word);
    CHECK(sentence.find(word) != std::string::npos);
  }
}

}  // namespace

TEST_CASE("names, types, shapes and places") {
  const TemporaryFolder folder;
  const std::string header = "{\"__metadata__\": {\"format\": \"pt\"}, " + tensor("b", "F32", "[2, 3]", "[2, 26]") + ", " +
                             tensor("_a", "BF16", "[]", "[0, 2]") + ", " + tensor("none", "F64", "[0, 4]", "[26, 26]") +
                             ", " + tensor("f8", "F8_E4M3", "[5]", "[26, 31]") + "}   ";
  folder.write("a.safetensors", file_of(header, 31));
  const SafetensorsHeader read = read_header(folder / "a.safetensors");
  const auto base = static_cast<Index>(8 + header.size());
  REQUIRE(read.tensors.size() == 4);
  CHECK(read.tensors[0].name == "_a");  // in the order of the data; a leading _ is no note here
  CHECK(read.tensors[0].size() == 1);
  CHECK(read.tensors[0].begin == base);
  const SafetensorsEntry* b = read.find("b");
  REQUIRE(b != nullptr);
  CHECK(b->dtype == "F32");
  CHECK(b->shape == std::vector<Index>{2, 3});
  CHECK(b->begin == base + 2);
  CHECK(b->end == base + 26);
  CHECK(read.find("none")->size() == 0);
  CHECK(read.find("c") == nullptr);
  CHECK_NOTHROW(expect_readable(*b, "a.safetensors"));
  says(error_of([&] { expect_readable(*read.find("f8"), "a.safetensors"); }), {"a.safetensors: tensor \"f8\"", "F8_E4M3"});
}

TEST_CASE("a file without tensors is a file") {
  CHECK(fault_of_header("{}", 0).empty());
}

TEST_CASE("lengths that cannot be") {
  says(fault_in_header(""), {"0 bytes"});
  says(fault_in_header("1234567"), {"7 bytes"});
  says(fault_in_header(eight_bytes(3) + "{}"), {"3 bytes", "only 2 more"});
  says(fault_in_header(eight_bytes(0)), {"'{'"});
  says(fault_in_header(eight_bytes(100'000'001) + "{}"), {"100000001", "100000000"});
  says(fault_in_header(eight_bytes(UINT64_MAX) + "{}"), {"18446744073709551615"});
  says(fault_in_header(eight_bytes(UINT64_C(1) << 63U) + "{}"), {"9223372036854775808"});
}

TEST_CASE("files of other kinds are called by their names") {
  says(fault_in_header("PK\x03\x04"s + std::string(100, 'x')), {"zip", "safetensors package"});
  says(fault_in_header("version https://git-lfs.github.com/spec/v1\noid sha256:1\n"), {"git lfs pull"});
  says(fault_in_header("\x93NUMPY\x01\x00"s + std::string(100, 'x')), {".npy"});
  const std::string begins_as_a_pickle = "{}" + std::string(0x280 - 2, ' ');  // 0x280 is the bytes 80 02
  CHECK(fault_of_header(begins_as_a_pickle, 0).empty());
}

TEST_CASE("headers that are no JSON object of tensors") {
  says(fault_of_header("[]", 0), {"'{'"});
  says(fault_of_header(" {}", 0), {"'{'"});
  says(fault_of_header("{", 0), {"header", "line 1, column 2"});
  says(fault_of_header("{} x", 0), {"header", "column 4"});
  says(fault_of_header("{" + tensor("a", "U8", "[1]", "[0, 1]") + ", " + tensor("a", "U8", "[1]", "[0, 1]") + "}", 1),
       {"\"a\"", "twice"});
  says(fault_of_header(R"({"a": 3})", 0), {"a: ", "the number 3", "data_offsets"});
  says(fault_of_header(R"({"a": {"dtype": "U8", "shape": [1]}})", 1), {"a: ", "data_offsets", "missing"});
  says(fault_of_header(R"({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1], "x": 1}})", 1), {"a: ", "\"x\""});
  says(fault_of_header(R"({"__metadata__": {"a": 1}})", 0), {"__metadata__.a", "text"});
  says(fault_of_header(R"({"__metadata__": []})", 0), {"__metadata__", "object"});
}

TEST_CASE("types, shapes and places that cannot be") {
  const auto fault = [](const char* dtype, const char* shape, const char* offsets, std::size_t data_size) {
    return fault_of_header("{" + tensor("x.w", dtype, shape, offsets) + "}", data_size);
  };
  says(fault("F31", "[1]", "[0, 4]", 4), {"x.w", "F31", "F32"});
  says(fault("F32", "[-1]", "[0, 4]", 4), {"x.w", "shape", "-1"});
  says(fault("F32", "[1.5]", "[0, 4]", 4), {"shape", "1.5"});
  says(fault("F32", "[9007199254740994]", "[0, 4]", 4), {"shape", "2^53"});
  says(fault("F32", "[null]", "[0, 4]", 4), {"shape", "null"});
  says(fault("F32", "[[1]]", "[0, 4]", 4), {"shape", "1×1"});
  says(fault("F32", "[1]", "[0]", 4), {"data_offsets", "[begin, end]"});
  says(fault("F32", "[1]", "[4, 0]", 4), {"\"x.w\"", "backwards"});
  says(fault("F32", "[1]", "[-4, 0]", 4), {"data_offsets", "-4"});
  says(fault("F32", "[2]", "[0, 8]", 4), {"\"x.w\"", "4 bytes of data", "fetch it again"});
  says(fault("F32", "[2]", "[0, 4]", 4), {"\"x.w\"", "hold 4 bytes", "need 8"});
  says(fault("F32", "[4294967296, 4294967296, 4294967296]", "[0, 4]", 4), {"\"x.w\"", "hold 4 bytes"});
  says(fault("F4", "[3]", "[0, 2]", 2), {"\"x.w\"", "hold 2 bytes"});
  says(fault("F32", "[1]", "[0, 4]", 5), {"1 bytes at its end"});
  says(fault("F32", "[1]", "[1, 5]", 5), {"\"x.w\"", "1 bytes before"});
}

TEST_CASE("data that overlap or leave holes") {
  const auto two = [](const char* first, const char* second, std::size_t data_size) {
    return fault_of_header("{" + tensor("a", "U8", "[4]", first) + ", " + tensor("b", "U8", "[4]", second) + "}",
                           data_size);
  };
  CHECK(two("[0, 4]", "[4, 8]", 8).empty());
  CHECK(two("[4, 8]", "[0, 4]", 8).empty());
  says(two("[0, 4]", "[3, 7]", 7), {"\"b\"", "overlap", "\"a\""});
  says(two("[0, 4]", "[0, 4]", 4), {"overlap"});
  says(two("[0, 4]", "[5, 9]", 9), {"\"b\"", "1 bytes before"});
}

TEST_CASE("what is no regular file") {
  const TemporaryFolder folder;
  says(error_of([&] { read_header(folder / "none"); }), {"no such file"});
  says(error_of([&] { read_header(folder / "."); }), {"directory"});
  says(error_of([] { read_header("/dev/null"); }), {"/dev/null: "});
}
