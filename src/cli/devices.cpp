// mha devices: where the steps can be computed.
#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/page_options.hpp"
#include "cli/values.hpp"
#include "compute/opencl.hpp"
#include "show/words/phrases.hpp"

namespace mha::cli {
namespace {

constexpr Text device_header{"device", "设备"};
constexpr Text name_header{"name", "名称"};
constexpr Text vendor_header{"vendor", "厂商"};
constexpr Text memory_header{"memory", "内存"};
constexpr Text f64_header{"float64", "float64"};
constexpr Text yes{"yes", "有"};
constexpr Text no{"no", "无"};

std::string memory_text(Index bytes) {
  return bytes > 0 ? fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30)) : "?";
}

std::vector<show::Words> row_of(const compute::DeviceInfo& device, Language language) {
  return {show::Words(device.index), show::Words(memory_text(device.memory)), show::Words(show::say(language, device.has_f64 ? yes : no)),
          show::Words().quote(device.vendor), show::Words().quote(device.name)};
}

void list_devices(Language language, World& world) {
  show::Table table;
  for (const Text* header : {&device_header, &memory_header, &f64_header, &vendor_header, &name_header})
    table.header.push_back(show::say(language, *header));
  table.numeric = {false, true, false, false, false};
  table.rows.push_back(row_of(compute::processor(), language));
  for (const compute::DeviceInfo& device : compute::opencl_devices()) table.rows.push_back(row_of(device, language));
  show::Document page;
  page.language = language;
  page.blocks.emplace_back(std::move(table));
  if (const std::optional<std::string> lack = compute::opencl_lack())
    page.blocks.emplace_back(show::Note{show::Note::Kind::paragraph, show::Words("no OpenCL device: " + *lack)});
  show::TextStyle style;
  style.width = world.terminal_width;
  style.color = wants_color(world);
  world.out.write(show::write_text(page, style));
}

}  // namespace

Action setup_devices(CLI::App& app) {
  auto lang = std::make_shared<std::optional<std::string>>();
  declare_option(app, "--lang", *lang, "en|zh", "language of the list (from the locale)");
  declare_footer(app,
                 "examples:\n"
                 "  mha devices                                      the list\n"
                 "  mha run --device opencl:0 --dtype f32            compute on one of them\n"
                 "  mha run --device opencl:0 --against cpu          and hold each step against the CPU");
  return [lang](World& world) {
    PageOptionTexts texts;
    texts.lang = *lang;
    list_devices(language_from(texts, world), world);
    return Exit::fine;
  };
}

}  // namespace mha::cli
