// mha devices, examples, models, schema: what there is to choose from.
#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/options.hpp"
#include "compute/backend.hpp"
#include "core/suggest.hpp"
#include "io/problem/problem_reader.hpp"
#include "show/pages/page.hpp"
#include "study/cost/cost.hpp"

namespace mha::cli {
namespace {

struct ListTexts {
  std::optional<std::string> name;
  PageOptionTexts page;
  OutputTexts output;
};

void print_list(const ListTexts& texts, World& world, void (*add)(show::PageBuilder& page)) {
  const show::PageOptions options = page_from(texts.page, world);
  Output output(texts.output, page_only, style_from(texts.page, world), world);
  output.open();
  output.write(options, [add](const show::PageOptions& in) {
    show::PageBuilder page(in.language);
    add(page);
    return page.take();
  });
  output.finish();
}

constexpr std::array json_alone = {Format::Kind::json};

void print_example(std::string_view text, const ListTexts& texts, World& world) {
  Output output(texts.output, json_alone, {}, world);
  output.open();
  output.sink().write(text);
  output.finish();
}

std::string memory_text(Index bytes) {
  return bytes > 0 ? fmt::format("{:.1f} GiB", static_cast<double>(bytes) / (1 << 30)) : "?";
}

void list_devices(show::PageBuilder& page) {
  show::Table table{page.header(Text{"device", "设备"}, Text{"memory", "内存"}, Text{"float64", "float64"},
                                Text{"vendor", "厂商"}, Text{"name", "名称"}),
                    {},
                    {false, true, false, false, false}};
  const auto add = [&](const compute::DeviceInfo& device) {
    table.rows.push_back({device.index, memory_text(device.memory),
                          page.say(device.has_f64 ? Text{"yes", "支持"} : Text{"no", "不支持"}),
                          show::Words().quote(device.vendor), show::Words().quote(device.name)});
  };
  add(compute::processor());
  for (const compute::DeviceInfo& device : compute::opencl_devices()) add(device);
  page.add(std::move(table));
  if (const std::optional<Saying> lack = compute::opencl_lack())
    page.paragraph({"no OpenCL device: {}", "没有 OpenCL 设备：{}"}, *lack);
}

void list_examples(show::PageBuilder& page) {
  show::Table table{page.header(Text{"name", "名称"}, Text{"what it shows", "内容"}), {}};
  for (const io::EmbeddedFile& example : io::examples()) {
    const Problem problem = io::read_problem_text(example.text, example.name);
    table.rows.push_back({std::string(example.name), show::Words().quote(problem.title.in(page.language()))});
  }
  page.add(std::move(table));
}

void list_models(const ListTexts& texts, World& world) {
  const show::PageOptions page = page_from(texts.page, world);
  Output output(texts.output, page_or_json, style_from(texts.page, world), world);
  output.open();
  if (output.kind() == Format::Kind::json)
    study::write_models(output.sink());
  else
    output.write(page, [](const auto& options) { return study::models_page(options.language); });
  output.finish();
}

}  // namespace

Action setup_devices(CommandLine& app) {
  auto texts = std::make_shared<ListTexts>();
  declare_language(app, texts->page.lang, {"list", "列表"});
  declare_output(app, texts->output, page_only);
  declare_examples(
      app, {},
      {{"mha devices                              ", {"the list", "列表"}},
       {"mha run --device opencl:0 --dtype f32    ", {"compute on one of them", "在其中一个设备上计算"}},
       {"mha run --device opencl:0 --against cpu  ", {"and hold each step against the CPU", "并把每一步与 CPU 对照"}}});
  return [texts](World& world) { print_list(*texts, world, list_devices); };
}

Action setup_examples(CommandLine& app) {
  auto texts = std::make_shared<ListTexts>();
  declare_argument(app, "NAME", texts->name, {"print the JSON of this example", "打印这个示例的 JSON"});
  declare_language(app, texts->page.lang, {"list", "列表"});
  declare_output(app, texts->output, page_only);
  declare_examples(app, {},
                   {{"mha examples                       ", {"the list", "列表"}},
                    {"mha examples worked > mine.json    ", {"start your own from one", "以一个示例为起点"}}});
  return [texts](World& world) {
    texts->name ? print_example(example_text(*texts->name), *texts, world) : print_list(*texts, world, list_examples);
  };
}

Action setup_models(CommandLine& app) {
  auto texts = std::make_shared<ListTexts>();
  declare_page_options(app, texts->page, false);
  declare_output(app, texts->output, page_or_json);
  declare_examples(app, {},
                   {{"mha models                                  ", {"the list", "列表"}},
                    {"mha cost --model llama-2-70b --tokens 4096  ", {"what one of them costs", "其中一个的开销"}}});
  return [texts](World& world) { list_models(*texts, world); };
}

Action setup_schema(CommandLine& app) {
  auto name = std::make_shared<std::optional<std::string>>();
  const std::vector<std::string_view> names = column_of(io::schemas(), &io::EmbeddedFile::name);
  declare_argument(app, "NAME", *name, listed(names));
  declare_examples(app, {}, {{"mha schema problem > problem.schema.json"}, {"mha schema trace"}});
  return [name, names](World& world) {
    if (!*name) throw Error({"which schema? Known are {}", "哪个 schema？可以写 {}"}, listed(names));
    world.out.write(io::schemas()[parse_choice("schema", **name, names)].text);
  };
}

}  // namespace mha::cli
