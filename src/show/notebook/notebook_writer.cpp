// Writes a page as a notebook (nbformat 4.5): given matrices as arrays, then step by step Markdown and code.
#include "show/notebook/notebook_writer.hpp"

#include <algorithm>
#include <set>

#include "show/html/mathml.hpp"
#include "show/notebook/notebook_files.hpp"
#include "show/words/notation.hpp"

namespace mha::show {
namespace {

constexpr Text too_large{"The matrices of this page are shown in part, so there is no code: `--full` writes them whole.",
                         "本页的矩阵只显示一部分，因此没有代码：`--full` 会完整写出。"};
constexpr Text to_fill_in{"# a matrix for NumPy instead of the dots", "# 把省略号换成 NumPy 矩阵"};
constexpr Text to_check{"This writes what is filled in to `answer.json`, beside `problem.json`, and has it checked.",
                        "下面把填好的部分写入 `problem.json` 旁边的 `answer.json`，并进行检查。"};

class NotebookWriter {
 public:
  NotebookWriter(const Document& document, const TextStyle& style)
      : page_(document), document_(in_both_languages(document)), style_(style) {
    style_.math = true;
    for (const Block& block : document_.blocks)
      for_each_matrix(block, [this](const Matrix& matrix) {
        if (!matrix.rows.all() || !matrix.columns.all()) has_all_ = false;
        if (matrix.sources && !matrix.sources->code.text.empty()) results_.insert(matrix.sources->name);
      });
  }

  std::string write() {
    const std::vector<Document> pieces = split_at_steps(document_);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      markdown(write_markdown(pieces[i], style_));
      if (i == 0 && !has_all_) markdown(say(page_, too_large));
      if (i == 0 && has_all_) add_given();
      if (has_all_) add_code(pieces[i]);
    }
    if (!answers_.empty()) add_check();
    return "{\"cells\":[" + cells_ +
           "\n],\n\"metadata\":{\"kernelspec\":{\"display_name\":\"Python "
           "3\",\"language\":\"python\",\"name\":\"python3\"},\"language_info\":{\"name\":\"python\"}},\n"
           "\"nbformat\":4,\"nbformat_minor\":5}\n";
  }

 private:
  template <typename Visit>
  static void for_each_matrix(const Block& block, Visit visit) {
    if (const auto* equation = std::get_if<Equation>(&block))
      for (const Equation::Part& part : equation->parts)
        if (const auto* matrix = std::get_if<Matrix>(&part)) visit(*matrix);
  }

  void cell(std::string_view kind, const std::string& source, std::string_view more) {
    cells_ += fmt::format("{}\n{{\"cell_type\":\"{}\",\"id\":\"c{}\",\"metadata\":{{}},{}\"source\":{}}}",
                          count_ == 0 ? "" : ",", kind, count_, more, json_string(source));
    ++count_;
  }
  void markdown(const std::string& text) { cell("markdown", text, ""); }
  void code(const std::string& text) { cell("code", text, "\"execution_count\":null,\"outputs\":[],"); }

  // A matrix that no step of the page computes, as the rows that are stored.
  std::string array(const Matrix& matrix) {
    const std::vector<std::string>& exact = matrix.sources->exact;
    const auto columns = static_cast<std::size_t>(matrix.transposed ? matrix.rows.count() : matrix.columns.count());
    std::string text = numpy_name(matrix.sources->name) + " = np.array([";
    for (std::size_t i = 0; i < exact.size(); ++i) {
      text += i % columns > 0 ? ", " : i == 0 ? "[" : "],\n    [";
      text += exact[i].find_first_of("in") == std::string::npos ? exact[i] : "float(\"" + exact[i] + "\")";
    }
    defined_.insert(numpy_name(matrix.sources->name));
    return text + "]])\n";
  }

  void add_given() {
    std::string text = "import json\n\nimport numpy as np\n";
    if (!results_.empty()) text += "\n" + std::string(notebook_steps());
    for (const Block& block : document_.blocks)
      for_each_matrix(block, [&](const Matrix& matrix) {
        if (matrix.sources && !matrix.sources->to_be_filled_in() && results_.count(matrix.sources->name) == 0 &&
            defined_.count(numpy_name(matrix.sources->name)) == 0)
          text += "\n" + array(matrix);
      });
    code(text);
  }

  // Where what the code needs is not on the page, the numbers stand instead.
  void add_code(const Document& piece) {
    for (const Block& block : piece.blocks)
      for_each_matrix(block, [this](const Matrix& matrix) {
        if (!matrix.sources || defined_.count(numpy_name(matrix.sources->name)) > 0) return;
        const std::string name = numpy_name(matrix.sources->name);
        if (matrix.sources->to_be_filled_in()) {
          answers_.push_back(matrix.sources->name);
          defined_.insert(name);
          return code(name + " = ...  " + say(page_, to_fill_in));
        }
        const NumpyCode& own = matrix.sources->code;
        if (own.text.empty()) return;
        const bool can_run = std::all_of(own.needs.begin(), own.needs.end(),
                                         [this](const std::string& need) { return defined_.count(need) > 0; });
        const std::string text = can_run ? name + " = " + own.text + "\n" : array(matrix);
        defined_.insert(name);
        code(text + name);
      });
  }

  void add_check() {
    markdown(say(page_, to_check));
    std::string list;
    for (const std::string& name : answers_) list += fmt::format("    {}: {},\n", json_string(name), numpy_name(name));
    code("answer = {\n" + list +
         "}\nanswer = {name: np.asarray(value).tolist() for name, value in answer.items() if value is not ...}\n"
         "with open(\"answer.json\", \"w\", encoding=\"utf-8\") as file:\n    json.dump(answer, file)\n"
         "!mha check problem.json answer.json" +
         (document_.language == Language::zh ? " --lang zh" : ""));
  }

  const Document& page_;
  Document document_;  // of it, with both languages in one
  TextStyle style_;
  bool has_all_ = true;
  std::set<std::string> results_, defined_;
  std::vector<std::string> answers_;  // by the names that answers have
  std::string cells_;
  int count_ = 0;
};

}  // namespace

std::string write_notebook(const Document& document, const TextStyle& style) {
  return NotebookWriter(document, style).write();
}

}  // namespace mha::show
