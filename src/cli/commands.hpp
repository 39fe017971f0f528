// The commands: one row each, read by dispatch, help and "did you mean".
#pragma once

#include "cli/options.hpp"
#include "cli/world.hpp"
#include "core/error.hpp"

namespace mha::cli {

// What a command does once its options are parsed.
struct Action : std::function<Exit(World&)> {
  // Work that returns nothing ends fine.
  template <typename Work>
  Action(Work work)
      : function([work = std::move(work)](World& world) {
          if constexpr (!std::is_void_v<decltype(work(world))>) return work(world);
          return work(world), Exit::fine;
        }) {}
};

// Each declares the options of its command and returns the action, which reads them after parsing.
Action setup_run(CommandLine& app);
Action setup_gradient(CommandLine& app);
Action setup_explain(CommandLine& app);
Action setup_examples(CommandLine& app);
Action setup_schema(CommandLine& app);
Action setup_devices(CommandLine& app);
Action setup_bench(CommandLine& app);
Action setup_check(CommandLine& app);
Action setup_compare(CommandLine& app);
Action setup_inspect(CommandLine& app);
Action setup_mistakes(CommandLine& app);
Action setup_exercise(CommandLine& app);
Action setup_import(CommandLine& app);
Action setup_decode(CommandLine& app);
Action setup_cost(CommandLine& app);
Action setup_models(CommandLine& app);
Action setup_shapes(CommandLine& app);

struct Command {
  std::string_view name;
  Text summary;
  Action (*setup)(CommandLine& app);
};

inline constexpr std::array commands = {
    Command{"run",
            {"compute a problem and print every step, or export it as JSON", "计算一道题目并打印每一步，或导出为 JSON"},
            setup_run},
    Command{"gradient",
            {"the backward pass: how fast a loss rises with every value and every weight, step by step",
             "反向传播：逐步计算损失对每个值、每个权重的梯度"},
            setup_gradient},
    Command{"explain",
            {"tell how any entry of any step comes about, down to X and the weights",
             "讲解任何一步的任何元素从何而来，直到 X 和权重矩阵"},
            setup_explain},
    Command{"check",
            {"compare answers with what follows from them, and name the likely mistake",
             "批改答卷：与其中前面的数应得的结果比较，并指出可能的错误"},
            setup_check},
    Command{"compare",
            {"two problems, or one with a mistake made, step by step side by side",
             "逐步对照两道题目，或一道题目与犯了某种错误的同一题"},
            setup_compare},
    Command{"inspect",
            {"how the heads of a layer differ, where each looks, what is lost without it",
             "一层的各头有何不同，各看哪里，去掉后损失什么"},
            setup_inspect},
    Command{"exercise",
            {"a new problem to work out by hand, with worksheet, key and typical mistakes",
             "出一道新的笔算练习，附练习单、参考答案和典型错误"},
            setup_exercise},
    Command{"import",
            {"a problem that points into the tensors of a real model's layer",
             "从真实模型的一层得出题目，矩阵仍在模型的文件里"},
            setup_import},
    Command{"decode",
            {"compute a causal problem token by token, with a cache of keys and values",
             "带键值缓存，逐个词元地计算一道因果题目"},
            setup_decode},
    Command{
        "cost",
        {"what a layer costs: parameters, multiply-adds, exponentials, memory", "一层的开销：参数、乘加、指数运算、内存"},
        setup_cost},
    Command{"shapes",
            {"the shape of every step, as PyTorch code sees it too", "每一步的形状，也写出 PyTorch 代码看到的形状"},
            setup_shapes},
    Command{"models",
            {"list the published models whose shapes cost and shapes know", "列出 cost 和 shapes 知道其形状的已发表模型"},
            setup_models},
    Command{"mistakes",
            {"what people get wrong, and which of it a problem can show", "常见错误，以及一道题目看得出其中哪些"},
            setup_mistakes},
    Command{"examples",
            {"list the built-in problems, or print one as JSON to start your own",
             "列出内置示例，或打印其中一个的 JSON 作为自己题目的起点"},
            setup_examples},
    Command{"devices",
            {"list where the steps can be computed: the processor and the OpenCL devices",
             "列出可以在哪里计算：处理器和 OpenCL 设备"},
            setup_devices},
    Command{
        "bench",
        {"time each step of a problem, beside what this machine can do", "测量一道题目每一步的时间，并与本机的能力对照"},
        setup_bench},
    Command{"schema",
            {"print the JSON Schema of the files that go in and come out", "打印输入和输出文件的 JSON Schema"},
            setup_schema},
};

}  // namespace mha::cli
