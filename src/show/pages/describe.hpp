// Turns a computation into a page: every step with its formula, shapes, matrices and an entry spelled out.
#pragma once

#include "show/pages/scene.hpp"

namespace mha::show {

// The trace may lack values: what it does not hold is not shown.
Document describe(const Problem& problem, const Plan& plan, const Trace& trace, const PageOptions& options);

// What the person should know before trusting the numbers, for stderr: rows that may attend to no key, by name.
std::vector<std::string> warnings(const Problem& problem, const PageOptions& options);

}  // namespace mha::show
