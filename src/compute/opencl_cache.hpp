// Built programs in the user's cache folder, so that the kernels are compiled once for each device and driver.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mha::compute {

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
