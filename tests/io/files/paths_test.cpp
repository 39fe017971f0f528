// Paths: outputs are refused where they would destroy an input or each other, by whatever name; folders are made.
#include "io/files/paths.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "catch.hpp"
#include "core/error.hpp"
#include "io/files/temporary_folder.hpp"

namespace mha::test {
namespace {

using test::TemporaryFolder;

// Empty when the outputs are accepted.
std::string refusal(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs) {
  try {
    refuse_overwriting(outputs, inputs);
  } catch (const Error& error) {
    CHECK(error.exit_code() == Exit::bad_input);
    return error.what();
  }
  return "";
}

// Standard input is this file as long as it lives.
class StandardInput {
 public:
  explicit StandardInput(const std::string& path) : before_(dup(STDIN_FILENO)) {
    const int file = open(path.c_str(), O_RDONLY);
    dup2(file, STDIN_FILENO);
    close(file);
  }
  StandardInput(const StandardInput&) = delete;
  StandardInput& operator=(const StandardInput&) = delete;
  ~StandardInput() {
    dup2(before_, STDIN_FILENO);
    close(before_);
  }

 private:
  int before_;
};

}  // namespace

TEST_CASE("file identity: an output that is the input, by its own name, another path, a hard link, a symbolic link") {
  const TemporaryFolder folder;
  const std::string problem = folder / "problem.json";
  folder.write("problem.json", "{}");
  std::filesystem::create_directory(folder / "sub");
  std::filesystem::create_hard_link(problem, folder / "hard.json");
  std::filesystem::create_symlink("problem.json", folder / "soft.json");
  for (const std::string& output : {problem, folder / "sub/../problem.json", folder / "hard.json", folder / "soft.json"}) {
    CHECK(refusal({output}, {problem}) ==
          "the output " + output + " is what this run reads (" + problem + "); name another file");
  }
  CHECK(refusal({problem}, {folder / "soft.json"}) != "");
  CHECK(refusal({folder / "fine.txt", problem}, {folder / "missing.json", problem}) != "");
}

TEST_CASE("file identity: standard input counts when it is a file that the run reads") {
  const TemporaryFolder folder;
  folder.write("problem.json", "{}");
  const StandardInput redirected(folder / "problem.json");
  CHECK(refusal({folder / "problem.json"}, {"-"}) ==
        "the output " + (folder / "problem.json") + " is what this run reads (standard input); name another file");
  CHECK(refusal({folder / "problem.json"}, {}) == "");
}

TEST_CASE("file identity: other files, new files and devices are accepted") {
  const TemporaryFolder folder;
  folder.write("problem.json", "{}");
  folder.write("copy.json", "{}");
  CHECK(refusal({folder / "copy.json", folder / "new.json", folder / "new.txt"}, {folder / "problem.json"}) == "");
  CHECK(refusal({folder / "no/new.json"}, {folder / "no/problem.json"}) == "");
  CHECK(refusal({"/dev/null", "/dev/null"}, {"/dev/null"}) == "");
}

TEST_CASE("file identity: two outputs that are one file, already there or not") {
  const TemporaryFolder folder;
  folder.write("a.json", "{}");
  std::filesystem::create_symlink("a.json", folder / "link.json");
  std::filesystem::create_symlink("b.json", folder / "dangling.json");
  CHECK(refusal({folder / "a.json", folder / "link.json"}, {}) ==
        "the outputs " + (folder / "a.json") + " and " + (folder / "link.json") + " are one file; name two");
  CHECK(refusal({folder / "b.json", folder / "dangling.json"}, {}) != "");
  CHECK(refusal({folder / "b.json", folder / "./b.json"}, {}) != "");
}

TEST_CASE("a folder is made with those above it, and may be there already", "[folder]") {
  const TemporaryFolder folder;
  for (int i = 0; i < 2; ++i) make_folder(folder / "a/b/c");
  CHECK(std::filesystem::is_directory(folder / "a/b/c"));
}

TEST_CASE("a file in the way is an output error", "[folder]") {
  const TemporaryFolder folder;
  folder.write("file", "");
  std::filesystem::create_symlink("loop", folder / "loop");
  for (const std::string& path :
       {std::string("file"), std::string("file/below"), std::string("loop/below"), std::string(300, 'x')}) {
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
