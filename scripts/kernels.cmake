# The CPU's kernels, one object file for each instruction set; src/compute/cpu_variants.cpp chooses when the program runs.
# mha_kernels(NAME FLAGS…)
function(mha_kernels name)
  add_library(mha_kernels_${name} OBJECT src/compute/kernels/kernels.cpp)
  target_include_directories(mha_kernels_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(mha_kernels_${name} PRIVATE mha_options)
  target_compile_definitions(mha_kernels_${name} PRIVATE MHA_KERNELS=${name})
  target_compile_options(mha_kernels_${name} PRIVATE ${ARGN})
  target_sources(mha_compute PRIVATE $<TARGET_OBJECTS:mha_kernels_${name}>)
endfunction()

# Where a processor multiplies and adds in one instruction, its kernels do. (As a property of the source, this comes behind
# the flags of mha_options.)
set_property(SOURCE src/compute/kernels/kernels.cpp PROPERTY COMPILE_OPTIONS -ffp-contract=fast)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  target_compile_definitions(mha_compute PRIVATE MHA_X86_KERNELS)
  mha_kernels(v2 -march=x86-64-v2)
  mha_kernels(v3 -march=x86-64-v3)
  mha_kernels(v4 -march=x86-64-v4 -mprefer-vector-width=512)
else()
  mha_kernels(base)
endif()
