// Which devices there are, and which one is meant.
#include "compute/device.hpp"

#include <unistd.h>

#include <charconv>
#include <fstream>

#include "compute/backend.hpp"
#include "core/suggest.hpp"

namespace mha::compute {
namespace {

constexpr std::string_view numbered = "opencl:";
constexpr int largest_number = 999;

[[noreturn]] void refuse(std::string_view text) {
  const std::vector<std::string_view> names = column_of(device_names, &DeviceName::name);
  throw Error({"--device '{}': expected cpu, gpu, opencl, opencl:N (N from 0 to {}) or auto.{}",
               "--device '{}'：应为 cpu、gpu、opencl、opencl:N（N 从 0 到 {}）或 auto。{}"},
              text, largest_number, did_you_mean(text, names));
}

std::string told(const DeviceInfo& device) {
  return fmt::format("{} ({})", device.index, device.name);
}

[[noreturn]] void not_there(std::string_view wanted, const std::vector<DeviceInfo>& devices) {
  std::vector<std::string> there = {"cpu"};
  for (const DeviceInfo& device : devices) there.push_back(told(device));
  const Saying why = devices.empty() ? say({" ({})", "（{}）"}, *opencl_lack()) : Saying{};
  throw Error(say({"--device {}: there is no such device here; there {} {}{}", "--device {}：本机没有这种设备；{} {}{}"},
                  wanted, devices.empty() ? Text{"is only", "只有"} : Text{"are", "有"}, listed(there), why),
              Exit::no_device);
}

Device opencl_device(const std::vector<DeviceInfo>& devices, std::size_t number) {
  Device device;
  device.opencl = static_cast<int>(number);
  device.description = told(devices[number]);
  return device;
}

// The value of a line "model name : …" of /proc/cpuinfo; empty where there is none.
std::string cpu_fact(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (const std::size_t colon = line.find(": "); colon != std::string::npos && line.starts_with(key))
      return line.substr(colon + 2);
  return {};
}

}  // namespace

DeviceChoice parse_device(std::string_view text) {
  for (const DeviceName& row : device_names)
    if (text == row.name) return {row.kind, 0};
  if (!text.starts_with(numbered)) refuse(text);
  const std::string_view digits = text.substr(numbered.size());
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  if (!whole || number < 0 || number > largest_number || digits.front() == '-') refuse(text);
  return {DeviceChoice::Kind::opencl, number};
}

DeviceInfo processor() {
  DeviceInfo info;
  info.index = "cpu";
  info.name = cpu_fact("model name");
  if (info.name.empty()) info.name = "this machine's processor";
  info.vendor = cpu_fact("vendor_id");
  info.memory = static_cast<Index>(sysconf(_SC_PHYS_PAGES)) * static_cast<Index>(sysconf(_SC_PAGE_SIZE));
  return info;
}

Device find_device(const DeviceChoice& choice) {
  if (choice.kind == DeviceChoice::Kind::cpu) return {};
  const std::vector<DeviceInfo> devices = opencl_devices();
  const auto number = static_cast<std::size_t>(choice.number);
  if (choice.kind == DeviceChoice::Kind::opencl) {
    if (number >= devices.size()) not_there(fmt::format("{}{}", numbered, number), devices);
    return opencl_device(devices, number);
  }
  const auto gpu = std::find_if(devices.begin(), devices.end(),
                                [](const DeviceInfo& device) { return device.type == DeviceInfo::Type::gpu; });
  if (gpu != devices.end()) return opencl_device(devices, static_cast<std::size_t>(gpu - devices.begin()));
  if (choice.kind == DeviceChoice::Kind::automatic) return {};
  not_there("gpu", devices);
}

}  // namespace mha::compute
