# libFuzzer programs, with whichever standard library we use.
#
# Debian builds libFuzzer's runtime against libstdc++, so `-fsanitize=fuzzer` does not link with libc++. Adding
# libstdc++.a to the link is not enough: both libraries define std::exception's type, and a `catch` in the
# code under test then misses what it should catch. So the runtime and the libstdc++ it needs are linked once
# into one object, in which all but libFuzzer's own interface is made local.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "WEFT_FUZZ needs Clang (use `cmake --preset asan`).")
endif()

# For the code alone: what tests or a fuzz target's own file reach tells libFuzzer nothing.
set(weft_fuzz_flags -fsanitize=fuzzer-no-link)
add_custom_target(fuzz_programs)

function(weft_isolate_fuzzer_runtime object)
  find_program(weft_gnu_ld NAMES ld.bfd REQUIRED)
  find_program(weft_objcopy NAMES objcopy REQUIRED)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-resource-dir
    OUTPUT_VARIABLE resources OUTPUT_STRIP_TRAILING_WHITESPACE)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.a
    OUTPUT_VARIABLE libstdcxx OUTPUT_STRIP_TRAILING_WHITESPACE)
  file(GLOB_RECURSE runtime
    "${resources}/lib/*/libclang_rt.fuzzer-${CMAKE_SYSTEM_PROCESSOR}.a"
    "${resources}/lib/*/libclang_rt.fuzzer.a")
  if(NOT runtime OR NOT IS_ABSOLUTE "${libstdcxx}")
    message(FATAL_ERROR "No libFuzzer runtime or no static libstdc++ for ${CMAKE_CXX_COMPILER}. "
      "On Debian 12: apt-get install libclang-rt-19-dev libstdc++-12-dev")
  endif()
  list(GET runtime 0 runtime)
  execute_process(COMMAND ${weft_gnu_ld} -r --force-group-allocation
    --whole-archive "${runtime}" --no-whole-archive "${libstdcxx}" -o "${object}"
    COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${weft_objcopy} --wildcard --keep-global-symbol=main
    --keep-global-symbol=LLVMFuzzer* --keep-global-symbol=__sanitizer_* "${object}"
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(CMAKE_REQUIRED_FLAGS "${weft_stdlib_flag} -fsanitize=fuzzer")
check_cxx_source_compiles("
  #include <cstddef>
  #include <cstdint>
  #include <string>
  extern \"C\" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return std::string(reinterpret_cast<const char*>(data), size) == \"x\" ? 1 : 0;
  }" weft_fuzzer_links_plainly)
unset(CMAKE_REQUIRED_FLAGS)

if(weft_fuzzer_links_plainly)
  set(weft_fuzzer_runtime -fsanitize=fuzzer)
else()
  set(weft_fuzzer_runtime "${PROJECT_BINARY_DIR}/libfuzzer.o")
  if(NOT EXISTS "${weft_fuzzer_runtime}")
    weft_isolate_fuzzer_runtime("${weft_fuzzer_runtime}")
  endif()
endif()

# parser_fuzz.cpp becomes build/asan/fuzz/parser_fuzz; its corpus is tests/fuzz/corpus/parser/.
function(weft_fuzz_program source library)
  cmake_path(GET source STEM target)
  add_executable(${target} ${source})
  weft_own_target(${target})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
  target_link_libraries(${target} PRIVATE ${library} ${weft_fuzzer_runtime})
  add_dependencies(fuzz_programs ${target})
endfunction()
