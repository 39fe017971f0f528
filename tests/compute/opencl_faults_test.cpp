// What OpenCL refuses comes out as one sentence with exit code 3, and the cache of built programs is never trusted blindly.
#ifdef MHA_OPENCL
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "catch.hpp"
#include "compute/opencl_api.hpp"
#include "compute/opencl_program.hpp"
#include "compute/random_problem.hpp"
#include "compute/run_helpers.hpp"

namespace mha::test {
namespace {

namespace fs = std::filesystem;

// A function of OpenCL replaced while this lives.
template <typename Function>
class Instead {
 public:
  Instead(Function OpenCl::*place, Function other) : place_(place), real_(opencl()->*place) { opencl()->*place = other; }
  Instead(const Instead&) = delete;
  Instead& operator=(const Instead&) = delete;
  ~Instead() { opencl()->*place_ = real_; }

 private:
  Function OpenCl::*place_;
  Function real_;
};

Problem small() {
  Dice dice(31);
  return random_problem(dice, {});
}

// An arm whose programs are kept, or not, in this folder: nothing that another test opened.
Arm arm_in(const fs::path& folder) {
  Arm arm = opencl_arms().front();
  arm.device.cache_folder = folder.string();
  return arm;
}

struct Refusal {
  std::string sentence;
  Exit exit = Exit::fine;
};
Refusal refusal(const Arm& arm) {
  try {
    Run run(small(), arm);
  } catch (const Error& error) {
    return {error.what(), error.exit_code()};
  }
  return {};
}

void check_refusal(const Arm& arm, const std::string& words, const std::string& code) {
  const Refusal said = refusal(arm);
  INFO(said.sentence);
  CHECK(said.exit == Exit::no_device);
  CHECK(said.sentence.starts_with("opencl:0 ("));
  CHECK(said.sentence.find(words) != std::string::npos);
  CHECK(said.sentence.find(code) != std::string::npos);
  CHECK(said.sentence.find('\n') == std::string::npos);
}

// Every device without its extensions, cl_khr_fp64 among them.
decltype(&clGetDeviceInfo) real_info = nullptr;
cl_int CL_API_CALL info_without_f64(cl_device_id device, cl_device_info what, size_t size, void* value, size_t* needed) {
  return what == CL_DEVICE_EXTENSIONS ? CL_INVALID_VALUE : real_info(device, what, size, value, needed);
}

// How often a program was built from source.
int built_from_source = 0;
decltype(&clCreateProgramWithSource) real_create = nullptr;
cl_program CL_API_CALL counted_create(cl_context context, cl_uint count, const char** texts, const size_t* sizes,
                                      cl_int* code) {
  ++built_from_source;
  return real_create(context, count, texts, sizes, code);
}

// A new session on this cache folder: whether it built from source. The result must be right in any case.
bool builds_anew(const fs::path& folder, const Tensor& expected) {
  built_from_source = 0;
  real_create = opencl()->clCreateProgramWithSource;
  const Instead counted(&OpenCl::clCreateProgramWithSource, &counted_create);
  CHECK(difference(output_of(small(), arm_in(folder)), expected) < 1e-11);
  CHECK(built_from_source <= 1);
  return built_from_source == 1;
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

fs::path only_file(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  REQUIRE(files.size() == 1);
  return files.front();
}

}  // namespace

TEST_CASE("a launch that fails is told with its meaning and its code", "[opencl]") {
  if (opencl_arms().empty()) return;
  const Arm arm = opencl_arms().front();
  using Launch = decltype(&clEnqueueNDRangeKernel);
  const auto with = [&](Launch launch) { return Instead(&OpenCl::clEnqueueNDRangeKernel, launch); };
#define MHA_LAUNCH(code)                                                                                           \
  +[](cl_command_queue, cl_kernel, cl_uint, const size_t*, const size_t*, const size_t*, cl_uint, const cl_event*, \
      cl_event*) -> cl_int { return code; }
  {
    const auto out = with(MHA_LAUNCH(CL_OUT_OF_RESOURCES));
    check_refusal(arm, "cannot compute Q: it ran out of memory or registers", "(CL_OUT_OF_RESOURCES)");
  }
  {
    const auto out = with(MHA_LAUNCH(CL_MEM_OBJECT_ALLOCATION_FAILURE));
    check_refusal(arm, "its memory is too small", "(CL_MEM_OBJECT_ALLOCATION_FAILURE)");
  }
  {
    const auto out = with(MHA_LAUNCH(CL_DEVICE_NOT_AVAILABLE));
    check_refusal(arm, "it is not available any more", "(CL_DEVICE_NOT_AVAILABLE)");
  }
  {
    const auto out = with(MHA_LAUNCH(-9999));
    check_refusal(arm, "its driver reports an error", "(OpenCL error -9999)");
  }
#undef MHA_LAUNCH
  CHECK(refusal(arm).exit == Exit::fine);
}

TEST_CASE("memory, reading back, opening and building can fail as well", "[opencl]") {
  if (opencl_arms().empty()) return;
  const Arm arm = opencl_arms().front();
  {
    const Instead no_memory(
        &OpenCl::clCreateBuffer, +[](cl_context, cl_mem_flags, size_t, void*, cl_int* code) -> cl_mem {
          *code = CL_INVALID_BUFFER_SIZE;
          return nullptr;
        });
    check_refusal(arm, "cannot take X: its memory is too small", "(CL_INVALID_BUFFER_SIZE)");
  }
  {
    const Instead lost(
        &OpenCl::clEnqueueReadBuffer,
        +[](cl_command_queue, cl_mem, cl_bool, size_t, size_t, void*, cl_uint, const cl_event*, cl_event*) -> cl_int {
          return CL_OUT_OF_HOST_MEMORY;
        });
    check_refusal(arm, "cannot give back ", "(CL_OUT_OF_HOST_MEMORY)");
  }
  {
    const Instead taken(
        &OpenCl::clCreateContext,
        +[](const cl_context_properties*, cl_uint, const cl_device_id*,
            void(CL_CALLBACK*)(const char*, const void*, size_t, void*), void*, cl_int* code) -> cl_context {
          *code = CL_DEVICE_NOT_AVAILABLE;
          return nullptr;
        });
    check_refusal(arm_in("/nonexistent/1"), "cannot be opened: it is not available", "(CL_DEVICE_NOT_AVAILABLE)");
  }
  {
    const Instead broken(
        &OpenCl::clBuildProgram,
        +[](cl_program, cl_uint, const cl_device_id*, const char*, void(CL_CALLBACK*)(cl_program, void*), void*) -> cl_int {
          return CL_BUILD_PROGRAM_FAILURE;
        });
    check_refusal(arm_in("/nonexistent/2"), "cannot build the kernels; its compiler says", "");
  }
  CHECK(refusal(arm).exit == Exit::fine);
}

TEST_CASE("a device without float64 says so, and computes in float32", "[opencl]") {
  if (opencl_arms().empty()) return;
  real_info = opencl()->clGetDeviceInfo;
  const Instead without(&OpenCl::clGetDeviceInfo, &info_without_f64);
  CHECK_FALSE(opencl_devices().front().has_f64);
  Arm arm = arm_in("/nonexistent/3");
  REQUIRE(arm.dtype == Dtype::f32);
  CHECK(refusal(arm).exit == Exit::fine);
  arm.dtype = Dtype::f64;
  check_refusal(arm, "has no float64; compute with --dtype f32", "");
}

TEST_CASE("more than the device's memory is refused before the driver is asked", "[opencl]") {
  if (opencl_arms().empty()) return;
  const Arm arm = opencl_arms().front();
  const Problem problem = small();
  Plan plan = make_plan(problem);
  for (Value& value : plan.values)
    if (value.step == StepId::scores) value.shape = {1, 3, Index{1} << 20, Index{1} << 20};  // 24 TiB
  try {
    run(plan, {std::vector<bool>(plan.values.size(), false), arm.dtype, {}, arm.device});
    FAIL("24 TiB were found");
  } catch (const Error& error) {
    CHECK(error.exit_code() == Exit::no_device);
    CHECK(std::string(error.what()).find("cannot compute scores: its memory is too small") != std::string::npos);
  }
}

TEST_CASE("a built program is taken from the cache, and built anew where that is damaged", "[opencl]") {
  if (opencl_arms().empty()) return;
  const Tensor expected = output_of(small());
  const fs::path folder = fs::path(test_cache()) / "damage";
  CHECK(builds_anew(folder / "first", expected));
  const fs::path kept = only_file(folder / "first");
  const std::string good = bytes_of(kept);
  const auto again = [&](const std::string& name, const std::string& bytes) {
    fs::create_directories(folder / name);
    write_bytes(folder / name / kept.filename(), bytes);
    const bool anew = builds_anew(folder / name, expected);
    fs::copy(folder / name, folder / (name + " mended"));
    CHECK_FALSE(builds_anew(folder / (name + " mended"), expected));
    return anew;
  };
  CHECK_FALSE(again("same", good));
  std::string flipped = good;
  flipped[good.size() / 2] = static_cast<char>(flipped[good.size() / 2] ^ 1);
  CHECK(again("flipped", flipped));
  CHECK(again("short", good.substr(0, good.size() - 1)));
  CHECK(again("long", good + "x"));
  CHECK(again("empty", ""));
  CHECK(again("other", "something else entirely, longer than the header of a cache file is"));
}

TEST_CASE("the cache gives back what was kept under the same key, whole", "[opencl]") {
  const fs::path folder = fs::path(test_cache()) / "unit";
  const std::string binary("\0\1binary\n\xff", 10);
  const ProgramCache cache(folder.string(), "key\nof two lines");
  CHECK_FALSE(cache.find());
  cache.keep(binary);
  CHECK(cache.find() == binary);
  CHECK_FALSE(ProgramCache(folder.string(), "another key").find());
  CHECK_FALSE(ProgramCache("", "key\nof two lines").find());
  const std::string good = bytes_of(cache.path());
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string damaged = good;
    damaged[i] = static_cast<char>(damaged[i] ^ 16);
    write_bytes(cache.path(), damaged);
    CHECK_FALSE(cache.find());
    write_bytes(cache.path(), good.substr(0, i));
    CHECK_FALSE(cache.find());
  }
  // A file of another key that has come under this key's name.
  write_bytes(cache.path(), good);
  fs::copy_file(cache.path(), ProgramCache(folder.string(), "key").path());
  CHECK_FALSE(ProgramCache(folder.string(), "key").find());
  cache.keep("newer");
  CHECK(cache.find() == "newer");
  // A pipe would be waited for, and a device need not end.
  fs::remove(cache.path());
  REQUIRE(mkfifo(cache.path().c_str(), 0600) == 0);
  CHECK_FALSE(cache.find());
  fs::remove(cache.path());
  fs::create_symlink("/dev/zero", cache.path());
  CHECK_FALSE(cache.find());
}

TEST_CASE("a cache folder that cannot be made is no error", "[opencl]") {
  const ProgramCache cache("/dev/null/mha", "key");
  cache.keep("binary");
  CHECK_FALSE(cache.find());
  if (opencl_arms().empty()) return;
  CHECK(builds_anew("/dev/null/mha", output_of(small())));
}

}  // namespace mha::test
#endif
