// The files that travel inside the binary: example problems and JSON Schemas.
#pragma once

#include <span>
#include <string_view>

namespace mha::io {

struct EmbeddedFile {
  std::string_view name;  // without folder and ending
  std::string_view text;
};

std::span<const EmbeddedFile> examples();  // data/*.json, by name
std::span<const EmbeddedFile> schemas();   // src/io/problem/*.schema.json

}  // namespace mha::io
