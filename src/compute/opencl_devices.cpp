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
