# What ctest runs beside the tests proper: the fuzzers for half a minute each, seeded with the cases and examples and with
# small arrays, and the linters.
find_program(MHA_CLANG_FORMAT clang-format REQUIRED)
find_program(MHA_CLANG_TIDY run-clang-tidy REQUIRED)
find_program(MHA_SHELLCHECK shellcheck REQUIRED)

set(fuzz_build ${PROJECT_SOURCE_DIR}/build-fuzz)  # as the preset says
function(mha_fuzz_test name)
  file(MAKE_DIRECTORY ${fuzz_build}/corpus.${name})
  add_test(NAME fuzz.${name} COMMAND ${fuzz_build}/tests/mha_${name}_fuzz
    -max_total_time=20 -timeout=10 -verbosity=0 -print_final_stats=1 -artifact_prefix=${fuzz_build}/
    ${fuzz_build}/corpus.${name} ${ARGN})
endfunction()
mha_fuzz_test(problem ${CMAKE_CURRENT_SOURCE_DIR}/cases ${PROJECT_SOURCE_DIR}/data)
mha_fuzz_test(array ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/arrays)

file(GLOB_RECURSE cpp_files CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/src/*.[ch]pp ${PROJECT_SOURCE_DIR}/tests/*.[ch]pp ${PROJECT_SOURCE_DIR}/bench/*.[ch]pp)
add_test(NAME format COMMAND ${MHA_CLANG_FORMAT} --dry-run --Werror ${cpp_files})

# clang-tidy reads the flags that the fuzz build gives to clang. It takes some seconds a file, so CI has it read what
# computes and what takes strangers' files apart; `run-clang-tidy -p build-fuzz` reads everything.
set(tidy_io "source|json_.*|array.*|input_file|matrix_.*|np[yz]_.*|number_.*|output_file|paths|safetensors")
add_test(NAME tidy COMMAND ${MHA_CLANG_TIDY} -quiet -p ${fuzz_build}
  "${PROJECT_SOURCE_DIR}/src/((core|compute)/.*|io/(${tidy_io})\\.cpp)")

set(shell_scripts .ci/run scripts/demo scripts/test scripts/setup.sh)
add_test(NAME shellcheck COMMAND ${MHA_SHELLCHECK} -x ${shell_scripts} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})

# The long ones first, so that the others run beside them.
set_tests_properties(fuzz.problem fuzz.array tidy PROPERTIES COST 1000)
