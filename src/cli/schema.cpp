// mha schema: the JSON Schemas of the files that go in and come out.

#include "cli/commands.hpp"
#include "cli/values.hpp"
#include "core/suggest.hpp"
#include "io/problem/embedded.hpp"

namespace mha::cli {

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
