// The formats in which commands tell what they found: one row each, read by --format, the ending of -o, help and errors.
#pragma once

#include <span>

#include "io/arrays/trace_export.hpp"
#include "show/notebook/notebook_writer.hpp"
#include "show/pages/scene.hpp"
#include "show/writers.hpp"

namespace mha::cli {

// A page as bytes. With a row for it, every command that prints a page has the format.
using PageWriter = std::string (*)(const show::Document& page, const show::TextStyle& style);

struct Format {
  // What stands in it: a page, or data that the command writes itself. Arrays go to files only, rows at a time.
  enum class Kind { page, json, csv, steps, gradescope, arrays };
  Kind kind;
  std::string_view name, ending;  // without an ending: on stdout, or in any file, by its name alone
  Text what;
  PageWriter write = nullptr;  // of a page
  std::optional<io::BinaryFormat> arrays = {};
  show::PageOptions::Sources sources = show::PageOptions::Sources::none;  // of a page: what it tells of each entry
  bool is_whole = false;                                                  // of a page: matrices of thousands of entries too
};

inline constexpr std::array formats = {
    Format{Format::Kind::page, "text", ".txt", {"the page without colour", "不带颜色的页面"}, show::write_text},
    Format{.kind = Format::Kind::page,
           .name = "html",
           .ending = ".html",
           .what = {"the page for a browser", "供浏览器打开的页面"},
           .write = show::write_html,
           .sources = show::PageOptions::Sources::works},
    Format{.kind = Format::Kind::page,
           .name = "svg",
           .ending = ".svg",
           .what = {"the weights as a picture", "注意力权重的图"},
           .write = show::write_svg,
           .is_whole = true},
    Format{Format::Kind::page, "latex", ".tex", {"a LaTeX document", "LaTeX 文档"}, show::write_latex},
    Format{Format::Kind::page, "markdown", ".md", {"Markdown with formulas", "带公式的 Markdown"}, show::write_markdown},
    Format{.kind = Format::Kind::page,
           .name = "xlsx",
           .ending = ".xlsx",
           .what = {"a sheet that computes", "会自己计算的工作簿"},
           .write = show::write_sheet,
           .sources = show::PageOptions::Sources::formulas},
    Format{.kind = Format::Kind::page,
           .name = "notebook",
           .ending = ".ipynb",
           .what = {"a notebook for Jupyter", "Jupyter 笔记本"},
           .write = show::write_notebook,
           .sources = show::PageOptions::Sources::numbers,
           .is_whole = true},
    Format{Format::Kind::json, "json", ".json", {"the trace", "JSON 数据"}},
    Format{Format::Kind::steps, "csv", ".csv", {"a line for each entry", "每个元素一行"}},
    Format{Format::Kind::csv, "csv", ".csv", {"a line for each answer", "每份答卷一行"}},
    Format{Format::Kind::gradescope, "gradescope", "", {"results.json for Gradescope", "Gradescope 的 results.json"}},
    Format{Format::Kind::arrays, "npy", ".npy", {"one array of it", "其中一个数组"}, nullptr, io::BinaryFormat::npy},
    Format{Format::Kind::arrays, "npz", ".npz", {"its arrays", "其中的各数组"}, nullptr, io::BinaryFormat::npz},
    Format{Format::Kind::arrays,
           "safetensors",
           ".safetensors",
           {"its arrays", "其中的各数组"},
           nullptr,
           io::BinaryFormat::safetensors},
};

// What a command offers.
using Kinds = std::span<const Format::Kind>;
inline constexpr std::array page_only = {Format::Kind::page};
inline constexpr std::array page_json_or_steps = {Format::Kind::page, Format::Kind::json, Format::Kind::steps};
inline constexpr std::array page_or_json = {Format::Kind::page, Format::Kind::json};

// Those of the table that --format names, joined: "text|json".
std::string format_names(Kinds kinds, std::string_view separator);

// By --format; the first of the table where nothing is written.
const Format& format_named(const std::optional<std::string>& name, Kinds kinds);

// By the ending of a file; null where it says nothing.
const Format* format_of_file(std::string_view path, Kinds kinds);

// What -o writes into this file: `otherwise` where --format named it, or where no ending is to be had (/dev/stdout, a pipe)
// or needed; else what its ending says. Throws Error where that is nothing that the command writes.
const Format& format_of_output(const std::string& path, Kinds kinds, const Format& otherwise, bool is_named,
                               bool needs_ending);

// ".txt (the page without colour), .json (the trace)"
Saying endings_text(Kinds kinds);

}  // namespace mha::cli
