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

# Debian has fmt as a shared library alone, and to bind that and libstdc++ takes a third of a short run. fmt's headers hold
# its sources, so mha has both within, wherever fmt is one that scripts/fmt.cpp knows.
get_target_property(fmt_type fmt::fmt TYPE)
if(fmt_type STREQUAL SHARED_LIBRARY AND fmt_VERSION MATCHES "^9\\.")
  add_library(mha_fmt STATIC scripts/fmt.cpp)
  target_include_directories(mha_fmt SYSTEM PUBLIC $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
  set(fmt_type STATIC_LIBRARY)
else()
  add_library(mha_fmt INTERFACE)
  target_link_libraries(mha_fmt INTERFACE fmt::fmt)
endif()

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

# mha_loaded(NAME HEADER LIBRARY): mha_NAME, a library that is loaded when the program first needs it, so that only its
# headers and its name, as MHA_NAME, matter here. NAME_FOUND says whether it is there.
function(mha_loaded name header library)
  string(TOUPPER ${name} upper)
  add_library(mha_${name} INTERFACE)
  find_path(${upper}_INCLUDE ${header})
  find_library(${upper}_LIBRARY NAMES ${library})
  if(NOT ${upper}_INCLUDE OR NOT ${upper}_LIBRARY)
    return()
  endif()
  file(REAL_PATH ${${upper}_LIBRARY} file)
  cmake_path(GET file FILENAME file_name)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${file} OUTPUT_VARIABLE facts ERROR_QUIET)
  if(facts MATCHES "SONAME +([^ \n]+)")
    set(file_name ${CMAKE_MATCH_1})
  endif()
  target_include_directories(mha_${name} SYSTEM INTERFACE ${${upper}_INCLUDE})
  target_compile_definitions(mha_${name} INTERFACE MHA_${upper}="${file_name}")
  target_link_libraries(mha_${name} INTERFACE ${CMAKE_DL_LIBS})
  set(${name}_FOUND TRUE PARENT_SCOPE)
endfunction()

# For .npz and .xlsx files that are read. Debian's CMake package of it asks for programs that libzip-dev does not bring.
mha_loaded(libzip zip.h zip)
if(NOT libzip_FOUND)
  FetchContent_Declare(libzip GIT_REPOSITORY https://github.com/nih-at/libzip.git GIT_TAG v1.10.1)
  foreach(option COMMONCRYPTO GNUTLS MBEDTLS OPENSSL WINDOWS_CRYPTO BZIP2 LZMA ZSTD)
    set(ENABLE_${option} OFF)
  endforeach()
  foreach(option TOOLS REGRESS EXAMPLES DOC OSSFUZZ)
    set(BUILD_${option} OFF)
  endforeach()
  set(BUILD_SHARED_LIBS OFF)
  set(LIBZIP_DO_INSTALL OFF)
  FetchContent_MakeAvailable(libzip)
  target_link_libraries(mha_libzip INTERFACE libzip::zip)
endif()

# zlib's checksum of .npz files: linked statically where that is there, so that nothing more is loaded at the start.
add_library(mha_zlib INTERFACE)
find_path(ZLIB_INCLUDE zlib.h)
find_library(ZLIB_ARCHIVE NAMES libz.a z)
if(ZLIB_INCLUDE AND ZLIB_ARCHIVE)
  target_include_directories(mha_zlib SYSTEM INTERFACE ${ZLIB_INCLUDE})
  target_link_libraries(mha_zlib INTERFACE ${ZLIB_ARCHIVE})
else()
  FetchContent_Declare(zlib GIT_REPOSITORY https://github.com/madler/zlib.git GIT_TAG v1.3.1)
  set(ZLIB_BUILD_EXAMPLES OFF)
  FetchContent_MakeAvailable(zlib)
  target_include_directories(mha_zlib SYSTEM INTERFACE ${zlib_SOURCE_DIR} ${zlib_BINARY_DIR})
  target_link_libraries(mha_zlib INTERFACE zlibstatic)
endif()

# For .xlsx files that are written. Debian's libxlsxwriter-dev has no CMake package; the sources look for ZLIB by that name.
mha_loaded(xlsxwriter xlsxwriter.h xlsxwriter)
if(NOT xlsxwriter_FOUND)
  FetchContent_Declare(xlsxwriter
    GIT_REPOSITORY https://github.com/jmcnamara/libxlsxwriter.git GIT_TAG RELEASE_1.1.5)
  FetchContent_MakeAvailable(xlsxwriter)
  target_include_directories(mha_xlsxwriter SYSTEM INTERFACE ${xlsxwriter_SOURCE_DIR}/include)
  target_link_libraries(mha_xlsxwriter INTERFACE xlsxwriter)
endif()

if(MHA_TESTS)
  FetchContent_Declare(Catch2
    GIT_REPOSITORY https://github.com/catchorg/Catch2.git GIT_TAG v3.4.0
    FIND_PACKAGE_ARGS)
  FetchContent_MakeAvailable(Catch2)
endif()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

# OpenCL's headers alone: its library is looked for when the program runs. Without them the build has no OpenCL.
option(MHA_OPENCL "Build the OpenCL backend, if the headers are there" ON)
if(MHA_OPENCL)
  find_path(OPENCL_INCLUDE CL/cl.h)
endif()
if(NOT OPENCL_INCLUDE)
  set(OPENCL_INCLUDE "")
  message(STATUS "No OpenCL: `mha devices` will list the processor alone")
endif()
