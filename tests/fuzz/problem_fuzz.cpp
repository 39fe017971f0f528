// libFuzzer over the problem reader: whatever the bytes, a problem with its plan or an Error, and nothing else.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/error.hpp"
#include "core/plan.hpp"
#include "io/problem/problem_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  try {
    const mha::Problem problem = mha::io::read_problem_text(text, "fuzz");
    mha::make_plan(problem);
  } catch (const mha::Error&) {
  }
  return 0;
}
