// JSON as a stream, laid out to be read: an object's members on lines of their own, one matrix row on each line.
#pragma once

#include <span>

#include "core/tensor.hpp"
#include "core/trace.hpp"
#include "io/files/sink.hpp"

namespace mha::io {

inline constexpr std::size_t number_text_size = 24;  // the longest: -2.2250738585072014e-308

// Writes the text at `to`, where number_text_size characters must fit, and returns its end. Whole numbers below 2^53 look
// like integers; −0 is -0.0 and larger numbers have an exponent, so that Python reads a float and not an int; −∞, ∞ and
// NaN, which JSON does not have, are the strings "-inf", "inf" and "nan".
char* write_number(char* to, double number);
char* write_number(char* to, float number);

enum class Spread { lines, line };  // each member of a container on a line of its own, or all on one

class JsonWriter {
 public:
  explicit JsonWriter(Sink& sink) : sink_(sink) {}

  void begin_object(Spread spread = Spread::lines) { begin("{", '}', spread); }
  void begin_array(Spread spread = Spread::lines) { begin("[", ']', spread); }
  void end();

  void key(std::string_view name);  // the next value belongs to it
  void text(std::string_view value);
  void number(double value, Dtype dtype = Dtype::f64);
  void integer(Index value);
  void boolean(bool value);
  void null();

  // A member of an object in one call.
  void begin_object(std::string_view name, Spread spread = Spread::lines) { key(name), begin_object(spread); }
  void begin_array(std::string_view name, Spread spread = Spread::lines) { key(name), begin_array(spread); }
  void text(std::string_view name, std::string_view value) { key(name), text(value); }
  void number(std::string_view name, double value, Dtype dtype = Dtype::f64) { key(name), number(value, dtype); }
  void number(std::string_view name, std::optional<double> value) { key(name), value ? number(*value) : null(); }
  void integer(std::string_view name, std::optional<Index> value) { key(name), value ? integer(*value) : null(); }
  void boolean(std::string_view name, bool value) { key(name), boolean(value); }
  void integers(std::string_view name, std::span<const Index> values);

  // From here on null stands in place of every number that is no integer, for somebody to fill in.
  void leave_blank() { blank_ = true; }
  void row(const double* first, Index count, Dtype dtype = Dtype::f64);
  void matrix(const double* first, Index rows, Index cols, Dtype dtype = Dtype::f64);

  // A list with an object for each of these rows, whose members `write` writes.
  template <typename Rows, typename Write>
  void objects(std::string_view name, const Rows& rows, Write write, Spread spread = Spread::lines) {
    begin_array(name);
    for (const auto& row : rows) {
      begin_object(spread);
      write(row);
      end();
    }
    end();
  }

  // Opens the object that a file of this format is.
  void begin_file(std::string_view format) { begin_object(), text("format", format), integer("version", 1); }
  // Ends what is open, and the last line, and hands everything to the sink.
  void finish();

 private:
  struct Level {
    char closing;
    Spread spread;
    bool empty = true;
  };

  void begin(std::string_view opening, char closing, Spread spread);
  void start_value();
  void new_line();
  void put_number(double value, Dtype dtype);
  void put(std::string_view text);
  void put_quoted(std::string_view text);
  void make_room(std::size_t size);

  Sink& sink_;
  std::vector<Level> levels_;
  bool after_key_ = false, blank_ = false;
  std::array<char, 64 * 1024> buffer_;
  std::size_t used_ = 0;
};

}  // namespace mha::io
