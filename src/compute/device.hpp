// Where the steps are computed: this machine's processor, or an OpenCL device.
#pragma once

#include "core/error.hpp"
#include "core/trace.hpp"

namespace mha::compute {

// What `--device` says.
struct DeviceChoice {
  enum class Kind { cpu, gpu, opencl, automatic };
  Kind kind = Kind::cpu;
  int number = 0;  // for Kind::opencl: among the OpenCL devices of all platforms, from 0
};

struct DeviceName {
  DeviceChoice::Kind kind;
  std::string_view name, what;
};
inline constexpr std::array device_names = {
    DeviceName{DeviceChoice::Kind::cpu, "cpu", "this machine's processor"},
    DeviceName{DeviceChoice::Kind::gpu, "gpu", "the first OpenCL device that is a GPU"},
    DeviceName{DeviceChoice::Kind::opencl, "opencl", "OpenCL device 0, or opencl:N for device N of `mha devices`"},
    DeviceName{DeviceChoice::Kind::automatic, "auto", "the first GPU, else cpu"},
};

// "cpu", "gpu", "opencl", "opencl:2" or "auto"; anything else is an Error.
DeviceChoice parse_device(std::string_view text);

// One device as `mha devices` lists it.
struct DeviceInfo {
  enum class Type { cpu, gpu, other };
  std::string index;  // "cpu" or "opencl:0", as --device takes it
  std::string name, vendor;
  Index memory = 0;  // bytes; 0 where it is not known
  bool has_f64 = true;
  Type type = Type::cpu;
};

// This machine's processor.
DeviceInfo processor();

// All devices of all platforms, in the platforms' order. Empty where there is no OpenCL library.
std::vector<DeviceInfo> opencl_devices();

// Why opencl_devices() is empty, and what would help; nothing where it is not.
std::optional<Saying> opencl_lack();

// A device that is there.
struct Device {
  // Which of the two product kernels runs: by the device's type, unless a test wants one of them.
  enum class Product { by_type, tiled, plain };
  int opencl = -1;                  // its number among the OpenCL devices; −1: the CPU backend
  std::string description = "cpu";  // in traces and on pages
  std::string cache_folder = {};    // where built programs are kept; empty: nowhere
  Product product = Product::by_type;

  bool is_cpu() const { return opencl < 0; }
};

// The device that is meant. No platform is touched for Kind::cpu. Where it is not there: an Error with Exit::no_device that
// lists what is.
Device find_device(const DeviceChoice& choice);

}  // namespace mha::compute
