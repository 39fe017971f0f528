// libFuzzer over the readers of arrays: whatever the bytes, numbers or an Error, and nothing else.
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "io/arrays/array.hpp"
#include "io/arrays/matrix_files.hpp"

namespace {

constexpr std::size_t most_numbers = 1'000'000;

// One file without a name, written anew for each input.
const std::string& file_with(const std::uint8_t* bytes, std::size_t size) {
  static const int descriptor = [] {
    std::string name = "/tmp/mha-fuzz-XXXXXX";
    const int opened = mkstemp(name.data());
    unlink(name.c_str());
    return opened;
  }();
  static const std::string path = "/proc/self/fd/" + std::to_string(descriptor);
  if (ftruncate(descriptor, 0) != 0 || pwrite(descriptor, bytes, size, 0) != static_cast<ssize_t>(size)) std::abort();
  return path;
}

std::string name_for(std::string_view content) {
  if (content.starts_with("PK")) return "x.npz";
  return content.starts_with("\x93NUMPY") ? "x.npy" : "x.safetensors";
}

void read_all(const std::shared_ptr<const mha::io::StoredArray>& array) {
  if (!array || array->header.axes.empty()) return;
  const std::size_t numbers = array->header.data_bytes() / static_cast<std::size_t>(mha::io::bytes_of(array->header.type));
  if (numbers > most_numbers) return;
  const auto matrix = std::make_shared<const mha::io::FileMatrix>(array, "fuzz");
  std::vector<double> doubles(numbers);
  std::vector<float> floats(numbers);
  const auto rows = static_cast<mha::Index>(numbers) / matrix->axes().back();
  matrix->read_addends(doubles.data());
  matrix->read_rows(0, rows, doubles.data());
  matrix->read_rows(0, rows, floats.data());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view content(reinterpret_cast<const char*>(bytes), size);
  try {
    const auto archive = mha::io::open_matrix_archive(file_with(bytes, size), name_for(content));
    for (const std::string& name : archive.names) {
      try {
        read_all(archive.array(name));
      } catch (const mha::Error&) {
      }
    }
  } catch (const mha::Error&) {
  }
  return 0;
}
