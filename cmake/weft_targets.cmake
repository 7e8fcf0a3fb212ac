# The four ways to add code, so that a folder's own CMakeLists.txt is a line:
#
#   weft_layer(loop DEPENDS coro LINK uring TEST_DEPENDS testing)    weft/loop/CMakeLists.txt
#   weft_program(weftd DEPENDS http service)                         apps/weftd/CMakeLists.txt
#   weft_example(echo DEPENDS net)                                   examples/CMakeLists.txt
#   weft_add_if_present(weft/net)                                    the top level
#
# DEPENDS names layers, LINK libraries, and PRIVATE_HEADERS header-only libraries that only our .cpp files
# include, so that who installs weft does not need them. A file's name says its part: `*_test.cpp` is a GoogleTest file,
# `*_fuzz.cpp` a libFuzzer target, any other `*.cpp` the code itself.

# Without it GCC makes symmetric transfer a call below -O2, and a long chain of coroutines ends the stack.
set(weft_layer_flags $<$<CXX_COMPILER_ID:GNU>:-foptimize-sibling-calls>)

function(weft_add_if_present folder)
  if(EXISTS "${PROJECT_SOURCE_DIR}/${folder}/CMakeLists.txt")
    add_subdirectory(${folder})
  endif()
endfunction()

# Warnings and the version: for our own targets only, never for those who link us.
function(weft_own_target target)
  target_compile_features(${target} PUBLIC cxx_std_23)
  target_compile_definitions(${target} PRIVATE WEFT_VERSION="${PROJECT_VERSION}")
  # What __FILE__ says is the same wherever weft is built.
  target_compile_options(${target} PRIVATE "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual
    "$<$<CXX_COMPILER_ID:Clang>:-Wshadow;-Wnull-dereference>"
    # GCC's plain -Wshadow also warns of a parameter that is named after its type: `options options`.
    $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>
    $<$<BOOL:${WEFT_WERROR}>:-Werror>)
endfunction()

# Reading headers is most of the work of compiling the code. Together, files are not seen to lack an include, and one's
# local names may be hidden by another's.
function(weft_compile_together target)
  if(NOT WEFT_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  # GCC takes what is local to a source for what a header would give to many.
  target_compile_options(${target} PRIVATE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()

# Reading the standard library's headers is half the work of compiling a test: they are compiled once for all tests of
# a build. Who shares a precompiled header shares its flags: FLAGS are those that differ from the preset's.
function(weft_precompile target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FLAGS")
  set(shared weft_precompiled_tests)
  if(NOT TARGET ${shared})
    file(WRITE "${CMAKE_BINARY_DIR}/${shared}.cpp" "")
    add_library(${shared} OBJECT EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/${shared}.cpp")
    weft_own_target(${shared})
    target_compile_options(${shared} PRIVATE ${arg_FLAGS} ${weft_layer_flags}
      "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
    target_link_libraries(${shared} PRIVATE GTest::gtest)
    target_precompile_headers(${shared} PRIVATE
      <algorithm> <array> <atomic> <chrono> <concepts> <coroutine> <expected> <format> <functional> <map> <memory>
      <mutex> <optional> <span> <string> <string_view> <thread> <tuple> <unordered_map> <utility> <variant> <vector>
      <gtest/gtest.h>)
  endif()
  target_precompile_headers(${target} REUSE_FROM ${shared})
endfunction()

function(weft_layer_targets result)
  list(TRANSFORM ARGN PREPEND weft::)
  set(${result} ${ARGN} PARENT_SCOPE)
endfunction()

# Tests may reach up, to layers that are added later or not there yet.
function(weft_test_program target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK;TEST_DEPENDS")
  add_executable(${target} ${arg_SOURCES} "${PROJECT_SOURCE_DIR}/tests/failure_listener.cpp")
  weft_own_target(${target})
  # At -O3 GCC follows a test's empty std::optional or moved-from object into code that asks before it reads.
  # It takes the else in GoogleTest's macros for that of an if before them; Clang knows better, and still warns.
  set(test_flags "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-dangling-else>")
  # Most of a build's time goes into tests. The code they call is optimised as the preset says.
  list(APPEND test_flags ${WEFT_TEST_FLAGS})
  target_compile_options(${target} PRIVATE ${test_flags})
  weft_layer_targets(above ${arg_TEST_DEPENDS})
  list(TRANSFORM above REPLACE "^(.+)$" "$<TARGET_NAME_IF_EXISTS:\\1>")
  weft_compile_together(${target})
  target_link_libraries(${target} PRIVATE ${arg_LINK} ${above} weft::base GTest::gtest_main)
  weft_precompile(${target} FLAGS ${test_flags})
  # One ctest entry a program: a process per case would cost more than the cases. tools/test counts the
  # cases from the XML files.
  add_test(NAME ${target}
    COMMAND ${target} "--gtest_output=xml:${CMAKE_BINARY_DIR}/test-results/${target}.xml"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  # For what hangs. Under a sanitizer, beside two builds, some take ten minutes.
  set_tests_properties(${target} PROPERTIES TIMEOUT 2400)
endfunction()

# A folder with a CMakeLists.txt of its own is a target of its own.
function(weft_glob result)
  file(GLOB_RECURSE all CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  file(GLOB others CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*/CMakeLists.txt")
  foreach(other IN LISTS others)
    cmake_path(GET other PARENT_PATH folder)
    list(FILTER all EXCLUDE REGEX "^${folder}/")
  endforeach()
  set(code ${all})
  list(FILTER code EXCLUDE REGEX "_(test|fuzz)\\.cpp$")
  set(tests ${all})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  set(fuzzers ${all})
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cpp$")
  set(${result}_code ${code} PARENT_SCOPE)
  set(${result}_tests ${tests} PARENT_SCOPE)
  set(${result}_fuzzers ${fuzzers} PARENT_SCOPE)
endfunction()

# ONE_THREAD: neither the layer nor its tests know another, so TSan has nothing to look for in them.
function(weft_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ONE_THREAD" "" "DEPENDS;LINK;PRIVATE_HEADERS;TEST_DEPENDS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "weft_layer(${name}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  weft_glob(files)
  weft_layer_targets(below ${arg_DEPENDS})
  set(target weft_${name})

  if(files_code)
    add_library(${target} STATIC ${files_code})
    weft_own_target(${target})
    target_compile_options(${target} PRIVATE ${weft_lto_flags} ${weft_fuzz_flags})
    weft_compile_together(${target})
    set(scope PUBLIC)
  else()
    add_library(${target} INTERFACE)
    target_compile_features(${target} INTERFACE cxx_std_23)
    set(scope INTERFACE)
  endif()
  add_library(weft::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(${target} ${scope}
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  target_compile_definitions(${target} ${scope} ${weft_container_definitions})
  target_link_libraries(${target} ${scope} ${below} ${arg_LINK})
  foreach(library IN LISTS arg_PRIVATE_HEADERS)
    target_link_libraries(${target} PRIVATE "$<BUILD_INTERFACE:${library}>")
  endforeach()
  # Who uses a layer must use its standard library.
  if(weft_uses_libcxx)
    target_compile_options(${target} ${scope} $<$<COMPILE_LANGUAGE:CXX>:-stdlib=libc++>)
    target_link_options(${target} ${scope} $<$<LINK_LANGUAGE:CXX>:-stdlib=libc++>)
  endif()
  target_compile_options(${target} ${scope} ${weft_layer_flags})
  set_property(GLOBAL APPEND PROPERTY weft_layers ${name})
  if(files_code)
    set_property(GLOBAL APPEND PROPERTY weft_archives ${target})
  endif()

  if(arg_ONE_THREAD AND WEFT_SANITIZE STREQUAL "thread")
    set(files_tests)
  endif()
  if(files_tests AND WEFT_BUILD_TESTS)
    weft_test_program(${target}_tests
      SOURCES ${files_tests} LINK weft::${name} TEST_DEPENDS ${arg_TEST_DEPENDS})
  endif()
  if(WEFT_FUZZ)
    foreach(source IN LISTS files_fuzzers)
      weft_fuzz_program(${source} weft::${name})
    endforeach()
  endif()
endfunction()

# All but main.cpp goes into a library of its own, which the program's tests link too.
function(weft_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;LINK;TEST_DEPENDS")
  weft_glob(files)
  weft_layer_targets(below ${arg_DEPENDS})
  set(libraries ${below} ${arg_LINK})
  set(parts ${files_code})
  list(FILTER parts EXCLUDE REGEX "/main\\.cpp$")
  if(parts)
    add_library(${name}_parts STATIC ${parts})
    weft_own_target(${name}_parts)
    target_compile_options(${name}_parts PRIVATE ${weft_lto_flags} ${weft_fuzz_flags})
    weft_compile_together(${name}_parts)
    # Commands are alike, and so are their local names.
    set(commands ${parts})
    list(FILTER commands INCLUDE REGEX "_command\\.cpp$")
    set_source_files_properties(${commands} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    target_link_libraries(${name}_parts PUBLIC ${libraries})
    target_include_directories(${name}_parts PUBLIC "${PROJECT_SOURCE_DIR}")
    set(libraries ${name}_parts)
  endif()
  add_executable(${name} main.cpp)
  weft_own_target(${name})
  target_compile_options(${name} PRIVATE ${weft_lto_flags})
  target_link_options(${name} PRIVATE ${weft_lto_flags})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${weft_allocator_library} ${libraries})
  if(WEFT_INSTALL)
    install(TARGETS ${name} COMPONENT programs)
  endif()
  if(files_tests AND WEFT_BUILD_TESTS)
    weft_test_program(${name}_tests
      SOURCES ${files_tests} LINK ${libraries} TEST_DEPENDS ${arg_TEST_DEPENDS})
  endif()
  if(WEFT_FUZZ)
    foreach(source IN LISTS files_fuzzers)
      weft_fuzz_program(${source} ${libraries})
    endforeach()
  endif()
endfunction()

# examples/<name>/<name>.cpp; with no DEPENDS it links all of weft, as a user's first program does.
function(weft_example name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEPENDS;LINK")
  weft_layer_targets(below ${arg_DEPENDS})
  if(NOT below)
    set(below weft::weft)
  endif()
  add_executable(example_${name} ${name}/${name}.cpp)
  set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name})
  weft_own_target(example_${name})
  if(WEFT_SANITIZE)
    target_compile_options(example_${name} PRIVATE ${WEFT_TEST_FLAGS})
  endif()
  target_link_libraries(example_${name} PRIVATE ${weft_allocator_library} ${below} ${arg_LINK})
endfunction()
