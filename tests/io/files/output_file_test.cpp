// Output files: whole or not at all, through links, with their permissions, and with a reason when it cannot be.
#include "io/files/sink.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "catch.hpp"
#include "core/error.hpp"
#include "io/files/temporary_folder.hpp"

namespace mha::test {
namespace {

using test::TemporaryFolder;

void replace(const std::string& path, const std::string& text) {
  OutputFile output(path);
  output.sink().write(text);
  output.commit();
}

mode_t permissions_of(const std::string& path) {
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

// What opening this path answers.
std::string refusal(const std::string& path) {
  try {
    const OutputFile output(path);
  } catch (const Error& error) {
    CHECK(error.exit_code() == Exit::no_output);
    return error.what();
  }
  return "no refusal";
}

// Files may not grow beyond this, which fails a write halfway as a full disk does.
class SizeLimit {
 public:
  explicit SizeLimit(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  SizeLimit(const SizeLimit&) = delete;
  SizeLimit& operator=(const SizeLimit&) = delete;
  ~SizeLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, signal_);
  }

 private:
  void (*signal_)(int);
  rlimit before_{};
};

}  // namespace

TEST_CASE("output file: new, then replaced by something shorter") {
  const TemporaryFolder folder;
  replace(folder / "a.json", "something long");
  CHECK(folder.read("a.json") == "something long");
  replace(folder / "a.json", "short");
  CHECK(folder.read("a.json") == "short");
  CHECK(folder.entries() == 1);
}

TEST_CASE("output file: until commit the target is as it was, and without it nothing is left behind") {
  const TemporaryFolder folder;
  folder.write("a.json", "before");
  {
    OutputFile output(folder / "a.json");
    output.sink().write("after");
    output.complete();
    CHECK(folder.read("a.json") == "before");
    OutputFile fresh(folder / "b.json");
    fresh.sink().write("new");
    CHECK_FALSE(std::filesystem::exists(folder / "b.json"));
  }
  CHECK(folder.read("a.json") == "before");
  CHECK(folder.entries() == 1);
}

TEST_CASE("output file: a write that fails halfway leaves the target and no rest") {
  const TemporaryFolder folder;
  folder.write("a.json", "before");
  {
    const SizeLimit limit(100'000);
    OutputFile output(folder / "a.json");
    output.sink().write(std::string(90'000, 'x'));
    output.sink().write(std::string(50'000, 'x'));
    try {
      output.commit();
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(std::string(error.what()) == "could not write to " + (folder / "a.json") + ": File too large");
      CHECK(error.exit_code() == Exit::no_output);
    }
  }
  CHECK(folder.read("a.json") == "before");
  CHECK(folder.entries() == 1);
}

TEST_CASE("output file: of several, none takes its place before all are complete") {
  const TemporaryFolder folder;
  folder.write("a.json", "before");
  {
    std::deque<OutputFile> outputs;
    outputs.emplace_back(folder / "a.json").sink().write("after");
    outputs.emplace_back("/dev/full").sink().write("does not fit");
    CHECK_THROWS_AS(commit_all(outputs), Error);
  }
  CHECK(folder.read("a.json") == "before");
  CHECK(folder.entries() == 1);

  std::deque<OutputFile> outputs;
  outputs.emplace_back(folder / "a.json").sink().write("after");
  outputs.emplace_back(folder / "b.txt").sink().write("page");
  commit_all(outputs);
  CHECK(folder.read("a.json") == "after");
  CHECK(folder.read("b.txt") == "page");
}

TEST_CASE("output file: an existing file keeps its permissions, a new one gets the usual") {
  const TemporaryFolder folder;
  const mode_t mask = umask(027);
  folder.write("mine.json", "before");
  std::filesystem::permissions(folder / "mine.json", std::filesystem::perms(0604));
  replace(folder / "mine.json", "after");
  replace(folder / "new.json", "new");
  umask(mask);
  CHECK(permissions_of(folder / "mine.json") == 0604);
  CHECK(permissions_of(folder / "new.json") == 0640);
}

TEST_CASE("output file: a link stays a link and its target is written") {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sub");
  folder.write("sub/real.json", "before");
  std::filesystem::create_symlink("sub/real.json", folder / "link.json");
  std::filesystem::create_symlink("link.json", folder / "link_to_link.json");
  replace(folder / "link_to_link.json", "after");
  CHECK(folder.read("sub/real.json") == "after");
  CHECK(std::filesystem::is_symlink(folder / "link.json"));
  CHECK(std::filesystem::is_symlink(folder / "link_to_link.json"));

  std::filesystem::create_symlink("sub/not_yet.json", folder / "dangling.json");
  replace(folder / "dangling.json", "new");
  CHECK(folder.read("sub/not_yet.json") == "new");
  CHECK(std::filesystem::is_symlink(folder / "dangling.json"));
}

TEST_CASE("output file: a pipe is written straight") {
  const TemporaryFolder folder;
  const std::string path = folder / "pipe.json";
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(reader >= 0);
  replace(path, "through");
  char text[7];
  CHECK(::read(reader, text, sizeof text) == 7);
  CHECK(std::string(text, 7) == "through");
  close(reader);
  CHECK(std::filesystem::is_fifo(path));
}

TEST_CASE("output file: each thing in the way is named, with the remedy") {
  const TemporaryFolder folder;
  folder.write("file", "");
  std::filesystem::create_symlink("loop", folder / "loop");
  const std::string start = "could not write to " + (folder / "");
  CHECK(refusal(folder / ".") == start + ".: it is a folder; name a file in it");
  CHECK(refusal(folder / "no/a.json") == start + "no/a.json: there is no folder " + (folder / "no") +
                                             "; create it (mkdir -p " + (folder / "no") + ") or name another");
  CHECK(refusal(folder / "file/a.json") == start + "file/a.json: " + (folder / "file") + " is not a folder; name another");
  CHECK(refusal(folder / "loop") == start + "loop: Too many levels of symbolic links");
  CHECK(folder.entries() == 2);
}

TEST_CASE("output file: protected folders and files are left alone") {
  if (geteuid() == 0) return;  // nothing is protected from root
  const TemporaryFolder folder;
  folder.write("a.json", "before");
  std::filesystem::permissions(folder / "a.json", std::filesystem::perms(0444));
  CHECK(refusal(folder / "a.json") ==
        "could not write to " + (folder / "a.json") + ": the file is protected; name another, or allow writing to it");
  std::filesystem::permissions(folder / ".", std::filesystem::perms(0555));
  CHECK(refusal(folder / "b.json") == "could not write to " + (folder / "b.json") + ": the folder " +
                                          std::filesystem::path(folder / "b.json").parent_path().string() +
                                          " does not allow new files; name another, or allow writing in it");
  std::filesystem::permissions(folder / ".", std::filesystem::perms(0755));
}

}  // namespace mha::test
