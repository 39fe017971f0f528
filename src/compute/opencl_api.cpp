// Finds OpenCL's library and the devices of this machine, as they describe themselves, and says its errors in words.
#include "compute/opencl_api.hpp"

#include <dlfcn.h>

#include "compute/backend.hpp"

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

constexpr Text too_little_memory = {
    "its memory is too small for this; fewer tokens or heads need less, --dtype f32 half as much, and --device cpu uses "
    "the machine's own",
    "它的内存不够；词元或头少一些就够，--dtype f32 只需一半，--device cpu 使用本机自己的内存"};
constexpr Text out_of_resources = {
    "it ran out of memory or registers, or stopped on an error of its own; fewer tokens or heads need less",
    "它用尽了内存或寄存器，或因自身错误而停止；词元或头少一些就够"};
Text meaning_of(cl_int code) {
  switch (code) {
    case CL_DEVICE_NOT_AVAILABLE:
    case CL_INVALID_DEVICE:
    case CL_INVALID_COMMAND_QUEUE:
      return {"it is not available any more: it was lost, or is in use by others",
              "它已不可用：设备已断开，或正被其他程序占用"};
    case CL_COMPILER_NOT_AVAILABLE: return {"its driver has no compiler", "它的驱动程序没有编译器"};
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_INVALID_BUFFER_SIZE: return too_little_memory;
    case CL_OUT_OF_RESOURCES: return out_of_resources;
    case CL_OUT_OF_HOST_MEMORY:
      return {"its driver found too little memory on this machine; fewer tokens or heads need less",
              "它的驱动程序在本机找不到足够的内存；词元或头少一些就够"};
    case CL_BUILD_PROGRAM_FAILURE: return {"its compiler refuses the kernels", "它的编译器拒绝这些内核"};
    default:
      return {"its driver reports an error; --device cpu needs none",
              "它的驱动程序报告了错误；--device cpu 不需要驱动程序"};
  }
}

#define MHA_ERROR_NAMES(row)                                                                                           \
  row(CL_DEVICE_NOT_FOUND) row(CL_DEVICE_NOT_AVAILABLE) row(CL_COMPILER_NOT_AVAILABLE)                                 \
      row(CL_MEM_OBJECT_ALLOCATION_FAILURE) row(CL_OUT_OF_RESOURCES) row(CL_OUT_OF_HOST_MEMORY)                        \
          row(CL_BUILD_PROGRAM_FAILURE) row(CL_INVALID_VALUE) row(CL_INVALID_DEVICE) row(CL_INVALID_CONTEXT)           \
              row(CL_INVALID_COMMAND_QUEUE) row(CL_INVALID_MEM_OBJECT) row(CL_INVALID_BINARY)                          \
                  row(CL_INVALID_BUILD_OPTIONS) row(CL_INVALID_PROGRAM) row(CL_INVALID_PROGRAM_EXECUTABLE)             \
                      row(CL_INVALID_KERNEL_NAME) row(CL_INVALID_KERNEL) row(CL_INVALID_ARG_INDEX)                     \
                          row(CL_INVALID_ARG_VALUE) row(CL_INVALID_ARG_SIZE) row(CL_INVALID_KERNEL_ARGS)               \
                              row(CL_INVALID_WORK_DIMENSION) row(CL_INVALID_WORK_GROUP_SIZE)                           \
                                  row(CL_INVALID_WORK_ITEM_SIZE) row(CL_INVALID_OPERATION) row(CL_INVALID_BUFFER_SIZE) \
                                      row(CL_INVALID_GLOBAL_WORK_SIZE)

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

DeviceInfo described(cl_device_id device, std::size_t number) {
  DeviceInfo info;
  info.index = fmt::format("opencl:{}", number);
  info.name = device_text(device, CL_DEVICE_NAME);
  info.vendor = device_text(device, CL_DEVICE_VENDOR);
  info.memory = static_cast<Index>(device_number<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE));
  info.has_f64 = has_f64(device);
  const auto type = device_number<cl_device_type>(device, CL_DEVICE_TYPE);
  info.type = (type & CL_DEVICE_TYPE_GPU) != 0   ? DeviceInfo::Type::gpu
              : (type & CL_DEVICE_TYPE_CPU) != 0 ? DeviceInfo::Type::cpu
                                                 : DeviceInfo::Type::other;
  return info;
}

}  // namespace

OpenCl* opencl() {
  static const std::unique_ptr<OpenCl> functions = load();
  return functions.get();
}

std::string opencl_error_name(cl_int code) {
  switch (code) {
#define MHA_ERROR_NAME(name) \
  case name: return #name;
    MHA_ERROR_NAMES(MHA_ERROR_NAME)
#undef MHA_ERROR_NAME
    default: return fmt::format("OpenCL error {}", code);
  }
}

void check_opencl(cl_int code, const std::string& device, const Saying& task) {
  if (code == CL_SUCCESS) return;
  throw Error(
      say({"{} cannot {}: {} ({})", "{} 无法{}：{}（{}）"}, device, task, meaning_of(code), opencl_error_name(code)),
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

std::vector<DeviceInfo> opencl_devices() {
  std::vector<DeviceInfo> devices;
  for (cl_device_id device : all_opencl_devices()) devices.push_back(described(device, devices.size()));
  return devices;
}

std::optional<Saying> opencl_lack() {
  if (opencl() == nullptr)
    return Saying{"no OpenCL library was found; Debian: ocl-icd-libopencl1, and a driver for the device",
                  "找不到 OpenCL 库；Debian 的软件包是 ocl-icd-libopencl1，另外还需要设备的驱动程序"};
  if (all_opencl_devices().empty())
    return Saying{
        "there is an OpenCL library but no driver with a device; Debian has pocl-opencl-icd for the processor, and GPUs' "
        "drivers bring their own",
        "有 OpenCL 库，但没有带设备的驱动程序；Debian 的 pocl-opencl-icd 可用于处理器，GPU 的驱动程序自带 OpenCL"};
  return std::nullopt;
}

}  // namespace mha::compute
