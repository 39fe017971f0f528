// Steps as code for NumPy.
#pragma once

#include "show/pages/scene.hpp"

namespace mha::show {

// What computes the matrix of this step, "softmax(Z1)", with the functions of show/notebook/steps.py; empty where there is
// no code for it.
NumpyCode numpy_code(const Scene& scene, const Step& step, Place place);

}  // namespace mha::show
