// What --device says, and which device is meant.
#include "compute/device.hpp"

#include <algorithm>

#include "catch.hpp"
#include "compute/backend.hpp"

namespace mha::test {
namespace {

using Kind = DeviceChoice::Kind;

Exit exit_of(const DeviceChoice& choice) {
  try {
    find_device(choice);
  } catch (const Error& error) {
    return error.exit_code();
  }
  return Exit::fine;
}

}  // namespace

TEST_CASE("the names of devices", "[devices]") {
  CHECK(parse_device("cpu").kind == Kind::cpu);
  CHECK(parse_device("gpu").kind == Kind::gpu);
  CHECK(parse_device("auto").kind == Kind::automatic);
  CHECK(parse_device("opencl").kind == Kind::opencl);
  CHECK(parse_device("opencl").number == 0);
  CHECK(parse_device("opencl:12").number == 12);
  for (const char* wrong : {"", "CPU", "opencl:", "opencl:-1", "opencl:+1", "opencl:1 ", "opencl:1000",
                            "opencl:99999999999", "opencl:0x1", "opencl 1", "cuda"}) {
    INFO(wrong);
    CHECK_THROWS_AS(parse_device(wrong), Error);
  }
}

TEST_CASE("what is not there has exit code 3; auto falls back to the CPU", "[devices]") {
  const std::vector<DeviceInfo> devices = opencl_devices();
  const auto gpu = [](const DeviceInfo& device) { return device.type == DeviceInfo::Type::gpu; };
  const bool has_gpu = std::any_of(devices.begin(), devices.end(), gpu);
  CHECK(exit_of({Kind::opencl, 999}) == Exit::no_device);
  CHECK(exit_of({Kind::opencl, static_cast<int>(devices.size())}) == Exit::no_device);
  CHECK(exit_of({Kind::gpu, 0}) == (has_gpu ? Exit::fine : Exit::no_device));
  CHECK(find_device({Kind::automatic, 0}).is_cpu() == !has_gpu);
  CHECK(find_device({}).is_cpu());
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Device device = find_device({Kind::opencl, static_cast<int>(i)});
    CHECK(device.opencl == static_cast<int>(i));
    CHECK(device.description == devices[i].index + " (" + devices[i].name + ")");
  }
}

TEST_CASE("the processor knows its name and memory", "[devices]") {
  CHECK(processor().index == "cpu");
  CHECK_FALSE(processor().name.empty());
  CHECK(processor().memory > 0);
}

}  // namespace mha::test
