// The table of the kernels' copies and the question what the processor can do.
#include "compute/cpu_variants.hpp"

#include <atomic>

#include "compute/cost.hpp"
#include "core/error.hpp"
#include "core/suggest.hpp"

namespace mha::compute {

#if defined(MHA_X86_KERNELS)
namespace v2 {
extern const CpuKernels kernels;
}
namespace v3 {
extern const CpuKernels kernels;
}
namespace v4 {
extern const CpuKernels kernels;
}
#else
namespace base {
extern const CpuKernels kernels;
}
#endif

namespace {

constexpr double small_problem = 1e6;  // operations: a millisecond for plain loops

struct Variant {
  std::string_view name;
  const CpuKernels* kernels;
  bool (*runs_here)();
};

bool always() {
  return true;
}

// The levels of the x86-64 psABI, by the features that compilers make use of.
#if defined(MHA_X86_KERNELS)
bool has_v2() {
  return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
}
bool has_v3() {
  return has_v2() && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2");
}
bool has_v4() {
  return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#endif

// From slow to fast.
const std::array variants = {
    Variant{"plain", nullptr, always},
#if defined(MHA_X86_KERNELS)
    Variant{"v2", &v2::kernels, has_v2},
    Variant{"v3", &v3::kernels, has_v3},
    Variant{"v4", &v4::kernels, has_v4},
#else
    Variant{"base", &base::kernels, always},
#endif
};

std::atomic<const Variant*> chosen = nullptr;

const Variant& fastest() {
  return *std::find_if(variants.rbegin(), variants.rend(), [](const Variant& variant) { return variant.runs_here(); });
}

const Variant& variant_for(const Plan& plan) {
  if (const Variant* variant = chosen) return *variant;
  // By the shape of one item, so that it gets the same bits alone and in a batch.
  const double items = static_cast<double>(plan.values.front().shape.batch);
  return operations(plan) < items * small_problem ? variants.front() : fastest();
}

}  // namespace

std::vector<std::string_view> cpu_variants() {
  std::vector<std::string_view> names;
  for (const Variant& variant : variants)
    if (variant.runs_here()) names.push_back(variant.name);
  return names;
}

void choose_cpu_variant(std::string_view name) {
  const Variant* found = std::find_if(variants.begin(), variants.end(), [&](const Variant& v) { return v.name == name; });
  if (name.empty()) {
    chosen = nullptr;
  } else if (found == variants.end()) {
    throw Error({"MHA_CPU='{}': no kernels have this name.{} This machine can run {}",
                 "MHA_CPU='{}'：没有叫这个名称的内核。{}本机可以运行 {}"},
                name, did_you_mean(name, cpu_variants()), listed(cpu_variants()));
  } else if (!found->runs_here()) {
    throw Error({"MHA_CPU='{}': this processor lacks instructions of x86-64-{}; it can run {}",
                 "MHA_CPU='{}'：本机处理器缺少 x86-64-{} 的指令，可以运行 {}"},
                name, name, listed(cpu_variants()));
  } else {
    chosen = found;
  }
}

const CpuKernels* cpu_kernels_for(const Plan& plan) {
  return variant_for(plan).kernels;
}

std::string_view cpu_kernels_name(const Plan& plan) {
  return variant_for(plan).name;
}

}  // namespace mha::compute
