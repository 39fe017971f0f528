// mha devices: where the steps can be computed.

#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "compute/opencl.hpp"
#include "show/pages/page.hpp"

namespace mha::cli {
namespace {

struct DevicesOptions {
  std::optional<std::string> lang;
  OutputTexts output;
};

constexpr Text device_header{"device", "设备"};
constexpr Text device_name_header{"name", "名称"};
constexpr Text vendor_header{"vendor", "厂商"};
constexpr Text memory_header{"memory", "内存"};
constexpr Text f64_header{"float64", "float64"};
constexpr Text yes{"yes", "支持"};
constexpr Text no{"no", "不支持"};

std::string memory_text(Index bytes) {
  return bytes > 0 ? fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30)) : "?";
}

void list_devices(Language language, const OutputTexts& texts, World& world) {
  show::PageBuilder page(language);
  show::Table table{page.header(device_header, memory_header, f64_header, vendor_header, device_name_header), {}, {}};
  table.numeric = {false, true, false, false, false};
  const auto add = [&](const compute::DeviceInfo& device) {
    table.rows.push_back({device.index, memory_text(device.memory), page.say(device.has_f64 ? yes : no),
                          show::Words().quote(device.vendor), show::Words().quote(device.name)});
  };
  add(compute::processor());
  for (const compute::DeviceInfo& device : compute::opencl_devices()) add(device);
  page.add(std::move(table));
  if (const std::optional<Saying> lack = compute::opencl_lack())
    page.paragraph({"no OpenCL device: {}", "没有 OpenCL 设备：{}"}, *lack);
  Output output(texts, page_only, style_from({}, world), world);
  output.open();
  output.write(page.take());
  output.finish();
}

}  // namespace

Action setup_devices(CommandLine& app) {
  auto options = std::make_shared<DevicesOptions>();
  declare_language(app, options->lang, {"list", "列表"});
  declare_output(app, options->output, page_only);
  declare_examples(
      app, {},
      {{"mha devices                              ", {"the list", "列表"}},
       {"mha run --device opencl:0 --dtype f32    ", {"compute on one of them", "在其中一个设备上计算"}},
       {"mha run --device opencl:0 --against cpu  ", {"and hold each step against the CPU", "并把每一步与 CPU 对照"}}});
  return [options](World& world) { list_devices(language_from(options->lang, world), options->output, world); };
}

}  // namespace mha::cli
