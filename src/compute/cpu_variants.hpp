// Which copy of the CPU's kernels is used: one for each instruction set, chosen once the program runs.
#pragma once

#include "compute/cpu_kernels.hpp"
#include "core/plan.hpp"

namespace mha::compute {

// The names of the copies that this machine can run, the fastest last. "plain" is none of them: the loops of the formulas,
// the same numbers to the last digit on every machine.
std::vector<std::string_view> cpu_variants();

// For all that is computed from now on; "" leaves the choice to the program. An unknown name, or one that this machine
// cannot run, is an error.
void choose_cpu_variant(std::string_view name);

// Null: plain loops. Unless a name was chosen that is so for problems small enough for a person, whose last digit shall
// not depend on the machine.
const CpuKernels* cpu_kernels_for(const Plan& plan);
std::string_view cpu_kernels_name(const Plan& plan);

}  // namespace mha::compute
