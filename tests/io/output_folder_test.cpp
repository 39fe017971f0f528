// Folders to write to.
#include "io/files/output_folder.hpp"

#include "catch.hpp"
#include "core/error.hpp"
#include "io/temporary_folder.hpp"

namespace mha::test {

TEST_CASE("a folder is made with those above it, and may be there already", "[folder]") {
  const TemporaryFolder folder;
  for (int i = 0; i < 2; ++i) make_folder(folder / "a/b/c");
  CHECK(std::filesystem::is_directory(folder / "a/b/c"));
}

TEST_CASE("a file in the way is an output error", "[folder]") {
  const TemporaryFolder folder;
  folder.write("file", "");
  for (const char* path : {"file", "file/below"}) {
    try {
      make_folder(folder / path);
      FAIL("it was made");
    } catch (const Error& error) {
      CHECK(error.exit_code() == Exit::no_output);
      CHECK(std::string(error.what()).find(path) != std::string::npos);
    }
  }
}

}  // namespace mha::test
