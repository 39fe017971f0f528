// What stands above the first step: title, sizes, conventions.
#pragma once

#include <string>
#include <vector>

#include "show/pages/scene.hpp"

namespace mha::show {

// "3 decimals"
std::string decimals_text(Language language, int count);

// Sizes and rules.
Facts given_facts_of(const Scene& scene);

// Sizes, rules, and how the numbers were computed and are told.
Facts facts_of(const Scene& scene);

void add_header(const Scene& scene, std::vector<Block>& blocks);

}  // namespace mha::show
