# What ctest runs beside the tests proper: the fuzzers for half a minute each, seeded with the cases and examples and with
# small arrays, and the linters.
find_program(MHA_CLANG_FORMAT clang-format REQUIRED)
find_program(MHA_CLANG_TIDY run-clang-tidy REQUIRED)
find_program(MHA_SHELLCHECK shellcheck REQUIRED)

function(mha_fuzz_test name)
  file(MAKE_DIRECTORY ${asan_build}/corpus.${name})
  add_test(NAME fuzz.${name} COMMAND ${asan_build}/tests/mha_${name}_fuzz
    -max_total_time=20 -timeout=10 -verbosity=0 -print_final_stats=1 -artifact_prefix=${asan_build}/
    ${asan_build}/corpus.${name} ${ARGN})
endfunction()
mha_fuzz_test(problem ${CMAKE_CURRENT_SOURCE_DIR}/cases ${PROJECT_SOURCE_DIR}/data)
mha_fuzz_test(array ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/arrays)

file(GLOB_RECURSE cpp_files CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/src/*.[ch]pp ${PROJECT_SOURCE_DIR}/tests/*.[ch]pp ${PROJECT_SOURCE_DIR}/bench/*.[ch]pp)
add_test(NAME format COMMAND ${MHA_CLANG_FORMAT} --dry-run --Werror ${cpp_files})

# clang-tidy reads the units that clang compiles, each many files at once, of what computes and what takes strangers' files
# apart; `run-clang-tidy -p build-asan` reads everything.
add_test(NAME tidy COMMAND ${MHA_CLANG_TIDY} -quiet -p ${asan_build} "/mha_(core|compute|io)\\.dir/|/src/(core|compute|io)/")

set(shell_scripts .ci/run scripts/demo scripts/gradescope scripts/test scripts/setup.sh scripts/autograder/setup.sh
    scripts/autograder/run_autograder)
add_test(NAME shellcheck COMMAND ${MHA_SHELLCHECK} -x ${shell_scripts} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})

# The long ones first, so that the others run beside them.
set_tests_properties(fuzz.problem fuzz.array tidy asan.study PROPERTIES COST 1000)
