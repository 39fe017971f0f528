// Signs of what kind of thing is wrong, for mistakes that are on no list.
#pragma once

#include "study/check/reading.hpp"
#include "study/check/report.hpp"

namespace mha::study {

// What the wrong numbers of this step and head (from 0) have in common; nothing where they show no pattern.
std::optional<Sign> sign_of(StepId step, Index head, const GivenMatrices& given, const Reading& reading);

}  // namespace mha::study
