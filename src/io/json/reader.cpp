// JSON text to a tree of nodes: what nlohmann's parser reports, put in its place.
#include "io/json/reader.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "core/utf8.hpp"

namespace mha::io {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_nested = 64;
constexpr double no_value = std::numeric_limits<double>::quiet_NaN();

constexpr std::array<std::string_view, 3> minus_infinities = {"-inf", "-∞", "−∞"};

bool is_ignored(std::string_view key) {
  return key.starts_with('_') || key == "$schema";
}

// Lists of numbers inside lists, collected into one flat block; what is not rectangular is refused.
class GridBuilder {
 public:
  GridBuilder(Source& source, std::string path) : source_(source), path_(std::move(path)), position_(source.position()) {
    open();
  }

  void open();
  bool close();  // true: that was the outermost list
  void put(double value) {
    if (lists_.size() != leaf_depth_) begin_leaf();
    grid_.numbers.push_back(value);
    ++lists_.back().entries;
  }
  void put_odd(OddEntry::Kind kind, double value, const Saying& found);
  void see_written(const Word& number) { writing_.see(number.written, number.value); }
  [[noreturn]] void refuse_object() const;

  bool wants_list() const { return leaf_depth_ != 0 && lists_.size() < leaf_depth_; }
  bool undecided() const { return leaf_depth_ == 0; }  // nothing but opening brackets so far
  std::size_t depth() const { return lists_.size(); }
  std::string entry_path() const { return path_to(lists_.size()); }  // of the entry to come

  Node take() { return {position_, std::move(path_), std::move(grid_)}; }

 private:
  struct OpenList {
    Position position;
    Index entries = 0;
  };

  void begin_leaf();
  std::string path_to(std::size_t depth) const;

  Source& source_;
  std::string path_;
  Position position_;
  std::vector<OpenList> lists_;
  std::size_t leaf_depth_ = 0;  // how many lists are around a number; 0: not known yet
  Grid grid_;
  Writing writing_;  // of the matrix whose end is not reached yet
};

constexpr Index unknown = -1;  // an axis whose first list is still open

void GridBuilder::open() {
  const Position position = source_.position();
  if (leaf_depth_ != 0 && lists_.size() >= leaf_depth_)
    throw InputFault(position, entry_path(),
                     {"a list stands where a number belongs; the entries before it are numbers. If the list that begins at "
                      "line {}, column {} ends before it, add the missing ']'",
                      "应为数的地方是列表；它前面的都是数。如果从第 {} 行第 {} 列开始的列表在它之前结束，请补上缺少的 ']'"},
                     lists_.back().position.line, lists_.back().position.column);
  lists_.push_back({position, 0});
  if (grid_.axes.size() < lists_.size()) grid_.axes.push_back(unknown);
}

bool GridBuilder::close() {
  const std::size_t depth = lists_.size() - 1;
  const OpenList list = lists_.back();
  if (leaf_depth_ == 0) leaf_depth_ = lists_.size();
  Index& axis = grid_.axes[depth];
  if (axis == unknown) axis = list.entries;
  if (axis != list.entries) {
    std::string first = path_;
    for (std::size_t i = 0; i < depth; ++i) first = path_of(first, 0);
    throw InputFault(list.position, path_to(depth),
                     {"the length is {} here but {} in {}; rows of a matrix all have one length",
                      "这里的长度是 {0}，而 {2} 中是 {1}；矩阵各行一样长"},
                     list.entries, axis, first);
  }
  lists_.pop_back();
  if (lists_.size() + 2 == std::max(leaf_depth_, std::size_t{2})) grid_.writing.push_back(std::exchange(writing_, {}));
  if (lists_.empty()) return true;
  ++lists_.back().entries;
  return false;
}

void GridBuilder::put_odd(OddEntry::Kind kind, double value, const Saying& found) {
  const auto is_same = [kind](const OddEntry& entry) { return entry.kind == kind; };
  if (std::none_of(grid_.odd.begin(), grid_.odd.end(), is_same))
    grid_.odd.push_back({kind, source_.position(), entry_path(), found});
  if (kind == OddEntry::Kind::null || kind == OddEntry::Kind::text) grid_.nulls.push_back(grid_.numbers.size());
  put(value);
}

void GridBuilder::refuse_object() const {
  if (leaf_depth_ == 1 && !grid_.nulls.empty() && grid_.nulls.size() == grid_.numbers.size())
    throw InputFault(grid_.odd.front().position, grid_.odd.front().path,
                     {"null stands in a list of objects; write the object that belongs here, or leave the entry out",
                      "对象的列表里有 null；请写上应有的对象，或去掉这一项"});
  throw InputFault(
      source_.position(), entry_path(),
      {"an object stands where a number belongs; the entries before it are numbers", "应为数的地方是对象；它前面的都是数"});
}

void GridBuilder::begin_leaf() {
  if (leaf_depth_ != 0)
    throw InputFault(source_.position(), entry_path(),
                     {"a single entry stands where a list belongs; the entries before it are lists",
                      "应为列表的地方是单独一项；它前面的都是列表"});
  leaf_depth_ = lists_.size();
}

// The list or entry inside `depth` of the open lists.
std::string GridBuilder::path_to(std::size_t depth) const {
  std::string path = path_;
  for (std::size_t i = 0; i < depth; ++i) path = path_of(path, lists_[i].entries);
  return path;
}

decltype(Node::value) value_of(const Word& word) {
  if (word.kind == Word::Kind::null) return Null{};
  if (word.kind == Word::Kind::boolean) return word.value != 0;
  return Scalar{word.value, escape(word.written)};
}

class TreeReader {
 public:
  TreeReader(Source& source, std::span<const std::string_view> lists_of_text, NumberTexts number_texts, Notes notes)
      : source_(source), lists_of_text_(lists_of_text), number_texts_(number_texts), notes_(notes) {}

  Node take() { return std::move(root_); }

  // What nlohmann's parser calls; true: go on. The source hands out every number and literal as 0.
  bool null() { return word(); }
  bool boolean(bool) { return word(); }
  bool number_integer(Json::number_integer_t) { return word(); }
  bool number_unsigned(Json::number_unsigned_t) { return word(); }
  bool number_float(Json::number_float_t, const std::string&) { return word(); }
  bool binary(const Json::binary_t&) { return false; }  // not in text
  bool string(std::string& text);
  bool start_object(std::size_t);
  bool key(std::string& key);
  bool end_object();
  bool start_array(std::size_t);
  bool end_array();
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& reason) {
    throw syntax_fault(source_, open_, after_key_, reason.what());
  }

 private:
  // A list or object whose end is not reached yet.
  struct Frame {
    Node node;
    std::string key;  // of the member to come
    Position key_position;
    std::unordered_map<std::string, Position> keys;
  };

  bool word();
  void put(const Word& word);
  bool put_text(const std::string& text);
  void open(char bracket);
  bool ignored();
  bool end_frame();
  bool lists_stay_lists() const;
  void unpack_grid(std::size_t end);
  std::string child_path() const;
  Node node(Position position, decltype(Node::value) value) const { return {position, child_path(), std::move(value)}; }
  void place(Node node);

  Source& source_;
  std::span<const std::string_view> lists_of_text_;
  NumberTexts number_texts_;
  Notes notes_;
  std::vector<Opening> open_;        // all lists and objects around the current token
  std::vector<Frame> frames_;        // those of them that become nodes
  std::optional<GridBuilder> grid_;  // the innermost of them, while they hold numbers
  std::size_t ignore_from_ = 0;      // not 0: the value of an ignored key, so many lists and objects deep, is passed over
  bool after_key_ = false;
  Node root_;
};

// Whether the value that begins or ends here belongs to an ignored key.
bool TreeReader::ignored() {
  after_key_ = false;
  if (ignore_from_ == 0) return false;
  if (open_.size() == ignore_from_) ignore_from_ = 0;  // its last token
  return true;
}

bool TreeReader::word() {
  if (ignored()) return true;
  const Word& word = source_.word();
  if (word.kind == Word::Kind::too_large && number_texts_ != NumberTexts::none) {
    const std::string path = grid_ ? grid_->entry_path() : child_path();
    throw InputFault(source_.position(), path,
                     {"{} is too large; numbers go up to 1.797e308", "{} 太大；数最大到 1.797e308"}, escape(word.written));
  }
  if (grid_) {
    put(word);
  } else {
    place(node(source_.position(), value_of(word)));
  }
  return true;
}

// An entry of the grid.
void TreeReader::put(const Word& word) {
  switch (word.kind) {
    case Word::Kind::number:
      if (number_texts_ == NumberTexts::all) grid_->see_written(word);
      return grid_->put(word.value);
    case Word::Kind::not_finite: return grid_->put_odd(OddEntry::Kind::not_finite, word.value, named_so(word.written));
    case Word::Kind::boolean:
      return grid_->put_odd(number_texts_ == NumberTexts::all ? OddEntry::Kind::text : OddEntry::Kind::boolean, word.value,
                            named_so(word.written));
    case Word::Kind::null: return grid_->put_odd(OddEntry::Kind::null, word.value, named_so(word.written));
    case Word::Kind::too_large:
    case Word::Kind::wrong: return;  // refused before
  }
}

bool TreeReader::string(std::string& text) {
  if (ignored()) return true;
  if (grid_ && put_text(text)) return true;
  if (grid_) unpack_grid(open_.size());
  place(node(source_.position(), std::move(text)));
  return true;
}

// As an entry of the grid; false where no number has been there yet, and this is none.
bool TreeReader::put_text(const std::string& text) {
  const bool in_answer = number_texts_ == NumberTexts::all;
  std::string written = text;
  std::optional<double> number = in_answer ? spelled_number(written) : std::nullopt;
  if (!in_answer && std::find(minus_infinities.begin(), minus_infinities.end(), text) != minus_infinities.end())
    number = -std::numeric_limits<double>::infinity();
  if (!number && grid_->undecided() && (!in_answer || grid_->depth() < 2)) return false;
  if (!number && grid_->wants_list()) throw unclosed_list(open_.back(), source_.position());  // the text is a key
  if (number && std::isfinite(*number))
    put({Word::Kind::number, *number, written});
  else if (number)
    grid_->put_odd(*number < 0 ? OddEntry::Kind::minus_infinity_text : OddEntry::Kind::not_finite, *number,
                   named_so(quote(text)));
  else if (in_answer && written.empty())
    grid_->put_odd(OddEntry::Kind::null, no_value, named_so(quote(text)));
  else
    grid_->put_odd(OddEntry::Kind::text, no_value, say({"the text {}", "文本 {}"}, quote(text)));
  return true;
}

void TreeReader::open(char bracket) {
  if (open_.size() == most_nested)
    throw InputFault(source_.position(), "",
                     {"more than {} lists and objects inside one another; a matrix is a list of rows: [[1, 0], [0, 1]]",
                      "列表和对象嵌套超过 {} 层；矩阵是由行组成的列表：[[1, 0], [0, 1]]"},
                     most_nested);
  open_.push_back({bracket, source_.position()});
  after_key_ = false;
}

bool TreeReader::start_object(std::size_t) {
  open('{');
  if (ignore_from_ != 0) return true;
  if (grid_ && !grid_->undecided()) grid_->refuse_object();
  if (grid_) unpack_grid(open_.size() - 1);
  frames_.push_back({node(source_.position(), Object{}), {}, {}, {}});
  return true;
}

bool TreeReader::key(std::string& key) {
  after_key_ = true;
  if (ignore_from_ != 0) return true;
  if (notes_ == Notes::left_out && is_ignored(key)) {
    ignore_from_ = open_.size();
    return true;
  }
  Frame& frame = frames_.back();
  const auto [first, is_new] = frame.keys.try_emplace(key, source_.position());
  if (!is_new)
    throw InputFault(source_.position(), frame.node.path,
                     {"the key {} is given twice, first at line {}, column {}; remove one of the two",
                      "键 {} 出现两次，第一次在第 {} 行第 {} 列；请去掉一个"},
                     quote(key), first->second.line, first->second.column);
  frame.key = std::move(key);
  frame.key_position = source_.position();
  return true;
}

bool TreeReader::start_array(std::size_t) {
  open('[');
  if (ignore_from_ != 0) return true;
  if (grid_) {
    grid_->open();
  } else if (lists_stay_lists()) {
    frames_.push_back({node(source_.position(), List{}), {}, {}, {}});
  } else {
    grid_.emplace(source_, child_path());
  }
  return true;
}

bool TreeReader::end_array() {
  open_.pop_back();
  if (ignored()) return true;
  if (!grid_) return end_frame();
  if (grid_->close()) {
    Node numbers = grid_->take();
    grid_.reset();
    place(std::move(numbers));
  }
  return true;
}

bool TreeReader::end_object() {
  open_.pop_back();
  return ignored() || end_frame();
}

bool TreeReader::end_frame() {
  Node node = std::move(frames_.back().node);
  frames_.pop_back();
  place(std::move(node));
  return true;
}

bool TreeReader::lists_stay_lists() const {
  if (number_texts_ == NumberTexts::none) return true;
  return !frames_.empty() &&
         std::find(lists_of_text_.begin(), lists_of_text_.end(), frames_.front().key) != lists_of_text_.end();
}

// The lists of the grid, which end at this place of the open ones, hold no numbers.
void TreeReader::unpack_grid(std::size_t end) {
  const std::size_t begin = end - grid_->depth();
  grid_.reset();
  for (std::size_t i = begin; i < end; ++i) frames_.push_back({node(open_[i].position, List{}), {}, {}, {}});
}

std::string TreeReader::child_path() const {
  if (frames_.empty()) return "";
  const Frame& frame = frames_.back();
  if (const List* list = frame.node.as<List>()) return path_of(frame.node.path, static_cast<Index>(list->size()));
  return path_of(frame.node.path, frame.key);
}

void TreeReader::place(Node node) {
  if (frames_.empty()) {
    root_ = std::move(node);
    return;
  }
  Frame& frame = frames_.back();
  if (List* list = frame.node.as<List>()) {
    list->push_back(std::move(node));
  } else {
    frame.node.as<Object>()->push_back({frame.key, frame.key_position, std::move(node)});
  }
}

}  // namespace

Node read_json(Source& source, std::span<const std::string_view> lists_of_text, NumberTexts number_texts, Notes notes) {
  TreeReader reader(source, lists_of_text, number_texts, notes);
  if (number_texts == NumberTexts::all) source.take_spelled_numbers();
  Json::sax_parse(SourceIterator(source), SourceIterator(), &reader);
  return reader.take();
}

}  // namespace mha::io
