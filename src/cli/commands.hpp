// The commands: one row each, read by dispatch, help and "did you mean".
#pragma once

#include <array>
#include <functional>
#include <string_view>

#include "cli/options.hpp"
#include "cli/world.hpp"
#include "core/error.hpp"

namespace mha::cli {

// What a command does once its options are parsed.
using Action = std::function<Exit(World&)>;

// Each declares the options of its command and returns the action, which reads them after parsing.
Action setup_run(CLI::App& app);
Action setup_explain(CLI::App& app);
Action setup_examples(CLI::App& app);
Action setup_schema(CLI::App& app);
Action setup_devices(CLI::App& app);
Action setup_bench(CLI::App& app);
Action setup_check(CLI::App& app);
Action setup_compare(CLI::App& app);
Action setup_mistakes(CLI::App& app);
Action setup_exercise(CLI::App& app);
Action setup_import(CLI::App& app);
Action setup_cost(CLI::App& app);
Action setup_models(CLI::App& app);
Action setup_shapes(CLI::App& app);

struct Command {
  std::string_view name;
  std::string_view summary;
  Action (*setup)(CLI::App& app);
};

inline constexpr std::array commands = {
    Command{"run", "compute a problem and print every step, or export it as JSON", setup_run},
    Command{"explain", "tell how any entry of any step comes about, down to X and the weights", setup_explain},
    Command{"check", "compare answers with what follows from them, and name the likely mistake", setup_check},
    Command{"compare", "two problems, or one with a mistake made, step by step side by side", setup_compare},
    Command{"exercise", "a new problem to work out by hand, with worksheet, key and typical mistakes", setup_exercise},
    Command{"import", "a problem that points into the tensors of a real model's layer", setup_import},
    Command{"cost", "what a layer costs: parameters, multiply-adds, exponentials, memory", setup_cost},
    Command{"shapes", "the shape of every step, as PyTorch code sees it too", setup_shapes},
    Command{"models", "list the published models whose shapes cost and shapes know", setup_models},
    Command{"mistakes", "what people get wrong, and which of it a problem can show", setup_mistakes},
    Command{"examples", "list the built-in problems, or print one as JSON to start your own", setup_examples},
    Command{"devices", "list where the steps can be computed: the processor and the OpenCL devices", setup_devices},
    Command{"bench", "time each step of a problem, beside what this machine can do", setup_bench},
    Command{"schema", "print the JSON Schema of the files that go in and come out", setup_schema},
};

}  // namespace mha::cli
