// mha shapes: the page of `mha run` with shapes alone, as PyTorch code sees them too.
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "cli/sizes.hpp"
#include "study/cost/shapes_page.hpp"

namespace mha::cli {
namespace {

struct ShapesOptions {
  SizeTexts sizes;
  PageOptionTexts page;
  OutputTexts output;
  bool labels = false;
};

}  // namespace

Action setup_shapes(CommandLine& app) {
  auto options = std::make_shared<ShapesOptions>();
  declare_sizes(app, options->sizes);
  declare_flag(app, "--labels", options->labels,
               {"names for entries, which show where reshape and transpose put each",
                "给元素起名，看 reshape 和 transpose 把各个元素放到哪里"});
  declare_output(app, options->output, page_only);
  declare_page_options(app, options->page, false);
  declare_examples(
      app, {},
      {{"mha shapes --d-model 8 --heads 2 --tokens 3 --batch 2  ", {"every step", "每一步"}},
       {"mha shapes --d-model 8 --heads 2 --tokens 3 --labels   ", {"where each entry goes", "各元素到哪里去"}},
       {"mha shapes --model llama-3-8b --tokens 4096            ", {"of a published model", "已发表模型的"}}});
  return [options](World& world) {
    Output output(options->output, page_only, style_from(options->page, world), world);
    const Problem problem = sized_problem(options->sizes, true, world).problem;
    output.open();
    output.write(study::shapes_page(problem, options->labels, language_from(options->page.lang, world)));
    output.finish();
  };
}

}  // namespace mha::cli
