// JSON text to a tree of nodes, with the place of everything in it.
#pragma once

#include <span>

#include "io/json/source.hpp"
#include "io/json/tree.hpp"

namespace mha::io {

enum class NumberTexts {
  minus_infinity,  // "-inf" alone is a number
  all,             // every spelling, with quotes or without, as answers have it; other texts among numbers are blanks,
                   // and the grids tell how exactly their numbers are written
};

enum class Notes {
  left_out,  // members whose keys start with _ or are $schema
  kept,
};

// Lists of numbers become grids, except below the top-level keys `lists_of_text`, where every list stays a list: a label
// may well be "-inf". Throws InputFault.
Node read_json(Source& source, std::span<const std::string_view> lists_of_text,
               NumberTexts number_texts = NumberTexts::minus_infinity, Notes notes = Notes::left_out);

}  // namespace mha::io
