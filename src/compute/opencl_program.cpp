// Builds the kernels, or takes them from the cache.
// A file of the cache: a line that says what it is, the checksum of all that follows, the key, the binary.
#include "compute/opencl_program.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <tuple>

namespace mha::compute {
namespace {

constexpr std::string_view first_line = "mha OpenCL program 1\n";

// "KEY-BYTES BINARY-BYTES\n", the key, the binary: what the checksum covers.
std::string content_of(std::string_view key, std::string_view binary) {
  return fmt::format("{} {}\n{}{}", key.size(), binary.size(), key, binary);
}

std::string header_of(std::string_view content) {
  return fmt::format("{}{:016x}\n", first_line, checksum(content));
}

// Empty where there is none, or something that is no ordinary file.
std::string whole_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  if (file) bytes << file.rdbuf();
  return std::move(bytes).str();
}

constexpr Index tiled_group = 256, softmax_group = 64;
constexpr std::size_t longest_log = 400;

// All that a built program depends on: another device, driver, version or text of the kernels is another program.
std::string cache_key(cl_device_id device, const std::string& options) {
  const auto platform = device_number<cl_platform_id>(device, CL_DEVICE_PLATFORM);
  std::string key = fmt::format("mha {}\nkernels {:016x}\noptions {}\n", MHA_VERSION, checksum(opencl_kernels()), options);
  for (const cl_platform_info what : {CL_PLATFORM_NAME, CL_PLATFORM_VERSION})
    key += fmt::format("platform {}\n", platform_text(platform, what));
  for (const cl_device_info what : {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION, CL_DRIVER_VERSION})
    key += fmt::format("device {}\n", device_text(device, what));
  return key;
}

std::string build_log(cl_program program, cl_device_id device) {
  std::size_t size = 0;
  opencl()->clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  opencl()->clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  log.resize(std::min({log.size(), log.find('\0'), longest_log}));
  std::replace(log.begin(), log.end(), '\n', ' ');
  return log;
}

Program from_source(cl_context context, cl_device_id device, const std::string& name, const std::string& options) {
  const char* text = opencl_kernels().data();
  const std::size_t size = opencl_kernels().size();
  cl_int code = CL_SUCCESS;
  Program program(opencl()->clCreateProgramWithSource(context, 1, &text, &size, &code));
  check_opencl(code, name, {"take the kernels", "接受内核"});
  code = opencl()->clBuildProgram(program.get(), 1, &device, options.c_str(), nullptr, nullptr);
  if (code == CL_BUILD_PROGRAM_FAILURE)
    throw Error(say({"{} cannot build the kernels; its compiler says: {}", "{} 无法编译内核；它的编译器说：{}"}, name,
                    build_log(program.get(), device)),
                Exit::no_device);
  check_opencl(code, name, {"build the kernels", "编译内核"});
  return program;
}

// Nothing where the driver does not take it: a driver may change without changing its version.
Program from_binary(cl_context context, cl_device_id device, const std::string& binary, const std::string& options) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const std::size_t size = binary.size();
  cl_int taken = CL_SUCCESS, code = CL_SUCCESS;
  Program program(opencl()->clCreateProgramWithBinary(context, 1, &device, &size, &bytes, &taken, &code));
  if (code != CL_SUCCESS || taken != CL_SUCCESS) return {};
  code = opencl()->clBuildProgram(program.get(), 1, &device, options.c_str(), nullptr, nullptr);
  return code == CL_SUCCESS ? std::move(program) : Program();
}

// Empty where the driver does not give it.
std::string binary_of(cl_program program) {
  std::size_t size = 0;
  if (opencl()->clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr) != CL_SUCCESS) return {};
  std::string binary(size, '\0');
  auto* bytes = reinterpret_cast<unsigned char*>(binary.data());
  const bool got = opencl()->clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(bytes), &bytes, nullptr) == CL_SUCCESS;
  return got ? binary : std::string();
}

Program build_program(cl_context context, cl_device_id device, const std::string& name, const std::string& options,
                      const std::string& cache_folder) {
  const ProgramCache cache(cache_folder, cache_key(device, options));
  if (const std::optional<std::string> kept = cache.find())
    if (Program program = from_binary(context, device, *kept, options)) return program;
  Program program = from_source(context, device, name, options);
  if (const std::string binary = binary_of(program.get()); !binary.empty()) cache.keep(binary);
  return program;
}

Session opened(const Device& device, Dtype dtype) {
  const std::vector<cl_device_id> all = all_opencl_devices();
  assert(device.opencl >= 0 && static_cast<std::size_t>(device.opencl) < all.size());
  Session session;
  session.device = all[static_cast<std::size_t>(device.opencl)];
  session.name = device.description;
  session.traits = program_traits(session.device, dtype);
  if (dtype == Dtype::f64 && !has_f64(session.device))
    throw Error(
        say({"{} has no float64; compute with --dtype f32", "{} 没有 float64；请用 --dtype f32 计算"}, session.name),
        Exit::no_device);
  cl_int code = CL_SUCCESS;
  session.context = Context(opencl()->clCreateContext(nullptr, 1, &session.device, nullptr, nullptr, &code));
  check_opencl(code, session.name, {"be opened", "打开"});
  session.program =
      build_program(session.context.get(), session.device, session.name, session.traits.options, device.cache_folder);
  return session;
}

}  // namespace

std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

ProgramCache::ProgramCache(std::string folder, std::string key) : folder_(std::move(folder)), key_(std::move(key)) {}

std::string ProgramCache::path() const {
  return fmt::format("{}/opencl-{:016x}.bin", folder_, checksum(key_));
}

std::optional<std::string> ProgramCache::find() const {
  if (folder_.empty()) return std::nullopt;
  const std::string file = whole_file(path());
  const std::size_t header_size = header_of("").size();
  if (file.size() < header_size) return std::nullopt;
  const std::string_view content = std::string_view(file).substr(header_size);
  if (std::string_view(file).substr(0, header_size) != header_of(content)) return std::nullopt;
  // The content is as it was written, so its sizes are true; the key may still be another one with the same hash.
  const std::size_t sizes_end = content.find('\n') + 1;
  const std::string_view after_sizes = content.substr(sizes_end);
  if (!after_sizes.starts_with(key_)) return std::nullopt;
  const std::string_view binary = after_sizes.substr(key_.size());
  if (content_of(key_, binary) != content) return std::nullopt;
  return std::string(binary);
}

void ProgramCache::keep(std::string_view binary) const {
  if (folder_.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  const std::string temporary = fmt::format("{}.{}", path(), getpid());
  std::ofstream file(temporary, std::ios::binary);
  const std::string content = content_of(key_, binary);
  file << header_of(content) << content;
  file.close();
  if (file) std::filesystem::rename(temporary, path(), error);
  if (!file || error) std::filesystem::remove(temporary, error);
}

ProgramTraits program_traits(cl_device_id device, Dtype dtype) {
  const bool f32 = dtype == Dtype::f32;
  const auto config = device_number<cl_device_fp_config>(device, CL_DEVICE_SINGLE_FP_CONFIG);
  const auto most_items = static_cast<Index>(device_number<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  const auto native =
      device_number<cl_uint>(device, f32 ? CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT : CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE);
  ProgramTraits traits;
  traits.width = std::bit_floor(std::clamp<cl_uint>(native, f32 ? 4 : 2, 16));
  traits.group =
      static_cast<Index>(std::bit_floor(static_cast<std::uint64_t>(std::clamp<Index>(most_items, 1, softmax_group))));
  const bool is_cpu = (device_number<cl_device_type>(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;
  traits.block = {traits.group, std::clamp<Index>(most_items / traits.group, 1, is_cpu ? 16 : 4)};
  traits.tiled = most_items >= tiled_group;
  traits.options =
      fmt::format("-cl-std=CL1.2 -D REAL={} -D WIDTH={} -D GROUP={}", f32 ? "float" : "double", traits.width, traits.group);
  if (traits.tiled) traits.options += " -D TILED";
  if ((config & CL_FP_FMA) != 0) traits.options += " -D USE_FMA";
  if (f32 && (config & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0)
    traits.options += " -cl-fp32-correctly-rounded-divide-sqrt";
  return traits;
}

const Session& session_on(const Device& device, Dtype dtype) {
  using Key = std::tuple<int, Dtype, std::string>;
  static auto& sessions = *new std::map<Key, Session>;  // never destroyed: at the end the drivers may be gone already
  const Key key(device.opencl, dtype, device.cache_folder);
  auto found = sessions.find(key);
  if (found == sessions.end()) found = sessions.emplace(key, opened(device, dtype)).first;
  return found->second;
}

}  // namespace mha::compute
