// Masks of every kind, one or a list of them: how they are read and written.
#include "core/mask.hpp"

#include "core/suggest.hpp"
#include "core/utf8.hpp"
#include "io/problem/problem_keys.hpp"

namespace mha::io {
namespace {

// The masks that a word names.
struct MaskWord {
  std::string_view word;
  Mask::Kind kind;
  std::optional<Align::Kind> align;
};
const std::array mask_words = {
    MaskWord{"none", Mask::Kind::none, std::nullopt},
    MaskWord{"causal", Mask::Kind::causal, std::nullopt},
    MaskWord{"causal-top-left", Mask::Kind::causal, Align::Kind::top_left},
    MaskWord{"causal-bottom-right", Mask::Kind::causal, Align::Kind::bottom_right},
    MaskWord{"alibi", Mask::Kind::alibi, std::nullopt},
};

constexpr std::string_view align_words[] = {"top-left", "bottom-right"};

// Where n ≠ m, a rule that compares positions must be told where the queries stand.
void check_align(const Node& node, const Mask& mask, const Problem& problem) {
  if (mask.align || problem.queries() == problem.keys()) return;
  fail(node, {"{} and {}: say where query i stands among the keys, {}", "{}，{}：请说明查询 i 位于键中的何处，{}"},
       counted(problem.queries(), "query row"), counted(problem.keys(), "key"),
       mask.kind == Mask::Kind::causal
           ? Text{"\"causal-top-left\" (at key i), \"causal-bottom-right\" (the last query at the last key) or "
                  "{\"causal\": {\"align\": 2}} (at key i + 2)",
                  "\"causal-top-left\"（在键 i 处）、\"causal-bottom-right\"（最后的查询在最后的键处）或 {\"causal\": "
                  "{\"align\": 2}}（在键 i + 2 处）"}
           : Text{"\"align\": \"top-left\" (at key i), \"bottom-right\" (the last query at the last key) or a number (2: "
                  "at key i + 2)",
                  "\"align\": \"top-left\"（在键 i 处）、\"bottom-right\"（最后的查询在最后的键处）或一个数（2：在键 i + 2 "
                  "处）"});
}

Align read_align(Node& node, const Problem& problem) {
  if (node.as<std::string>() != nullptr)
    return {static_cast<Align::Kind>(expect_choice(
                node, align_words,
                {"unknown align {}.{} Known: \"top-left\", \"bottom-right\", an integer, or one for each item",
                 "不认识的 align {}。{}可以写 \"top-left\"、\"bottom-right\"、一个整数，或每个样本一个整数"})),
            {}};
  if (node.as<Scalar>() != nullptr) return {Align::Kind::offset, {expect_integer(node)}};
  return {Align::Kind::per_item,
          expect_integers(node, problem.batch(), {"one for each item of the batch", "批次中每个样本一个"})};
}

// Of a mask whose object these are.
void set_align(Mask& mask, const Fields& fields, const Problem& problem) {
  if (Node* align = fields["align"]) mask.align = read_align(*align, problem);
  check_align(fields.node(), mask, problem);
}

void read_causal(Node& node, Mask& mask, const Problem& problem) {
  const Fields fields(
      node, causal_keys,
      {"{\"align\": …}; for the plain mask write \"causal\"", "{\"align\": …}；通常的因果掩码写作 \"causal\""});
  set_align(mask, fields, problem);
}

std::optional<Index> read_limit(const Node* node) {
  if (node == nullptr || node->as<Null>() != nullptr) return std::nullopt;
  const Index limit = expect_integer(*node);
  if (limit < 0)
    fail(*node,
         {"found {}, expected how many keys may be seen on this side: 0 or more, or null",
          "这里是 {}，应为这一侧可看的键的个数：0 或更大，或者 null"},
         limit);
  return limit;
}

void read_window(Node& node, Mask& mask, const Problem& problem) {
  const Fields fields(node, window_keys, {"{\"left\": 2, \"right\": 0}", "{\"left\": 2, \"right\": 0}"});
  if (fields["left"] == nullptr && fields["right"] == nullptr)
    fail(node, {"\"left\" and \"right\" are missing; write how many keys may be seen on each side, null for no limit",
                "缺少 \"left\" 和 \"right\"；请写出每一侧可看几个键，null 表示不限"});
  mask.left = read_limit(fields["left"]);
  mask.right = read_limit(fields["right"]);
  set_align(mask, fields, problem);
}

void read_alibi(Node& node, Mask& mask, const Problem& problem) {
  const Fields fields(
      node, alibi_keys,
      {"{\"slopes\": […]}; for the usual slopes write \"alibi\"", "{\"slopes\": […]}；通常的斜率写作 \"alibi\""});
  if (Node* slopes = fields["slopes"])
    mask.slopes = expect_numbers(*slopes, problem.heads, {"one for each head", "每个头一个"});
  set_align(mask, fields, problem);
}

// One entry for each key: m, or batch×m.
void read_padding(Node& node, Mask& mask, const Problem& problem) {
  const std::vector<Index> axes = expect_grid(node, Entries::switches).axes;
  const bool for_all = axes == std::vector{problem.keys()};
  const bool per_item = problem.batched && axes == std::vector{problem.batch(), problem.keys()};
  if (!for_all && !per_item)
    fail(node,
         {"found {}, expected {}, one for each key{}; 1 marks a real token",
          "这里是{}，应为 {}，每个键一个{}；1 表示真实词元"},
         describe(node), counted(problem.keys(), "number"),
         problem.batched ? say({", or {}×{} of them, one row for each item", "，或 {}×{} 个，每个样本一行"},
                               problem.batch(), problem.keys())
                         : Saying{});
  mask.matrix_axes = static_cast<int>(axes.size());
  mask.matrix = take_tensor(node, {per_item ? problem.batch() : 1, 1, 1, problem.keys()});
}

[[noreturn]] void refuse_shape(const Node& node, const std::vector<Index>& axes, const Problem& problem) {
  const Index b = problem.batch(), h = problem.heads, n = problem.queries(), m = problem.keys();
  const bool looks_per_head = axes == std::vector{h, n, m};
  fail(node,
       {"the shape is {}, expected {}×{} (queries×keys), {}×{}×{} (one for each item) or {}×{}×{}×{} (one for each item "
        "and head; 1 serves for all items, heads or queries){}",
        "形状是 {}，应为 {}×{}（查询×键）、{}×{}×{}（每个样本一个）或 {}×{}×{}×{}（每个样本和头一个；样本、头、查询数处写 "
        "1 表示通用）{}"},
       shape_text(axes), n, m, b, n, m, b, h, n, m,
       looks_per_head ? say({"; one for each head is 1×{}×{}×{}: put it into one more list",
                             "；每个头一个是 1×{}×{}×{}：请再套一层列表"},
                            h, n, m)
                      : Saying{});
}

// n×m, batch×n×m, or batch×heads×n×m where all but m may be 1.
void read_matrix_mask(Node& node, Entries entries, Mask& mask, const Problem& problem) {
  const Shape full{problem.batch(), problem.heads, problem.queries(), problem.keys()};
  const std::vector<Index> axes = expect_grid(node, entries).axes;
  Shape shape{1, 1, 0, axes.back()};
  if (axes.size() == 2) {
    shape.rows = axes[0];
  } else if (axes.size() == 3) {
    shape.batch = axes[0];
    shape.rows = axes[1];
  } else if (axes.size() == 4) {
    shape = {axes[0], axes[1], axes[2], axes[3]};
  }
  const auto fits = [&](Index axis, Index whole) { return axis == whole || (axes.size() == 4 && axis == 1); };
  const bool batch_fits = axes.size() == 2 || fits(shape.batch, full.batch);
  const bool heads_fit = axes.size() != 4 || fits(shape.heads, full.heads);
  if (!batch_fits || !heads_fit || !fits(shape.rows, full.rows) || shape.cols != full.cols)
    refuse_shape(node, axes, problem);
  mask.matrix_axes = static_cast<int>(axes.size());
  mask.matrix = take_tensor(node, shape);
}

// The mask that is an object with this one key.
void read_member(Mask::Kind kind, Node& node, Mask& mask, const Problem& problem) {
  switch (kind) {
    case Mask::Kind::none: return;  // a word
    case Mask::Kind::causal: return read_causal(node, mask, problem);
    case Mask::Kind::window: return read_window(node, mask, problem);
    case Mask::Kind::padding: return read_padding(node, mask, problem);
    case Mask::Kind::allow:
    case Mask::Kind::block: return read_matrix_mask(node, Entries::switches, mask, problem);
    case Mask::Kind::add: return read_matrix_mask(node, Entries::addends, mask, problem);
    case Mask::Kind::alibi: return read_alibi(node, mask, problem);
  }
}

constexpr Mask::Kind mask_objects[] = {Mask::Kind::causal, Mask::Kind::window, Mask::Kind::padding, Mask::Kind::allow,
                                       Mask::Kind::block,  Mask::Kind::add,    Mask::Kind::alibi};

Mask read_word(const Node& node, const std::string& text, const Problem& problem) {
  std::vector<std::string_view> known;
  for (const MaskWord& row : mask_words) {
    known.push_back(row.word);
    if (row.word != text) continue;
    Mask mask;
    mask.kind = row.kind;
    if (row.align) mask.align = Align{*row.align, {}};
    if (row.kind != Mask::Kind::none) check_align(node, mask, problem);
    return mask;
  }
  for (const std::string_view key : mask_keys)
    if (key == text)
      fail(node, {"the mask \"{}\" needs more than its name: {{\"{}\": …}}", "掩码 \"{}\" 只有名称还不够：{{\"{}\": …}}"},
           key, key);
  fail(node, {"unknown mask {}.{}", "不认识的掩码 {}。{}"}, quote(text), did_you_mean_or_known(text, known));
}

[[noreturn]] void refuse_bare_matrix(const Node& node) {
  fail(node,
       {"found {}, which does not say what its entries do; write {{\"allow\": …}} (1 may be seen), {{\"block\": …}} (1 is "
        "hidden) or {{\"add\": …}} (added to the scores)",
        "这里是{}，没有说明其中的元素做什么；请写 {{\"allow\": …}}（1 可看）、{{\"block\": …}}（1 遮住）或 {{\"add\": "
        "…}}（加到分数上）"},
       describe(node));
}

Mask read_mask(Node& node, const Problem& problem) {
  if (const std::string* text = node.as<std::string>()) return read_word(node, *text, problem);
  if (node.as<Grid>() != nullptr || node.as<List>() != nullptr) refuse_bare_matrix(node);
  const Fields fields(node, mask_keys,
                      {"a mask: \"none\", \"causal\", {\"allow\": …}, …", "掩码：\"none\"、\"causal\"、{\"allow\": …} 等"});
  Mask mask;
  mask.short_form = false;
  bool found = false;
  for (const Mask::Kind kind : mask_objects) {
    Node* const value = fields[mask_name(kind)];
    if (value == nullptr) continue;
    if (found)
      fail(node, {"one object holds two masks; write a list of them, all are applied: [{…}, {…}]",
                  "一个对象里有两个掩码；请写成列表，全部生效：[{…}, {…}]"});
    found = true;
    mask.kind = kind;
    read_member(kind, *value, mask, problem);
  }
  if (!found)
    fail(node, {"the object names no mask; write \"none\", or one of causal, window, padding, allow, block, add, alibi",
                "对象里没有掩码；请写 \"none\"，或 causal、window、padding、allow、block、add、alibi 之一"});
  return mask;
}

void write_align(JsonWriter& json, const Align& align) {
  switch (align.kind) {
    case Align::Kind::top_left: return json.text("align", "top-left");
    case Align::Kind::bottom_right: return json.text("align", "bottom-right");
    case Align::Kind::offset: return json.integer("align", align.offsets.front());
    case Align::Kind::per_item: return json.integers("align", align.offsets);
  }
}

// {"window": {"left": 1, "right": null, "align": "top-left"}}
void write_rule(JsonWriter& json, const Mask& mask) {
  json.begin_object(Spread::line);
  json.begin_object(mask_name(mask.kind), Spread::line);
  if (mask.kind == Mask::Kind::window) {
    json.integer("left", mask.left);
    json.integer("right", mask.right);
  }
  if (mask.slopes) {
    json.key("slopes");
    json.row(mask.slopes->data(), static_cast<Index>(mask.slopes->size()));
  }
  if (mask.align) write_align(json, *mask.align);
  json.end();
  json.end();
}

void write_mask(JsonWriter& json, const Mask& mask, bool with_matrices) {
  switch (mask.kind) {
    case Mask::Kind::padding:
    case Mask::Kind::allow:
    case Mask::Kind::block:
    case Mask::Kind::add:
      if (!with_matrices) return json.text(mask_name(mask.kind));
      json.begin_object();
      json.key(mask_name(mask.kind));
      write_axes(json, mask.matrix, mask.matrix_axes);
      return json.end();
    case Mask::Kind::none:
    case Mask::Kind::causal:
    case Mask::Kind::window:
    case Mask::Kind::alibi:
      if (!mask.short_form) return write_rule(json, mask);
      if (!mask.align) return json.text(mask_name(mask.kind));
      return json.text(mask.align->kind == Align::Kind::top_left ? "causal-top-left" : "causal-bottom-right");
  }
}

}  // namespace

void read_masks(Node& node, Problem& problem) {
  List* list = node.as<List>();
  const Grid* grid = node.as<Grid>();  // as which a list of nothing is read
  problem.mask_is_list = list != nullptr || (grid != nullptr && grid->axes == std::vector<Index>{0});
  if (list != nullptr) {
    for (Node& one : *list) problem.masks.push_back(read_mask(one, problem));
  } else if (!problem.mask_is_list) {
    problem.masks.push_back(read_mask(node, problem));
  }
}

void write_masks(const ProblemPen& pen) {
  const std::vector<Mask>& masks = pen.problem.masks;
  pen.json.key("mask");
  if (!pen.problem.mask_is_list)
    return masks.empty() ? pen.json.text("none") : write_mask(pen.json, masks.front(), pen.with_matrices);
  pen.json.begin_array(pen.with_matrices ? Spread::lines : Spread::line);
  for (const Mask& mask : masks) write_mask(pen.json, mask, pen.with_matrices);
  pen.json.end();
}

}  // namespace mha::io
