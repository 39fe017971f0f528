// OpenCL as the rest of the program sees it: the devices, and a backend on one of them. Without OpenCL's headers the build
// has opencl_missing.cpp in place of all other files of this name.
#pragma once

#include "compute/backend.hpp"
#include "compute/device.hpp"

namespace mha::compute {

// All devices of all platforms, in the platforms' order. Empty where there is no OpenCL library.
std::vector<DeviceInfo> opencl_devices();

// Why opencl_devices() is empty, and what would help; nothing where it is not.
std::optional<Saying> opencl_lack();

// A backend that keeps all values on the device: groups of the schedule must be single steps on whole values. Operands and
// results as in CpuBackend. Throws Error with Exit::no_device for whatever the device or its driver refuses. What attention
// itself does not need (ops and variants of the simulated mistakes) is refused as well.
std::unique_ptr<Backend> make_opencl_backend(const Plan& plan, const Device& device, Dtype dtype);

}  // namespace mha::compute
