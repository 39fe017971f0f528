// Which keys a mistake hides or shows that should be visible or hidden.
#pragma once

#include "study/check/answer_walk.hpp"
#include "study/check/report.hpp"

namespace mha::study {

// What is −∞ in one of two readings' masked scores and not in the other's, in this head.
std::vector<OtherKeys> other_keys(const Reading& mistaken, const Reading& right, Index head);

// "row 2: key 4 should be hidden; rows 1, 3: key 2 should be visible"; rows and keys counted from `base`.
std::string told(const std::vector<OtherKeys>& keys, Language language, Index base, bool items);

}  // namespace mha::study
