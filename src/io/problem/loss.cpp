// The key "loss": what is differentiated, of the problem's result; from the problem or from a file of its own.

#include "core/suggest.hpp"
#include "core/utf8.hpp"
#include "io/arrays/matrix_files.hpp"
#include "io/files/input_file.hpp"
#include "io/json/reader.hpp"
#include "io/problem/problem_keys.hpp"
#include "io/problem/problem_reader.hpp"

namespace mha::io {
namespace {

constexpr Text known_losses = {R"("sum", {"mse": T}, {"half_squares": T}, {"cross_entropy": indices} or {"gradient": G})",
                               R"("sum"、{"mse": T}、{"half_squares": T}、{"cross_entropy": 下标} 或 {"gradient": G})"};

// As many numbers, in as many axes, as the result has, or for indices its rows.
Tensor read_target(Node& node, const Problem& problem, Loss::Kind kind) {
  const bool is_index = kind == Loss::Kind::cross_entropy;
  const Index rows = problem.queries(), columns = problem.d_result();
  std::vector<Index> expected{problem.batch(), rows, columns};
  if (!problem.batched) expected.erase(expected.begin());
  if (is_index) expected.pop_back();
  const std::vector<Index> found = expect_grid(node, Entries::numbers).axes;
  if (found != expected)
    fail(node, {"found {}, expected {}, as the result {}", "这里是{}，应为 {}，与结果{}"}, describe(node),
         shape_text(expected),
         is_index ? Text{"has rows: an index for each", "的行数相同，每行一个下标"} : Text{"is", "的形状相同"});
  if (!is_index) return take_tensor(node, {problem.batch(), 1, rows, columns});
  Tensor indices = take_tensor(node, {problem.batch(), 1, 1, rows});
  for (Index i = 0; i < indices.size(); ++i)
    if (const double index = std::as_const(indices).data()[i];
        index != std::floor(index) || index < 0 || index >= static_cast<double>(columns))
      fail(node,
           {"found index {}, expected whole numbers from 0 to {}, one of the result's columns for each row",
            "这里的下标是 {}，应为 0 到 {} 的整数，即每行选结果的一列"},
           index, columns - 1);
  return indices;
}

std::optional<Loss::Kind> kind_named(std::string_view name) {
  for (std::size_t i = 0; i < loss_keys.size(); ++i)
    if (loss_keys[i] == name) return static_cast<Loss::Kind>(i + 1);
  return std::nullopt;
}

// The whole file: JSON, or what {"file": …} reads.
Node read_loss_file(const std::string& path) {
  if (!path.ends_with(".npy") && !path.ends_with(".npz") && !path.ends_with(".safetensors")) {
    const InputFile file(path);
    Source source(file.fd());
    return read_json(source, {});
  }
  Node text{{}, "", path}, root{{}, "", Object{}};
  Node reference{{}, "loss", Object{}};
  reference.as<Object>()->push_back({"file", {}, std::move(text)});
  root.as<Object>()->push_back({"loss", {}, std::move(reference)});
  try {
    open_matrix_files(root, path, {".", true});
  } catch (const InputFault& fault) {  // which names the file
    throw Error(fault.sentence());
  }
  return std::move(root.as<Object>()->front().node);
}

}  // namespace

void read_loss(Node& node, Problem& problem) {
  if (const std::string* text = node.as<std::string>()) {
    if (*text != "sum") fail(node, {"unknown loss {}; write {}", "不认识的损失 {}；可以写 {}"}, quote(*text), known_losses);
    problem.loss = Loss{};
    return;
  }
  const Fields fields(node, loss_keys, known_losses);
  if (node.as<Object>()->size() != 1)
    fail(node, {"found {} losses, expected one: {}", "这里有 {} 种损失，应为一种：{}"}, node.as<Object>()->size(),
         known_losses);
  Member& member = node.as<Object>()->front();
  const Loss::Kind kind = *kind_named(member.key);
  problem.loss = Loss{kind, read_target(member.node, problem, kind)};
}

void write_loss(const ProblemPen& pen) {
  if (!pen.problem.loss) return;
  const Loss& loss = *pen.problem.loss;
  if (loss.kind == Loss::Kind::sum) return pen.json.text("loss", "sum");
  const bool is_index = loss.kind == Loss::Kind::cross_entropy;
  pen.json.begin_object("loss");
  pen.json.key(loss_keys[static_cast<std::size_t>(loss.kind) - 1]);
  write_axes(pen.json, loss.target, (pen.problem.batched ? 3 : 2) - (is_index ? 1 : 0));
  pen.json.end();
}

Loss loss_named(std::string_view text, const Problem& problem) {
  if (text == "sum") return {};
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::optional<Loss::Kind> kind = kind_named(text.substr(0, colon));
  if (!kind || colon + 1 >= text.size())
    throw Error({"--loss '{}': expected sum, mse:FILE, half_squares:FILE, cross_entropy:FILE or gradient:FILE.{}",
                 "--loss '{}'：应为 sum、mse:FILE、half_squares:FILE、cross_entropy:FILE 或 gradient:FILE。{}"},
                text, kind ? Saying{} : did_you_mean(text.substr(0, colon), loss_keys));
  const std::string path(text.substr(colon + 1));
  return under_name(path, [&] {
    Node node = read_loss_file(path);
    return Loss{*kind, read_target(node, problem, *kind)};
  });
}

}  // namespace mha::io
