// Finds OpenCL's library, and says its errors in words.
#include "compute/opencl_api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <memory>

namespace mha::compute {
namespace {

constexpr std::array library_names = {"libOpenCL.so.1", "libOpenCL.so",
                                      "/System/Library/Frameworks/OpenCL.framework/OpenCL"};

// The library stays loaded until the program ends: drivers do not like to be unloaded.
std::unique_ptr<OpenCl> load() {
  void* library = nullptr;
  for (const char* name : library_names)
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  auto functions = std::make_unique<OpenCl>();
  bool complete = true;
#define MHA_FIND(name)                                                                  \
  functions->name = reinterpret_cast<decltype(functions->name)>(dlsym(library, #name)); \
  complete = complete && functions->name != nullptr;
  MHA_OPENCL_FUNCTIONS(MHA_FIND)
#undef MHA_FIND
  return complete ? std::move(functions) : nullptr;
}

struct ErrorName {
  cl_int code;
  const char* name;
  Text meaning;  // empty: the name must do
};

constexpr Text too_little_memory = {
    "its memory is too small for this; fewer tokens or heads need less, --dtype f32 half as much, and --device cpu uses "
    "the machine's own",
    "它的内存不够；词元或头少一些就够，--dtype f32 只需一半，--device cpu 使用本机自己的内存"};
constexpr Text out_of_resources = {
    "it ran out of memory or registers, or stopped on an error of its own; fewer tokens or heads need less",
    "它用尽了内存或寄存器，或因自身错误而停止；词元或头少一些就够"};
constexpr Text lost = {"it is not available any more: it was lost, or is in use by others",
                       "它已不可用：设备已断开，或正被其他程序占用"};

#define MHA_ERROR(name, ...)      \
  ErrorName {                     \
    name, #name, Text __VA_ARGS__ \
  }
constexpr std::array error_names = {
    MHA_ERROR(CL_DEVICE_NOT_FOUND, {}),
    MHA_ERROR(CL_DEVICE_NOT_AVAILABLE, {lost}),
    MHA_ERROR(CL_COMPILER_NOT_AVAILABLE, {"its driver has no compiler", "它的驱动程序没有编译器"}),
    MHA_ERROR(CL_MEM_OBJECT_ALLOCATION_FAILURE, {too_little_memory}),
    MHA_ERROR(CL_OUT_OF_RESOURCES, {out_of_resources}),
    MHA_ERROR(CL_OUT_OF_HOST_MEMORY, {"its driver found too little memory on this machine; fewer tokens or heads need less",
                                      "它的驱动程序在本机找不到足够的内存；词元或头少一些就够"}),
    MHA_ERROR(CL_BUILD_PROGRAM_FAILURE, {"its compiler refuses the kernels", "它的编译器拒绝这些内核"}),
    MHA_ERROR(CL_INVALID_VALUE, {}),
    MHA_ERROR(CL_INVALID_DEVICE, {lost}),
    MHA_ERROR(CL_INVALID_CONTEXT, {}),
    MHA_ERROR(CL_INVALID_COMMAND_QUEUE, {lost}),
    MHA_ERROR(CL_INVALID_MEM_OBJECT, {}),
    MHA_ERROR(CL_INVALID_BINARY, {}),
    MHA_ERROR(CL_INVALID_BUILD_OPTIONS, {}),
    MHA_ERROR(CL_INVALID_PROGRAM, {}),
    MHA_ERROR(CL_INVALID_PROGRAM_EXECUTABLE, {}),
    MHA_ERROR(CL_INVALID_KERNEL_NAME, {}),
    MHA_ERROR(CL_INVALID_KERNEL, {}),
    MHA_ERROR(CL_INVALID_ARG_INDEX, {}),
    MHA_ERROR(CL_INVALID_ARG_VALUE, {}),
    MHA_ERROR(CL_INVALID_ARG_SIZE, {}),
    MHA_ERROR(CL_INVALID_KERNEL_ARGS, {}),
    MHA_ERROR(CL_INVALID_WORK_DIMENSION, {}),
    MHA_ERROR(CL_INVALID_WORK_GROUP_SIZE, {}),
    MHA_ERROR(CL_INVALID_WORK_ITEM_SIZE, {}),
    MHA_ERROR(CL_INVALID_OPERATION, {}),
    MHA_ERROR(CL_INVALID_BUFFER_SIZE, {too_little_memory}),
    MHA_ERROR(CL_INVALID_GLOBAL_WORK_SIZE, {}),
};
#undef MHA_ERROR

const ErrorName* find_error(cl_int code) {
  for (const ErrorName& row : error_names)
    if (row.code == code) return &row;
  return nullptr;
}

// What a query gives that first tells the size of its answer.
template <typename Query>
std::string text_of(const Query& query) {
  std::size_t size = 0;
  if (query(0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
  std::string text(size, '\0');
  if (query(size, text.data(), nullptr) != CL_SUCCESS) return {};
  text.resize(text.find_last_not_of(std::string_view("\0 ", 2)) + 1);
  text.erase(0, text.find_first_not_of(' '));
  return text;
}

}  // namespace

OpenCl* opencl() {
  static const std::unique_ptr<OpenCl> functions = load();
  return functions.get();
}

std::string opencl_error_name(cl_int code) {
  const ErrorName* known = find_error(code);
  return known != nullptr ? known->name : fmt::format("OpenCL error {}", code);
}

void check_opencl(cl_int code, const std::string& device, const Saying& task) {
  if (code == CL_SUCCESS) return;
  const ErrorName* known = find_error(code);
  const Text meaning = known != nullptr && !known->meaning.en.empty()
                           ? known->meaning
                           : Text{"its driver reports an error; --device cpu needs none",
                                  "它的驱动程序报告了错误；--device cpu 不需要驱动程序"};
  throw Error(say({"{} cannot {}: {} ({})", "{} 无法{}：{}（{}）"}, device, task, meaning, opencl_error_name(code)),
              Exit::no_device);
}

std::string device_text(cl_device_id device, cl_device_info what) {
  return text_of([&](std::size_t size, void* text, std::size_t* needed) {
    return opencl()->clGetDeviceInfo(device, what, size, text, needed);
  });
}

std::string platform_text(cl_platform_id platform, cl_platform_info what) {
  return text_of([&](std::size_t size, void* text, std::size_t* needed) {
    return opencl()->clGetPlatformInfo(platform, what, size, text, needed);
  });
}

std::vector<cl_device_id> all_opencl_devices() {
  std::vector<cl_device_id> all;
  cl_uint count = 0;
  if (opencl() == nullptr || opencl()->clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) return all;
  std::vector<cl_platform_id> platforms(count);
  if (count == 0 || opencl()->clGetPlatformIDs(count, platforms.data(), nullptr) != CL_SUCCESS) return all;
  for (cl_platform_id platform : platforms) {
    cl_uint here = 0;
    if (opencl()->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &here) != CL_SUCCESS || here == 0) continue;
    std::vector<cl_device_id> devices(here);
    if (opencl()->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, here, devices.data(), nullptr) == CL_SUCCESS)
      all.insert(all.end(), devices.begin(), devices.end());
  }
  return all;
}

bool has_f64(cl_device_id device) {
  return (" " + device_text(device, CL_DEVICE_EXTENSIONS) + " ").find(" cl_khr_fp64 ") != std::string::npos;
}

}  // namespace mha::compute
