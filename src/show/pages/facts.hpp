// What stands above the first step: title, sizes, conventions.
#pragma once

#include "show/pages/page.hpp"
#include "show/pages/scene.hpp"

namespace mha::show {

// Sizes and rules.
Facts given_facts_of(const Scene& scene);

// Sizes, rules, and how the numbers were computed and are told.
Facts facts_of(const Scene& scene);

void add_header(const Scene& scene, PageBuilder& page);

}  // namespace mha::show
