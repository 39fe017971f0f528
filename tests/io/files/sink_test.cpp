// Sinks: all that is written arrives, in order, or the person is told why not.
#include "io/files/sink.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>

#include "catch.hpp"
#include "core/error.hpp"

namespace mha::test {
namespace {

struct Pipe {
  Pipe() { REQUIRE(pipe(ends.data()) == 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }

  int reading() const { return ends[0]; }
  int writing() const { return ends[1]; }
  void close_end(std::size_t which) {
    if (ends[which] >= 0) close(ends[which]);
    ends[which] = -1;
  }

  std::array<int, 2> ends{-1, -1};
};

void make_non_blocking(int descriptor) {
  REQUIRE(fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0);
}

// Everything until the other end closes, in small bites.
std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 777> bite;
  ssize_t count = 0;
  while ((count = ::read(descriptor, bite.data(), bite.size())) > 0)
    text.append(bite.data(), static_cast<std::size_t>(count));
  return text;
}

std::string numbered_lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(i) + '\n';
  return text;
}

// A signal that does nothing but interrupt: system calls are not restarted after it.
class InterruptingSignal {
 public:
  InterruptingSignal() {
    struct sigaction action {};
    action.sa_handler = [](int) {};
    sigaction(SIGUSR1, &action, &before_);
  }
  InterruptingSignal(const InterruptingSignal&) = delete;
  InterruptingSignal& operator=(const InterruptingSignal&) = delete;
  ~InterruptingSignal() { sigaction(SIGUSR1, &before_, nullptr); }

  void send(pthread_t thread) const { pthread_kill(thread, SIGUSR1); }

 private:
  struct sigaction before_ {};
};

class FullDevice {
 public:
  FullDevice() : descriptor_(open("/dev/full", O_WRONLY)) { REQUIRE(descriptor_ >= 0); }
  FullDevice(const FullDevice&) = delete;
  FullDevice& operator=(const FullDevice&) = delete;
  ~FullDevice() { close(descriptor_); }
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace

TEST_CASE("sink: a string sink keeps what is written") {
  StringSink sink;
  sink.write("Q·");
  sink.write("Kᵀ");
  CHECK(sink.text() == "Q·Kᵀ");
}

TEST_CASE("sink: small and large writes arrive whole and in order through a pipe that is often full") {
  Pipe pipe;
  make_non_blocking(pipe.writing());
  std::string arrived;
  std::thread reader([&] { arrived = read_all(pipe.reading()); });
  const std::string lines = numbered_lines(200'000);
  FdSink sink(pipe.writing(), named_so("standard output"));
  sink.write("first\n");
  sink.write(lines);
  for (int i = 0; i < 50'000; ++i) sink.write("small\n");
  sink.flush();
  pipe.close_end(1);
  reader.join();
  std::string expected = "first\n" + lines;
  for (int i = 0; i < 50'000; ++i) expected += "small\n";
  CHECK((arrived == expected));
}

TEST_CASE("sink: signals that interrupt a write lose nothing") {
  const InterruptingSignal signal;
  const std::string lines = numbered_lines(50'000);
  Pipe pipe;
  std::string arrived;
  std::thread reader([&, writer = pthread_self()] {
    for (int i = 0; i < 50; ++i) {  // meanwhile the pipe is full and the writer waits
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      signal.send(writer);
    }
    arrived = read_all(pipe.reading());
  });
  FdSink sink(pipe.writing(), named_so("standard output"));
  sink.write(lines);
  sink.flush();
  pipe.close_end(1);
  reader.join();
  CHECK((arrived == lines));
}

TEST_CASE("sink: nothing is out before flush, everything after, and once only") {
  Pipe pipe;
  make_non_blocking(pipe.reading());
  FdSink sink(pipe.writing(), named_so("standard output"));
  char letter = 0;
  sink.write("a");
  CHECK(::read(pipe.reading(), &letter, 1) == -1);
  CHECK(errno == EAGAIN);
  sink.flush();
  CHECK(::read(pipe.reading(), &letter, 1) == 1);
  CHECK(letter == 'a');
  sink.flush();
  CHECK(::read(pipe.reading(), &letter, 1) == -1);
}

TEST_CASE("sink: a full disk is told by name and reason, at flush or when the buffer runs over") {
  const FullDevice full;
  FdSink sink(full.descriptor(), named_so("trace.json"));
  sink.write("few");
  try {
    sink.flush();
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(std::string(error.what()) == "could not write to trace.json: No space left on device");
    CHECK(error.exit_code() == Exit::no_output);
  }
  FdSink large(full.descriptor(), named_so("trace.json"));
  CHECK_THROWS_AS(large.write(std::string(1'000'000, 'x')), Error);
}

TEST_CASE("sink: going without flush neither throws nor writes") {
  const FullDevice full;
  auto sink = std::make_unique<FdSink>(full.descriptor(), named_so("trace.json"));
  sink->write("few");
  CHECK_NOTHROW(sink.reset());
}

TEST_CASE("sink: a closed pipe is no error to tell") {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  pipe.close_end(0);
  FdSink sink(pipe.writing(), named_so("standard output"));
  sink.write("unread");
  CHECK_THROWS_AS(sink.flush(), ClosedPipe);
  std::signal(SIGPIPE, before);
}

}  // namespace mha::test
