// mha import: a problem file that points into the tensors of a model.

#include "cli/commands.hpp"
#include "cli/options.hpp"
#include "core/utf8.hpp"
#include "io/files/paths.hpp"
#include "io/files/sink.hpp"
#include "io/model/model_import.hpp"

namespace mha::cli {
namespace {

constexpr int largest_count = 1'000'000;
constexpr int largest_window = 1'000'000'000;

// As written on the command line.
struct ImportTexts {
  std::optional<std::string> model;
  std::optional<std::string> output, layer, layers, prefix, heads, kv_heads, family, rope_base, window, softcap, scale,
      ignore, x, x_kv, tokens, lang;
  bool block = false;
};

double positive(std::string_view option, const std::string& text) {
  const double number = parse_tolerance(option, text);
  if (number == 0) throw Error({"{} '{}': expected a number above 0", "{} '{}'：应为大于 0 的数"}, option, text);
  return number;
}

// An option that may also say "none": nothing where it is not given, an inner nothing where it is none.
template <typename Value, typename Parse>
std::optional<std::optional<Value>> or_none(const std::optional<std::string>& text, Parse parse) {
  if (!text) return std::nullopt;
  if (*text == "none") return std::optional<Value>();
  return std::optional<Value>(parse(*text));
}

// One behind the other, for each reads what the one before it gives.
std::vector<Index> layers_from(const std::string& text) {
  std::vector<Index> layers;
  for (const std::string_view item : split_at_commas("--layers", text))
    for (const Index layer : parse_numbers("--layers", item, largest_count, 0, {"layer", "层"})) layers.push_back(layer);
  const auto [first, last] = std::minmax_element(layers.begin(), layers.end());
  for (std::size_t i = 0; i < layers.size(); ++i)
    if (layers[i] != layers[0] + static_cast<Index>(i))
      throw Error(
          {"--layers '{}': each layer reads what the one before it gives, so write them in order, once, and leave none "
           "out: {}-{}",
           "--layers '{}'：每一层读前一层的结果，请按顺序写，不重复，也不缺层：{}-{}"},
          text, *first, *last);
  return layers;
}

io::ImportOptions options_from(const ImportTexts& texts) {
  io::ImportOptions options;
  if (texts.lang) parse_choice("--lang", *texts.lang, {"en", "zh"});
  if (texts.layer) options.layer.layer = parse_number("--layer", *texts.layer, 0, largest_count);
  options.layer.prefix = texts.prefix;
  if (texts.layers) options.layers = layers_from(*texts.layers);
  if (texts.layers && texts.layer)
    throw Error({"--layer and --layers: leave one out; --layer N --block is one layer with what stands around",
                 "--layer 与 --layers 只能写一个；--layer N --block 是一层及其周围的部分"});
  options.block = texts.block || texts.layers;
  if (texts.heads) options.heads.heads = parse_number("--heads", *texts.heads, 1, largest_count);
  if (texts.kv_heads) options.heads.kv_heads = parse_number("--kv-heads", *texts.kv_heads, 1, largest_count);
  options.family = texts.family;
  if (texts.rope_base) options.rules.rope_base = positive("--rope-base", *texts.rope_base);
  options.rules.scale = or_none<double>(texts.scale, [](const std::string& text) { return positive("--scale", text); });
  options.rules.softcap =
      or_none<double>(texts.softcap, [](const std::string& text) { return positive("--softcap", text); });
  options.rules.window = or_none<Index>(
      texts.window, [](const std::string& text) { return parse_number("--window", text, 1, largest_window); });
  if (texts.ignore)
    for (const std::string_view name : split_at_commas("--ignore", *texts.ignore)) options.ignored.emplace_back(name);
  options.cross = texts.x_kv.has_value();
  return options;
}

io::ImportedInputs inputs_from(const ImportTexts& texts) {
  io::ImportedInputs inputs{texts.x, texts.x_kv, {}};
  if (texts.tokens && !is_utf8(*texts.tokens))
    throw Error({"--tokens: it is no UTF-8, and a problem file holds nothing else",
                 "--tokens：它不是 UTF-8，而题目文件只能是 UTF-8"});
  if (texts.tokens)
    for (const std::string_view token : split_at_commas("--tokens", *texts.tokens)) inputs.tokens.emplace_back(token);
  for (const auto& [option, path] : {std::pair{"--x", &inputs.x}, {"--x-kv", &inputs.x_kv}})
    if (*path && !(*path)->ends_with(".npy"))
      throw Error({"{} '{}': expected a .npy file, as numpy.save writes it", "{} '{}'：应为 numpy.save 写的 .npy 文件"},
                  option, **path);
  return inputs;
}

constexpr Text outside = {"{} lies outside the folder of {}, so `mha run` will need --allow-outside",
                          "{} 在 {} 所在文件夹之外，因此 `mha run` 需要 --allow-outside"};
constexpr Text without_x = {"{} is still missing, with {} columns; name it here with {}, or write \"{}\" into {}",
                            "还缺少 {}（{} 列）：在这里用 {} 指定，或把“{}”写入 {}"};

void tell_about(const io::Imported& found, const io::ImportedInputs& inputs, const std::string& output, World& world) {
  const auto tell_missing = [&](std::string_view input, const io::TensorPlace& weights, std::string_view option) {
    tell(world, without_x, input, weights.in, option, input, output);
  };
  for (const Saying& account : io::account_of(found)) tell_line(world, account.in(world.language));
  if (!inputs.x) tell_missing("X", found.first().tensors.q.W, "--x X.npy");
  if (found.cross && !inputs.x_kv) tell_missing("X_kv", found.first().tensors.k.W, "--x-kv X_kv.npy");
}

void import_to(const std::string& output, const ImportTexts& texts, World& world) {
  const io::ImportOptions options = options_from(texts);
  const io::ImportedInputs inputs = inputs_from(texts);
  const io::Imported found = io::import_layers(*texts.model, options);
  std::vector<std::string> read = found.files;
  for (const auto* path : {&inputs.x, &inputs.x_kv})
    if (*path) read.push_back(**path);
  io::refuse_overwriting({output}, read);
  io::check_inputs(found, inputs);
  io::OutputFile file(output);
  const std::vector<std::string> used = io::write_imported(file.sink(), found, inputs, output);
  file.complete();
  file.commit();
  tell_about(found, inputs, output, world);
  for (const std::string& path : used)
    if (io::is_outside(path, output)) return tell(world, outside, path, output);
}

void declare_import_options(CommandLine& app, ImportTexts& texts) {
  declare_argument(app, "MODEL", texts.model,
                   {"a .safetensors or .npz file, an index of shards, or the folder of a model",
                    ".safetensors 或 .npz 文件、分片的索引，或模型的文件夹"});
  declare_option(app, "-o,--output", texts.output, "FILE", {"the problem file to write", "要写的题目文件"});
  declare_option(app, "--layer", texts.layer, "N",
                 {"the layer, counted from 0 as in the names of the tensors", "层号，同张量名称一样从 0 数起"});
  declare_flag(app, "--block", texts.block,
               {"with the norms, residual sums and MLP around the attention", "连同注意力周围的归一化、残差连接和 MLP"});
  declare_option(app, "--layers", texts.layers, "LIST",
                 {"these layers on one another, each with its block, as 0-5", "把这些层连同各自的块叠起来，如 0-5"});
  declare_option(app, "--prefix", texts.prefix, "NAME",
                 {"only attentions whose names begin so, where a layer has several",
                  "只看名称这样开头的注意力，用于一层有几个的情形"});
  declare_option(app, "--x", texts.x, "X.npy",
                 {"the input: what the attention module receives", "输入：注意力模块接收到的矩阵"});
  declare_option(app, "--x-kv", texts.x_kv, "X.npy",
                 {"the input of keys and values, in cross-attention", "交叉注意力中键和值的输入"});
  declare_option(app, "--tokens", texts.tokens, "A,B,C", {"labels, one for each row of X", "词元名称，X 的每行一个"});
  declare_option(app, "--heads", texts.heads, "N",
                 {"the number of heads, where no config.json says it", "头数，用于没有 config.json 说明时"});
  declare_option(app, "--kv-heads", texts.kv_heads, "N", {"the number of key/value heads, likewise", "键值头数，同上"});
  declare_option(
      app, "--family", texts.family, "NAME",
      {"llama, mistral, qwen2, gemma, gemma2, plain, …, likewise", "llama、mistral、qwen2、gemma、gemma2、plain 等，同上"});
  declare_option(
      app, "--rope-base", texts.rope_base, "B",
      {"base of the rotary positions (config.json's, else 10000)", "旋转位置编码的底数（默认按 config.json，否则 10000）"});
  declare_option(app, "--window", texts.window, "W|none",
                 {"keys that a query sees in layers with a window", "有窗口的层中每个查询看得到几个键"});
  declare_option(app, "--softcap", texts.softcap, "C|none", {"softcap of the scaled scores", "缩放后的分数的软截断"});
  declare_option(app, "--scale", texts.scale, "S|none", {"what the scores are multiplied with", "分数乘以什么"});
  declare_option(app, "--ignore", texts.ignore, "NAMES",
                 {"go without these parts that mha does not compute", "不要这些 mha 不计算的部分"});
  declare_language(app, texts.lang, {"messages", "消息"}, "en|zh");
  declare_examples(
      app,
      {"MODEL is a .safetensors or .npz file, a model.safetensors.index.json or the folder of a model. config.json beside "
       "it says how many heads there are and how they attend; where there is none, the options say it.",
       "模型是 .safetensors 或 .npz 文件、model.safetensors.index.json 或模型的文件夹。旁边的 config.json "
       "说明有几个头、如何作注意力；没有它时由选项说明。"},
      {{"mha import bert/ --layer 3 --x X.npy -o problem.json     ", {"counted from 0", "从 0 数起"}},
       {"mha import gpt2/model.safetensors --layer 0 -o problem.json"},
       {"mha import gpt2/ --layers 0-11 -o problem.json           ", {"each with its block", "每层连同它的块"}},
       {"mha import layer.safetensors --family llama --heads 32 -o problem.json"},
       {"mha run problem.json --steps weights --heads 1"}});
}

}  // namespace

Action setup_import(CommandLine& app) {
  auto texts = std::make_shared<ImportTexts>();
  declare_import_options(app, *texts);
  return [texts](World& world) {
    if (!texts->model)
      throw Error({"import what? Name a .safetensors or .npz file, an index of shards, or the folder of a model",
                   "导入什么？请写 .safetensors 或 .npz 文件、分片的索引，或模型的文件夹"});
    if (!texts->output || *texts->output == "-")
      throw Error({"where to? Name a file, since the paths in it are relative to it: -o problem.json",
                   "写到哪里？请指定文件，其中的路径都相对于它：-o problem.json"});
    import_to(*texts->output, *texts, world);
  };
}

}  // namespace mha::cli
