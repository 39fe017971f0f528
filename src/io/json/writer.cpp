// Separators and line breaks follow from a stack of open containers; numbers go straight into the buffer.
#include "io/json/writer.hpp"

#include <charconv>
#include <nlohmann/json.hpp>

namespace mha::io {
namespace {

constexpr double exact_integers = 9007199254740992.0;  // 2^53

char* write_text(char* to, std::string_view text) {
  return to + text.copy(to, text.size());
}

template <class Real>
char* write_real(char* to, Real number) {
  char* const end = to + number_text_size;
  if (std::fabs(static_cast<double>(number)) < exact_integers) {
    const auto whole = static_cast<std::int64_t>(number);
    if (static_cast<Real>(whole) != number) return std::to_chars(to, end, number).ptr;
    if (whole == 0 && std::signbit(number)) return write_text(to, "-0.0");
    return std::to_chars(to, end, whole).ptr;
  }
  if (std::isnan(number)) return write_text(to, "\"nan\"");
  if (std::isinf(number)) return write_text(to, number < 0 ? "\"-inf\"" : "\"inf\"");
  return std::to_chars(to, end, number, std::chars_format::scientific).ptr;
}

}  // namespace

char* write_number(char* to, double number) {
  return write_real(to, number);
}
char* write_number(char* to, float number) {
  return write_real(to, number);
}

void JsonWriter::begin(std::string_view opening, char closing, Spread spread) {
  start_value();
  put(opening);
  levels_.push_back({closing, spread});
}

void JsonWriter::end() {
  const Level level = levels_.back();
  levels_.pop_back();
  if (level.spread == Spread::lines && !level.empty) new_line();
  put({&level.closing, 1});
}

void JsonWriter::key(std::string_view name) {
  start_value();
  put_quoted(name);
  put(": ");
  after_key_ = true;
}

void JsonWriter::text(std::string_view value) {
  start_value();
  put_quoted(value);
}

void JsonWriter::number(double value, Dtype dtype) {
  start_value();
  put_number(value, dtype);
}

void JsonWriter::integer(Index value) {
  start_value();
  put(std::to_string(value));
}

void JsonWriter::boolean(bool value) {
  start_value();
  put(value ? "true" : "false");
}

void JsonWriter::null() {
  start_value();
  put("null");
}

void JsonWriter::integers(std::string_view name, std::span<const Index> values) {
  key(name);
  begin_array(Spread::line);
  for (const Index value : values) integer(value);
  end();
}

void JsonWriter::row(const double* first, Index count, Dtype dtype) {
  start_value();
  put("[");
  for (Index i = 0; i < count; ++i) {
    if (i > 0) put(", ");
    put_number(first[i], dtype);
  }
  put("]");
}

void JsonWriter::matrix(const double* first, Index rows, Index cols, Dtype dtype) {
  begin_array();
  for (Index i = 0; i < rows; ++i) row(first + i * cols, cols, dtype);
  end();
}

void JsonWriter::finish() {
  while (!levels_.empty()) end();
  put("\n");
  make_room(buffer_.size());
}

// What stands between this value and the one before it.
void JsonWriter::start_value() {
  const bool member = after_key_;
  after_key_ = false;
  if (member || levels_.empty()) return;
  Level& level = levels_.back();
  if (!level.empty) put(level.spread == Spread::lines ? "," : ", ");
  level.empty = false;
  if (level.spread == Spread::lines) new_line();
}

void JsonWriter::new_line() {
  put("\n");
  for (std::size_t i = 0; i < levels_.size(); ++i) put(" ");
}

void JsonWriter::put_number(double value, Dtype dtype) {
  if (blank_) return put("null");
  make_room(number_text_size);
  char* const to = buffer_.data() + used_;
  char* const end = dtype == Dtype::f32 ? write_number(to, static_cast<float>(value)) : write_number(to, value);
  used_ += static_cast<std::size_t>(end - to);
}

void JsonWriter::put(std::string_view text) {
  make_room(text.size());
  if (text.size() > buffer_.size()) {
    sink_.write(text);
  } else {
    used_ += text.copy(buffer_.data() + used_, text.size());
  }
}

void JsonWriter::put_quoted(std::string_view text) {
  put(nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void JsonWriter::make_room(std::size_t size) {
  if (used_ + size <= buffer_.size()) return;
  sink_.write({buffer_.data(), used_});
  used_ = 0;
}

}  // namespace mha::io
