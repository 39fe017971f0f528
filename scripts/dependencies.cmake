# The libraries mha stands on: the system's where it has them (Debian's packages do), else fetched from upstream.
include(FetchContent)

FetchContent_Declare(fmt
  GIT_REPOSITORY https://github.com/fmtlib/fmt.git GIT_TAG 9.1.0
  FIND_PACKAGE_ARGS)
FetchContent_Declare(CLI11
  GIT_REPOSITORY https://github.com/CLIUtils/CLI11.git GIT_TAG v2.3.2
  FIND_PACKAGE_ARGS)
FetchContent_Declare(nlohmann_json
  GIT_REPOSITORY https://github.com/nlohmann/json.git GIT_TAG v3.11.2
  FIND_PACKAGE_ARGS)
set(BUILD_TESTING OFF)  # theirs, not ours
FetchContent_MakeAvailable(fmt CLI11 nlohmann_json)

# Debian's libutf8proc-dev has no CMake package.
find_path(UTF8PROC_INCLUDE utf8proc.h)
find_library(UTF8PROC_LIBRARY NAMES libutf8proc.a utf8proc)
if(UTF8PROC_INCLUDE AND UTF8PROC_LIBRARY)
  add_library(utf8proc::utf8proc UNKNOWN IMPORTED)
  set_target_properties(utf8proc::utf8proc PROPERTIES
    IMPORTED_LOCATION ${UTF8PROC_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${UTF8PROC_INCLUDE})
else()
  FetchContent_Declare(utf8proc GIT_REPOSITORY https://github.com/JuliaStrings/utf8proc.git GIT_TAG v2.8.0)
  FetchContent_MakeAvailable(utf8proc)
  add_library(utf8proc::utf8proc ALIAS utf8proc)
endif()

if(MHA_TESTS)
  FetchContent_Declare(Catch2
    GIT_REPOSITORY https://github.com/catchorg/Catch2.git GIT_TAG v3.4.0
    FIND_PACKAGE_ARGS)
  FetchContent_MakeAvailable(Catch2)
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
