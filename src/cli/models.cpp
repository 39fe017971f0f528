// mha models: the published shapes that `mha cost` and `mha shapes` know.
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "study/cost/cost_page.hpp"

namespace mha::cli {
namespace {

struct ModelsOptions {
  PageOptionTexts page;
  OutputTexts output;
};

}  // namespace

Action setup_models(CommandLine& app) {
  auto options = std::make_shared<ModelsOptions>();
  declare_page_options(app, options->page, false);
  declare_output(app, options->output, page_or_json);
  declare_examples(app, {},
                   {{"mha models                                  ", {"the list", "列表"}},
                    {"mha cost --model llama-2-70b --tokens 4096  ", {"what one of them costs", "其中一个的开销"}}});
  return [options](World& world) {
    Output output(options->output, page_or_json, style_from(options->page, world), world);
    output.open();
    if (output.kind() == Format::Kind::json)
      study::write_models(output.sink());
    else
      output.write(study::models_page(language_from(options->page.lang, world)));
    output.finish();
  };
}

}  // namespace mha::cli
