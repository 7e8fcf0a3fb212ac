# The compiler: refuse what is too old with a message that says what to install, then set what every
# target must agree on (standard library, sanitizers, linker). Warnings are per target: weft_targets.cmake.

set(weft_compiler_advice
  "On Debian 12: apt-get install clang-19 libc++-19-dev libc++abi-19-dev lld-19 (tools/setup does it), \
then `cmake --preset release`. On Debian 13 or Ubuntu 24.04, g++-14 will do as well.")

function(weft_require_compiler id minimum why)
  if(CMAKE_CXX_COMPILER_ID STREQUAL id AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS minimum)
    message(FATAL_ERROR
      "weft needs ${id} ${minimum} or newer; ${CMAKE_CXX_COMPILER} is ${CMAKE_CXX_COMPILER_VERSION}. "
      "${why}\n${weft_compiler_advice}")
  endif()
endfunction()

weft_require_compiler(GNU 14
  "Older GCC releases miscompile coroutines: temporaries in co_await expressions are destroyed twice.")
weft_require_compiler(Clang 18 "Older releases lack the C++23 that weft uses.")
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang)$")
  message(FATAL_ERROR "weft is built with Clang or GCC, not ${CMAKE_CXX_COMPILER_ID}.\n"
    "${weft_compiler_advice}")
endif()
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  message(FATAL_ERROR "weft runs on Linux only (io_uring, epoll); this is ${CMAKE_SYSTEM_NAME}.")
endif()

set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
if(NOT CMAKE_BUILD_TYPE AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()

set(weft_uses_libcxx OFF)
if(WEFT_LIBCXX AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(weft_uses_libcxx ON)
  set(weft_stdlib_flag -stdlib=libc++)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-stdlib=libc++>)
  add_link_options($<$<LINK_LANGUAGE:CXX>:-stdlib=libc++>)
endif()

include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_FLAGS "-std=c++23 ${weft_stdlib_flag}")
check_cxx_source_compiles("
  #include <expected>
  int main() { return std::expected<int, int>{0}.value(); }" weft_has_cxx23_library)
unset(CMAKE_REQUIRED_FLAGS)
if(NOT weft_has_cxx23_library)
  message(FATAL_ERROR "The standard library of ${CMAKE_CXX_COMPILER} ${weft_stdlib_flag} has no usable "
    "<expected>, or is not installed.\n${weft_compiler_advice}")
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld weft_has_lld)
  if(weft_has_lld)
    add_link_options(-fuse-ld=lld)
  endif()
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache wants to be told that precompiled headers are meant; it takes their contents into account. An object is the
  # same wherever the checkout lies, but for the folder that its debugging information names.
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 "${CCACHE_PROGRAM}")
  set(CMAKE_C_COMPILER_LAUNCHER "${CMAKE_CXX_COMPILER_LAUNCHER}")
endif()

# Instrumentation must reach every object, GoogleTest's too: half-instrumented containers are reported as
# overflows, and uninstrumented locks as races.
if(WEFT_SANITIZE)
  add_compile_options(-fsanitize=${WEFT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${WEFT_SANITIZE})
endif()
if(WEFT_COVERAGE)
  add_compile_options(-fprofile-instr-generate -fcoverage-mapping)
  add_link_options(-fprofile-instr-generate)
endif()
# Programs are optimised as a whole. Libraries carry plain code beside what that takes, for tests and for users
# with other compilers: those link them as ever.
if(WEFT_LTO)
  set(weft_lto_flags -flto=$<IF:$<CXX_COMPILER_ID:Clang>,thin,auto> -ffat-lto-objects)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  if(weft_uses_libcxx)
    add_compile_definitions(_LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_DEBUG)
  else()
    add_compile_definitions(_GLIBCXX_ASSERTIONS)
  endif()
endif()
