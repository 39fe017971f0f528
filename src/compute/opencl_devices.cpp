// The OpenCL devices of this machine, as they describe themselves.
#include <fmt/format.h>

#include "compute/opencl.hpp"
#include "compute/opencl_api.hpp"

namespace mha::compute {
namespace {

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

std::vector<DeviceInfo> opencl_devices() {
  std::vector<DeviceInfo> devices;
  for (cl_device_id device : all_opencl_devices()) devices.push_back(described(device, devices.size()));
  return devices;
}

std::optional<std::string> opencl_lack() {
  if (opencl() == nullptr) return "no OpenCL library was found; Debian: ocl-icd-libopencl1, and a driver for the device";
  if (all_opencl_devices().empty())
    return "there is an OpenCL library but no driver with a device; Debian has pocl-opencl-icd for the processor, and "
           "GPUs' "
           "drivers bring their own";
  return std::nullopt;
}

}  // namespace mha::compute
