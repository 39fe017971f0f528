// What stands for OpenCL in a build that was made without its headers.
#include <fmt/format.h>

#include "compute/opencl.hpp"

namespace mha::compute {

std::vector<DeviceInfo> opencl_devices() {
  return {};
}

std::optional<std::string> opencl_lack() {
  return "this build has no OpenCL: its headers were not there when it was made (Debian: opencl-headers)";
}

std::unique_ptr<Backend> make_opencl_backend(const Plan&, const Device&, Dtype) {
  throw Error(*opencl_lack(), Exit::no_device);
}

}  // namespace mha::compute
