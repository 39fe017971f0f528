// mha shapes: the page of `mha run` with shapes alone, as PyTorch code sees them too.
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/sizes.hpp"
#include "study/cost/shapes_page.hpp"

namespace mha::cli {
namespace {

struct ShapesOptions {
  SizeTexts sizes;
  std::optional<std::string> lang;
  OutputTexts output;
  bool labels = false;
};

}  // namespace

Action setup_shapes(CLI::App& app) {
  auto options = std::make_shared<ShapesOptions>();
  declare_sizes(app, options->sizes);
  declare_flag(app, "--labels", options->labels, "names for entries, which show where reshape and transpose put each");
  declare_output(app, options->output, page_only);
  declare_language(app, options->lang, "page");
  declare_footer(app,
                 "examples:\n"
                 "  mha shapes --d-model 8 --heads 2 --tokens 3 --batch 2      every step\n"
                 "  mha shapes --d-model 8 --heads 2 --tokens 3 --labels       and where each entry goes\n"
                 "  mha shapes --model llama-3-8b --tokens 4096                of a published model");
  return [options](World& world) {
    Output output(options->output, page_only, style_from({}, world), world);
    const Problem problem = sized_problem(options->sizes, true, world).problem;
    output.open(options->sizes.problem);
    output.write(study::shapes_page(problem, options->labels, language_from(options->lang, world)));
    output.finish();
    return Exit::fine;
  };
}

}  // namespace mha::cli
