// What stands above the first step: title, sizes, conventions.
#pragma once

#include "show/pages/page.hpp"
#include "show/pages/scene.hpp"

namespace mha::show {

// Sizes and rules.
Facts given_facts_of(const Scene& scene);

// Sizes, rules, and how the numbers were computed and are told; with a line where they have more digits than are shown.
// Of one scene for each layer that the page tells of.
void add_facts(const Scenes& layers, PageBuilder& page);
void add_header(const Scenes& layers, PageBuilder& page);

// Sizes and rules of a layer of a stack.
void add_layer_facts(const Scene& scene, PageBuilder& page);

}  // namespace mha::show
