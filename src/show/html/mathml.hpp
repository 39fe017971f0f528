// Formulas as MathML (MathML Core), from the way in which pages write them.
#pragma once

#include <string>
#include <string_view>

namespace mha::show {

// Escaped for HTML, in text and in attributes.
std::string html_escaped(std::string_view text);

// As a string of JSON, also inside <script>: nothing in it ends the element.
std::string json_string(std::string_view text);

// "S⁽¹⁾ = Q⁽¹⁾ · K⁽¹⁾ᵀ" as a <math> element: letters with their marks, numbers, signs, roots and powers; words that are no
// part of a formula stay words.
std::string mathml(std::string_view formula);

}  // namespace mha::show
