// OpenCL's functions, found in its library while the program runs: the program starts on a machine that has none.
#pragma once

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <utility>
#include <vector>

#include "core/error.hpp"

namespace mha::compute {

// The functions that are used, each once.
#define MHA_OPENCL_FUNCTIONS(row)                                                                                       \
  row(clGetPlatformIDs) row(clGetPlatformInfo) row(clGetDeviceIDs) row(clGetDeviceInfo) row(clCreateContext)            \
      row(clReleaseContext) row(clCreateCommandQueue) row(clReleaseCommandQueue) row(clCreateProgramWithSource)         \
          row(clCreateProgramWithBinary) row(clBuildProgram) row(clGetProgramInfo) row(clGetProgramBuildInfo)           \
              row(clReleaseProgram) row(clCreateKernel) row(clReleaseKernel) row(clSetKernelArg)                        \
                  row(clGetKernelWorkGroupInfo) row(clCreateBuffer) row(clReleaseMemObject) row(clEnqueueNDRangeKernel) \
                      row(clEnqueueWriteBuffer) row(clEnqueueReadBuffer) row(clFinish)

struct OpenCl {
#define MHA_MEMBER(name) decltype(&::name) name = nullptr;
  MHA_OPENCL_FUNCTIONS(MHA_MEMBER)
#undef MHA_MEMBER
};

// The library's functions, loaded at the first call; null where there is no library or it lacks one. Tests put functions of
// their own in their place.
OpenCl* opencl();

// "CL_OUT_OF_RESOURCES" for −5; "OpenCL error −9999" for what has no name.
std::string opencl_error_name(cl_int code);

// Throws Error (Exit::no_device) unless the code is CL_SUCCESS: which device, what it should do, what is wrong, what helps.
void check_opencl(cl_int code, const std::string& device, const Saying& task);

// Something that OpenCL gave and wants back.
template <typename T, auto OpenCl::*release>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T handle) : handle_(handle) {}
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Owned() {
    if (handle_ != nullptr) (opencl()->*release)(handle_);
  }

  T get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }

 private:
  T handle_ = nullptr;
};

using Context = Owned<cl_context, &OpenCl::clReleaseContext>;
using Queue = Owned<cl_command_queue, &OpenCl::clReleaseCommandQueue>;
using Program = Owned<cl_program, &OpenCl::clReleaseProgram>;
using Kernel = Owned<cl_kernel, &OpenCl::clReleaseKernel>;
using Buffer = Owned<cl_mem, &OpenCl::clReleaseMemObject>;

// A text or a number that OpenCL tells of a platform, device or program; "" or 0 where it does not.
std::string device_text(cl_device_id device, cl_device_info what);
std::string platform_text(cl_platform_id platform, cl_platform_info what);
template <typename T>
T device_number(cl_device_id device, cl_device_info what) {
  T number{};
  // NOLINTNEXTLINE(bugprone-sizeof-expression): where T is a handle, the handle itself is what is asked for
  return opencl()->clGetDeviceInfo(device, what, sizeof(T), &number, nullptr) == CL_SUCCESS ? number : T{};
}

// The devices of all platforms, in the platforms' order; empty without a library.
std::vector<cl_device_id> all_opencl_devices();
bool has_f64(cl_device_id device);

}  // namespace mha::compute
