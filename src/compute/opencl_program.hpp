// The kernels, built for one device and one type of number, and kept in the user's cache folder, so that they are compiled
// once for each device and driver.
#pragma once

#include "compute/device.hpp"
#include "compute/opencl_api.hpp"
#include "core/trace.hpp"

namespace mha::compute {

// The text of kernels.cl, which travels inside the binary.
std::string_view opencl_kernels();

// What the kernels are built with, which the host must know as well.
struct ProgramTraits {
  Index width = 4;   // numbers in a vector
  Index group = 64;  // work-items of a softmax
  struct Block {
    Index cols, rows;
  };
  Block block{64, 4};  // work-items that go together where each makes one entry
  bool tiled = false;
  std::string options;  // as the compiler takes them
};
ProgramTraits program_traits(cl_device_id device, Dtype dtype);

// A device made ready: opened, and the kernels built for it, from the cache where that holds them whole, else from source.
struct Session {
  cl_device_id device = nullptr;
  std::string name;  // in messages
  ProgramTraits traits;
  Context context;
  Program program;
};

// Opened at the first call for this device, dtype and cache folder, and kept until the program ends.
const Session& session_on(const Device& device, Dtype dtype);

// 64 bits that differ when a byte does (FNV-1a): against damage, not against an attacker, who could write to the user's
// folders anyway.
std::uint64_t checksum(std::string_view bytes);

// One file for each key; the key is any text that names all that the binary depends on.
class ProgramCache {
 public:
  // No folder: nothing is ever found or kept.
  ProgramCache(std::string folder, std::string key);

  // What was kept under this key; nothing where there is no such file, or it is damaged or another key's.
  std::optional<std::string> find() const;

  // Whole or not at all. A folder that cannot be written is no error: the program is then built anew each time.
  void keep(std::string_view binary) const;

  std::string path() const;

 private:
  std::string folder_, key_;
};

}  // namespace mha::compute
