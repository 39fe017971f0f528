// Every backend with every dtype and every product kernel, for the tests that hold each of them to the same laws.
#pragma once

#include "folders.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "compute/backend.hpp"
#include "compute/cpu_variants.hpp"

namespace mha::test {

struct Arm {
  std::string name;
  Device device;
  Dtype dtype;
  double exactness;          // how far |a − b| / max(1, |b|) may be off on small problems
  std::string kernels = {};  // of the CPU: empty for what a problem of this size uses

  bool is_cpu() const { return device.is_cpu(); }
};

// Programs that the tests build are kept in a folder of this process, so that no other run's are trusted.
inline std::string test_cache() {
  static const std::string folder = "/tmp/mha_test_cache_" + std::to_string(getpid());
  static const int removed_at_exit = std::atexit([] { (void)!std::system(("rm -rf " + folder).c_str()); });
  (void)removed_at_exit;
  return folder;
}

// The first OpenCL device is enough: on a machine with a GPU it may be that one.
inline std::vector<Arm> opencl_arms() {
  std::vector<Arm> arms;
  const std::vector<DeviceInfo> devices = opencl_devices();
  if (devices.empty()) return arms;
  for (const Device::Product product : {Device::Product::plain, Device::Product::tiled})
    for (const Dtype dtype : {Dtype::f64, Dtype::f32}) {
      if (dtype == Dtype::f64 && !devices.front().has_f64) continue;
      Device device = find_device({DeviceChoice::Kind::opencl, 0});
      device.cache_folder = test_cache();
      device.product = product;
      const std::string kernel = product == Device::Product::plain ? "plain" : "tiled";
      arms.push_back(
          {"opencl " + kernel + " " + std::string(dtype_name(dtype)), device, dtype, dtype == Dtype::f64 ? 1e-11 : 1e-4});
    }
  return arms;
}

inline std::vector<Arm> every_backend() {
  std::vector<Arm> arms = {{"cpu f64", {}, Dtype::f64, 1e-12}, {"cpu f32", {}, Dtype::f32, 1e-5}};
  for (const std::string_view kernels : cpu_variants())
    for (const Dtype dtype : {Dtype::f64, Dtype::f32})
      arms.push_back({"cpu " + std::string(kernels) + " " + std::string(dtype_name(dtype)),
                      {},
                      dtype,
                      dtype == Dtype::f64 ? 1e-12 : 1e-5,
                      std::string(kernels)});
  for (Arm& arm : opencl_arms()) arms.push_back(std::move(arm));
  return arms;
}

}  // namespace mha::test
