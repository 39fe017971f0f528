// Draws weights: a map has a row for each query and a column for each key, lines run from queries to keys.
#include "show/writers.hpp"

#include "core/error.hpp"
#include "core/utf8.hpp"
#include "show/html/mathml.hpp"
#include "show/text/wrap.hpp"

namespace mha::show {
namespace {

constexpr int margin = 12, text_size = 12, title_height = 22, letter = 7;  // pixels; a letter takes so many at most
constexpr int longest_label = 14;                                          // columns of text
constexpr int most_columns_with_values = 12;
constexpr int line_height = 22, lines_width = 120;
constexpr std::array<double, 3> full_weight = {9, 105, 218}, no_weight = {255, 255, 255};
constexpr double white_text_from = 0.6;

std::string colour_of(double weight) {
  std::array<int, 3> mixed{};
  for (std::size_t i = 0; i < 3; ++i)
    mixed[i] = static_cast<int>(std::lround(no_weight[i] + (full_weight[i] - no_weight[i]) * std::clamp(weight, 0.0, 1.0)));
  return fmt::format("rgb({},{},{})", mixed[0], mixed[1], mixed[2]);
}

std::string shortened(const std::string& label) {
  const std::string text = visible(label);
  std::string result;
  int width = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const Character character = take_character(rest);
    width += columns_of(character.code);
    if (width > longest_label) return result + "…";
    result += character.bytes;
  }
  return result;
}

// One head's weights.
struct Picture {
  std::string title;
  const Matrix* matrix;
};

class SvgWriter {
 public:
  SvgWriter(const Document& document, const TextStyle& style) : document_(document), style_(style) {
    std::string section, item;
    for (const Block& block : document.blocks) {
      if (const auto* heading = std::get_if<Section>(&block)) {
        const std::string own = joined(heading->parts);
        if (heading->level == Section::Level::item) item = joined({heading->parts.front()});
        const bool is_alone = item.empty() || heading->level == Section::Level::item || own.starts_with(item);
        section = is_alone ? own : item + " · " + own;
      }
      const auto* equation = std::get_if<Equation>(&block);
      const auto* matrix = equation == nullptr ? nullptr : std::get_if<Matrix>(&equation->parts.back());
      if (matrix != nullptr && !matrix->row_sums.empty()) pictures_.push_back({section, matrix});
    }
    if (pictures_.empty())
      throw Error(
          {"this page has no weights to draw; an .svg shows those of the heads: leave them among --steps, and of "
           "a gradient say --with-forward",
           "这个页面没有可画的注意力权重；.svg 画的是各头的权重：--steps 中请包括它们，mha gradient 请加 "
           "--with-forward"});
  }

  std::string write() {
    const auto columns = static_cast<std::size_t>(
        style_.columns > 0 ? style_.columns : std::min<std::size_t>(pictures_.size(), pictures_.size() <= 4 ? 2 : 4));
    int x = margin, y = margin, row_height = 0, width = 0;
    for (std::size_t i = 0; i < pictures_.size(); ++i) {
      if (i > 0 && i % columns == 0) x = margin, y += row_height + margin, row_height = 0;
      const Size size = draw(pictures_[i], x, y);
      x += size.width + margin;
      row_height = std::max(row_height, size.height);
      width = std::max(width, x);
    }
    const int height = y + row_height + margin;
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" "
        "height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"{2}\" fill=\"#1b1f24\">\n<title>{3}</title>\n"
        "<defs><pattern id=\"hidden\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><rect width=\"5\" height=\"5\" fill=\"#fff\"/><path d=\"M0 0V5\" "
        "stroke=\"#8c959f\"/></pattern></defs>\n<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n{4}</svg>\n",
        width, height, text_size, html_escaped(title()), out_);
  }

 private:
  struct Size {
    int width, height;
  };

  static std::string joined(const std::vector<Words>& parts) {
    std::string text;
    for (const Words& part : parts)
      for (const Span& span : part.spans())
        text += (&span == &part.spans().front() && &part != &parts.front() ? " · " : "") + visible(span.text);
    return text;
  }

  std::string title() const {
    const auto* title = document_.blocks.empty() ? nullptr : std::get_if<Title>(&document_.blocks.front());
    return title == nullptr ? "" : joined(title->parts);
  }

  // Labels of the shown rows or columns, or their numbers; "⋮" for what is left out.
  std::vector<std::string> labels(const Shown& shown, const std::vector<std::string>& given) const {
    std::vector<std::string> all;
    for (Index line = 0; line < shown.drawn(); ++line) {
      const std::optional<Index> at = shown.shown_at(line);
      if (!at)
        all.emplace_back("…");
      else if (given.empty())
        all.push_back(fmt::format("{}", shown.place(*at) + document_.index_base));
      else
        all.push_back(shortened(given[static_cast<std::size_t>(*at)]));
    }
    return all;
  }

  static int widest(const std::vector<std::string>& labels) {
    int width = 0;
    for (const std::string& label : labels) width = std::max(width, display_width(label) * letter);
    return width;
  }

  void text(int x, int y, std::string_view anchor, std::string_view content, std::string_view more = "") {
    out_ +=
        fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\"{}>{}</text>\n", x, y, anchor, more, html_escaped(content));
  }

  Size draw(const Picture& picture, int x, int y) {
    const Matrix& matrix = *picture.matrix;
    const std::vector<std::string> queries = labels(matrix.rows, matrix.row_labels);
    const std::vector<std::string> keys = labels(matrix.columns, matrix.column_labels);
    out_ += "<g>\n";
    text(x, y + text_size, "start", picture.title, " font-weight=\"bold\"");
    Size size = style_.lines ? draw_lines(matrix, queries, keys, x, y + title_height)
                             : draw_map(matrix, queries, keys, x, y + title_height);
    out_ += "</g>\n";
    size.width = std::max(size.width, display_width(picture.title) * letter);
    return {size.width, size.height + title_height};
  }

  Size draw_map(const Matrix& matrix, const std::vector<std::string>& queries, const std::vector<std::string>& keys, int x,
                int y) {
    const bool values = matrix.columns.drawn() <= most_columns_with_values;
    const int side = widest(queries) + letter, cell_width = values ? 46 : 16, cell_height = values ? 24 : 16;
    const bool upright = widest(keys) <= cell_width;
    const int top = upright ? text_size + 4 : widest(keys) + 4;
    for (std::size_t j = 0; j < keys.size(); ++j) {
      const int at = x + side + static_cast<int>(j) * cell_width + cell_width / 2;
      if (upright)
        text(at, y + top - 4, "middle", keys[j]);
      else
        text(at + text_size / 3, y + top - 4, "start", keys[j],
             fmt::format(" transform=\"rotate(-90 {} {})\"", at + text_size / 3, y + top - 4));
    }
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const int row = y + top + static_cast<int>(i) * cell_height;
      text(x + side - 4, row + cell_height / 2 + 4, "end", queries[i]);
      for (std::size_t j = 0; j < keys.size(); ++j) {
        const std::optional<Index> query = matrix.rows.shown_at(static_cast<Index>(i)),
                                   key = matrix.columns.shown_at(static_cast<Index>(j));
        if (!query || !key) continue;
        const Cell& cell = matrix.cell(*query, *key);
        const int column = x + side + static_cast<int>(j) * cell_width;
        const bool hidden = cell.mark == Cell::Mark::hidden;
        out_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\" stroke=\"#d0d7de\"/>\n", column,
                            row, cell_width, cell_height, hidden ? "url(#hidden)" : colour_of(cell.shade));
        if (values && !hidden)
          text(column + cell_width / 2, row + cell_height / 2 + 4, "middle", cell.text,
               cell.shade >= white_text_from ? " fill=\"#fff\"" : "");
      }
    }
    return {side + static_cast<int>(keys.size()) * cell_width, top + static_cast<int>(queries.size()) * cell_height};
  }

  // As thick and as strong as the weight.
  Size draw_lines(const Matrix& matrix, const std::vector<std::string>& queries, const std::vector<std::string>& keys,
                  int x, int y) {
    const int left = x + widest(queries) + letter, right = left + lines_width;
    const auto middle = [&](std::size_t i) { return y + static_cast<int>(i) * line_height + line_height / 2; };
    for (std::size_t i = 0; i < queries.size(); ++i)
      for (std::size_t j = 0; j < keys.size(); ++j) {
        const std::optional<Index> query = matrix.rows.shown_at(static_cast<Index>(i)),
                                   key = matrix.columns.shown_at(static_cast<Index>(j));
        const double weight = query && key ? matrix.cell(*query, *key).shade : 0;
        if (weight > 0)
          out_ += fmt::format(
              "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" stroke=\"rgb({},{},{})\" stroke-width=\"{:.2f}\" "
              "stroke-opacity=\"{:.3f}\"/>\n",
              left, middle(i), right, middle(j), full_weight[0], full_weight[1], full_weight[2], 1 + 4 * weight, weight);
      }
    for (std::size_t i = 0; i < queries.size(); ++i) text(left - 4, middle(i) + 4, "end", queries[i]);
    for (std::size_t j = 0; j < keys.size(); ++j) text(right + 4, middle(j) + 4, "start", keys[j]);
    return {right + widest(keys) + letter - x, static_cast<int>(std::max(queries.size(), keys.size())) * line_height};
  }

  const Document& document_;
  TextStyle style_;
  std::vector<Picture> pictures_;
  std::string out_;
};

}  // namespace

std::string write_svg(const Document& document, const TextStyle& style) {
  return SvgWriter(document, style).write();
}

}  // namespace mha::show
