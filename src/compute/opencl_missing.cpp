// What stands for OpenCL in a build that was made without its headers.

#include "compute/backend.hpp"

namespace mha::compute {

std::vector<DeviceInfo> opencl_devices() {
  return {};
}

std::optional<Saying> opencl_lack() {
  return Saying{"this build has no OpenCL: its headers were not there when it was made (Debian: opencl-headers)",
                "这个版本不含 OpenCL：编译时没有它的头文件（Debian 的软件包是 opencl-headers）"};
}

std::unique_ptr<Backend> make_opencl_backend(const Plan&, const Device&, Dtype) {
  throw Error(*opencl_lack(), Exit::no_device);
}

}  // namespace mha::compute
