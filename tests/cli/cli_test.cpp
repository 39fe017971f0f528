// The program as a function: what goes to which stream, and with which exit code.
#include "cli/world.hpp"

#include <map>

#include "catch.hpp"
#include "cli/commands.hpp"

namespace mha::test {
namespace {

struct Outcome {
  int exit;
  std::string out, err;
};

Outcome call(const std::vector<std::string>& arguments, const std::map<std::string, std::string>& environment = {}) {
  StringSink out, err;
  World world{out, err, 0, false, false, 80, {}};
  world.environment = [&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? std::string() : found->second;
  };
  const int exit = mha::cli::cli(arguments, world);
  return {exit, out.text(), err.text()};
}

// A stream that cannot be written.
template <typename Fault>
class FaultySink : public Sink {
 public:
  explicit FaultySink(Fault fault) : fault_(std::move(fault)) {}
  void write(std::string_view) override { throw fault_; }

 private:
  Fault fault_;
};

// What `mha run` says and how it ends where writing its page ends in this fault.
template <typename Fault>
std::pair<int, std::string> run_with(Fault fault) {
  FaultySink<Fault> out(std::move(fault));
  StringSink err;
  World world{out, err, 0, false, false, 80, {}};
  world.environment = [](const char*) { return std::string(); };
  const int exit = mha::cli::cli({"run"}, world);
  return {exit, err.text()};
}

}  // namespace

TEST_CASE("results go to stdout, messages to stderr", "[cli]") {
  const Outcome fine = call({"run", "worked", "--steps", "Q"});
  CHECK(fine.exit == 0);
  CHECK(fine.out.find("Q⁽¹⁾") != std::string::npos);
  CHECK(fine.err.empty());
  const Outcome wrong = call({"run", "wroked"});
  CHECK(wrong.exit == 2);
  CHECK(wrong.out.empty());
  CHECK(wrong.err.rfind("mha: ", 0) == 0);
  CHECK(wrong.err.find("\"worked\"") != std::string::npos);
}

TEST_CASE("help comes without an argument and names every command", "[cli]") {
  const Outcome help = call({});
  CHECK(help.exit == 0);
  CHECK(help.out == call({"--help"}).out);
  for (const Command& command : commands) {
    CHECK(help.out.find("  " + std::string(command.name) + " ") != std::string::npos);
    CHECK(call({std::string(command.name), "--help"}).exit == 0);
  }
}

TEST_CASE("the language follows the first locale variable that is set, and --lang decides", "[cli]") {
  const auto is_chinese = [](const Outcome& outcome) { return outcome.out.find("查询") != std::string::npos; };
  CHECK_FALSE(is_chinese(call({"run"})));
  CHECK(is_chinese(call({"run"}, {{"LANG", "zh_CN.UTF-8"}})));
  CHECK_FALSE(is_chinese(call({"run"}, {{"LC_ALL", "C"}, {"LANG", "zh_CN.UTF-8"}})));
  CHECK(is_chinese(call({"run"}, {{"LC_ALL", ""}, {"LC_MESSAGES", "zh_TW"}, {"LANG", "en_US"}})));
  CHECK_FALSE(is_chinese(call({"run", "--lang", "en"}, {{"LANG", "zh_CN"}})));
}

TEST_CASE("an unknown step, option or command suggests one", "[cli]") {
  CHECK(call({"rnu"}).err.find("\"run\"") != std::string::npos);
  CHECK(call({"run", "--precison", "2"}).err.find("\"--precision\"") != std::string::npos);
  CHECK(call({"run", "--steps", "weigths"}).err.find("\"weights\"") != std::string::npos);
  CHECK(call({"examples", "packd"}).err.find("\"packed\"") != std::string::npos);
}

TEST_CASE("lists of steps: ids, symbols, ranges, packed", "[cli]") {
  const auto steps = [](const std::string& list) {
    return call({"run", "packed", "--steps", list, "--format", "json"}).out;
  };
  CHECK(steps("A") == steps("weights"));
  CHECK(steps("Y,concat") == steps("concat-output"));
  CHECK(steps("packed") == steps("packed.Q,packed.K,packed.V"));
  CHECK(steps("Q") != steps("packed.Q"));
  CHECK(call({"run", "--steps", "output-Q"}).exit == 2);
}

TEST_CASE("a reader that has gone ends the program quietly", "[cli]") {
  CHECK(run_with(ClosedPipe()) == std::pair{0, std::string()});
}

TEST_CASE("whatever is thrown, the program ends with a sentence and a documented code", "[cli]") {
  CHECK(run_with(Error(named_so("no room"), Exit::no_output)) == std::pair{4, std::string("mha: no room\n")});
  CHECK(run_with(std::bad_alloc()).first == 2);
  CHECK(run_with(std::length_error("too long")) ==
        std::pair{2, std::string("mha: this went wrong in a way that mha does not know: too long\n")});
  CHECK(run_with(5) == std::pair{2, std::string("mha: this went wrong in a way that mha does not know\n")});
}

}  // namespace mha::test
