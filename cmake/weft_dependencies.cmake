# What comes from elsewhere. First what the system has, then what tools/setup unpacked into .deps/, then a
# pinned download. Nothing is fetched where an earlier step succeeded.
include(FetchContent)

# A C library, linked by its plain name, so that no path of this machine is installed:
# weft_require_library(liburing HEADER liburing.h LIBRARY uring PACKAGE liburing-dev)
function(weft_require_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADER;LIBRARY;PACKAGE" "")
  find_path(weft_${name}_include ${arg_HEADER})
  find_library(weft_${name}_library ${arg_LIBRARY})
  mark_as_advanced(weft_${name}_include weft_${name}_library)
  if(NOT weft_${name}_include OR NOT weft_${name}_library)
    message(FATAL_ERROR "${name} is not installed (Debian: apt-get install ${arg_PACKAGE}).")
  endif()
endfunction()

# GoogleTest is compiled here, with our standard library and sanitizers; a prebuilt one would fit neither.
function(weft_provide_googletest)
  set(BUILD_GMOCK OFF CACHE BOOL "" FORCE)
  set(INSTALL_GTEST OFF CACHE BOOL "" FORCE)
  set(googletest_sources /usr/src/googletest)
  if(EXISTS "${googletest_sources}/googletest/src/gtest.cc")
    add_subdirectory("${googletest_sources}" "${CMAKE_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL SYSTEM)
  else()
    message(STATUS "GoogleTest: not in ${googletest_sources} (package googletest), fetching v1.15.2")
    FetchContent_Declare(googletest
      GIT_REPOSITORY https://github.com/google/googletest.git GIT_TAG v1.15.2 SYSTEM)
    FetchContent_MakeAvailable(googletest)
  endif()
  target_compile_options(gtest PRIVATE ${WEFT_TEST_FLAGS})
  if(NOT TARGET GTest::gtest_main)
    add_library(GTest::gtest_main ALIAS gtest_main)
  endif()
endfunction()

# glaze (header-only JSON), as glaze::glaze. A copy that is not the system's is installed with weft, since
# weft's JSON templates include it: weft_install.cmake.
function(weft_provide_glaze)
  find_package(glaze QUIET)
  if(glaze_FOUND)
    message(STATUS "glaze: ${glaze_VERSION} from ${glaze_DIR}")
    set_target_properties(glaze::glaze PROPERTIES IMPORTED_GLOBAL TRUE)
    set_property(GLOBAL PROPERTY weft_glaze_is_packaged ON)
    return()
  endif()
  set(headers "${PROJECT_SOURCE_DIR}/.deps/glaze/include")
  if(NOT EXISTS "${headers}/glaze/glaze.hpp")
    message(STATUS "glaze: not installed and not in .deps (tools/setup puts it there), fetching v8.4.0")
    FetchContent_Declare(glaze_headers
      GIT_REPOSITORY https://github.com/stephenberry/glaze.git GIT_TAG v8.4.0
      SOURCE_SUBDIR no-build-files-wanted)
    FetchContent_MakeAvailable(glaze_headers)
    set(headers "${glaze_headers_SOURCE_DIR}/include")
  endif()
  message(STATUS "glaze: ${headers}")
  add_library(weft_glaze INTERFACE)
  add_library(glaze::glaze ALIAS weft_glaze)
  set_target_properties(weft_glaze PROPERTIES EXPORT_NAME glaze)
  target_include_directories(weft_glaze SYSTEM INTERFACE
    "$<BUILD_INTERFACE:${headers}>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/weft/third_party>")
  set_property(GLOBAL PROPERTY weft_glaze_headers "${headers}")
endfunction()

# CLI11 (header-only command line parser), as CLI11::CLI11; only .cpp files include it.
function(weft_provide_cli11)
  find_package(CLI11 CONFIG QUIET)
  if(CLI11_FOUND)
    set_target_properties(CLI11::CLI11 PROPERTIES IMPORTED_GLOBAL TRUE)
    return()
  endif()
  message(STATUS "CLI11: not installed (package libcli11-dev), fetching v2.4.2")
  FetchContent_Declare(cli11
    GIT_REPOSITORY https://github.com/CLIUtils/CLI11.git GIT_TAG v2.4.2 SYSTEM)
  FetchContent_MakeAvailable(cli11)
endfunction()

# toml++ (headers), as weft_tomlplusplus; only .cpp files include it. Not by Debian's CMake package, whose
# target links a library that is compiled for libstdc++.
function(weft_provide_tomlplusplus)
  find_path(weft_tomlplusplus_include toml++/toml.h)
  mark_as_advanced(weft_tomlplusplus_include)
  set(headers "${weft_tomlplusplus_include}")
  if(NOT headers)
    message(STATUS "toml++: not installed (package libtomlplusplus-dev), fetching v3.4.0")
    FetchContent_Declare(tomlplusplus_headers
      GIT_REPOSITORY https://github.com/marzer/tomlplusplus.git GIT_TAG v3.4.0
      SOURCE_SUBDIR no-build-files-wanted)
    FetchContent_MakeAvailable(tomlplusplus_headers)
    set(headers "${tomlplusplus_headers_SOURCE_DIR}/include")
  endif()
  add_library(weft_tomlplusplus INTERFACE)
  target_include_directories(weft_tomlplusplus SYSTEM INTERFACE "${headers}")
endfunction()

# spdlog (headers), as weft_spdlog; only .cpp files include it. Not by Debian's CMake package, whose target links
# a library that is compiled for libstdc++. Debian's needs fmt's headers, others have a copy of their own.
function(weft_provide_spdlog)
  find_path(weft_spdlog_include spdlog/pattern_formatter.h)
  find_path(weft_fmt_include fmt/format.h)
  mark_as_advanced(weft_spdlog_include weft_fmt_include)
  set(headers "${weft_spdlog_include}")
  if(headers AND NOT weft_fmt_include AND NOT EXISTS "${headers}/spdlog/fmt/bundled/format.h")
    set(headers "")
  endif()
  if(NOT headers)
    message(STATUS "spdlog: not installed (package libspdlog-dev), fetching v1.15.3")
    FetchContent_Declare(spdlog_headers
      GIT_REPOSITORY https://github.com/gabime/spdlog.git GIT_TAG v1.15.3
      SOURCE_SUBDIR no-build-files-wanted)
    FetchContent_MakeAvailable(spdlog_headers)
    set(headers "${spdlog_headers_SOURCE_DIR}/include")
  endif()
  add_library(weft_spdlog INTERFACE)
  target_include_directories(weft_spdlog SYSTEM INTERFACE "${headers}")
  if(NOT EXISTS "${headers}/spdlog/fmt/bundled/format.h")
    target_include_directories(weft_spdlog SYSTEM INTERFACE "${weft_fmt_include}")
    target_compile_definitions(weft_spdlog INTERFACE SPDLOG_FMT_EXTERNAL FMT_HEADER_ONLY)
  endif()
endfunction()

if(EXISTS "${PROJECT_SOURCE_DIR}/weft/loop/CMakeLists.txt")
  weft_require_library(liburing HEADER liburing.h LIBRARY uring PACKAGE liburing-dev)
endif()
if(EXISTS "${PROJECT_SOURCE_DIR}/weft/net/CMakeLists.txt")
  weft_require_library(c-ares HEADER ares.h LIBRARY cares PACKAGE libc-ares-dev)
  weft_require_library(openssl HEADER openssl/core_names.h LIBRARY ssl PACKAGE libssl-dev)
endif()
if(EXISTS "${PROJECT_SOURCE_DIR}/weft/http/CMakeLists.txt")
  weft_require_library(nghttp2 HEADER nghttp2/nghttp2.h LIBRARY nghttp2 PACKAGE libnghttp2-dev)
  weft_require_library(zlib HEADER zlib.h LIBRARY z PACKAGE zlib1g-dev)
  weft_require_library(brotli HEADER brotli/encode.h LIBRARY brotlienc PACKAGE libbrotli-dev)
  weft_require_library(zstd HEADER zstd.h LIBRARY zstd PACKAGE libzstd-dev)
endif()
if(EXISTS "${PROJECT_SOURCE_DIR}/weft/service/CMakeLists.txt")
  weft_provide_cli11()
  weft_provide_tomlplusplus()
endif()
if(EXISTS "${PROJECT_SOURCE_DIR}/weft/json/CMakeLists.txt")
  weft_provide_glaze()
endif()
if(EXISTS "${PROJECT_SOURCE_DIR}/weft/telemetry/CMakeLists.txt")
  weft_provide_spdlog()
endif()
