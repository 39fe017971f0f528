// Problem files for tests: a small valid one, with the keys that a test is about put in or left out.
#pragma once

#include "folders.hpp"

#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "io/problem/problem_reader.hpp"

namespace mha::test {

using Keys = std::vector<std::pair<std::string, std::string>>;

// One object of these members, written on one line: {"X": [[1, 2]], "heads": …}
inline std::string object(const Keys& members) {
  std::string text;
  for (const auto& [key, value] : members) text += (text.empty() ? "{\"" : ", \"") + key + "\": " + value;
  return text + "}";
}

// Members of their own first, so that their column is easy to tell; then X (2×2), one head of d_k 2 and W_O, for those of
// them that are not among these. A member without a value is left out.
inline std::string problem_with(const Keys& own) {
  Keys members = {{"X", "[[1, 2], [3, 4]]"},
                  {"heads", R"([{"W_Q": [[1, 0], [0, 1]], "W_K": [[1, 0], [0, 1]], "W_V": [[1, 0], [0, 1]]}])"},
                  {"W_O", "\"identity\""}};
  for (const auto& [key, value] : own)
    std::erase_if(members, [&key = key](const auto& member) { return member.first == key; });
  members.insert(members.begin(), own.begin(), own.end());
  std::erase_if(members, [](const auto& member) { return member.second.empty(); });
  return object(members);
}

inline Problem read_with(const Keys& own) {
  return read_problem_text(problem_with(own), "in");
}

// What is wrong with a text; empty where nothing is.
inline std::string fault_of(const std::string& text) {
  try {
    read_problem_text(text, "in");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline std::string fault_with(const Keys& own) {
  return fault_of(problem_with(own));
}

}  // namespace mha::test
