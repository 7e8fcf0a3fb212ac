# `make install`: libraries, headers, and what find_package(weft) and `pkg-config weft` read. The prefix can be
# moved as a whole.
include(CMakePackageConfigHelpers)

get_property(weft_layers GLOBAL PROPERTY weft_layers)
get_property(weft_glaze_is_packaged GLOBAL PROPERTY weft_glaze_is_packaged)
set(weft_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/weft")

# What link-time optimisation works on serves one release of one compiler, and names the build's folders:
# installed archives hold the plain code alone.
function(weft_install_plain_code target)
  get_target_property(type ${target} TYPE)
  if(WEFT_LTO AND type STREQUAL "STATIC_LIBRARY")
    set(archive "\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/lib${target}.a")
    install(CODE "execute_process(
      COMMAND \"${CMAKE_OBJCOPY}\" --remove-section=.llvm.lto --remove-section=.gnu.lto_* --wildcard \"${archive}\"
      COMMAND_ERROR_IS_FATAL ANY)")
  endif()
endfunction()

install(TARGETS weft EXPORT weft-targets)
foreach(layer IN LISTS weft_layers)
  install(TARGETS weft_${layer} EXPORT weft-targets)
  weft_install_plain_code(weft_${layer})
  string(REPLACE "_" "/" folder ${layer})  # store_mysql lies in store/mysql
  file(GLOB targets_within "${PROJECT_SOURCE_DIR}/weft/${folder}/*/CMakeLists.txt")
  list(TRANSFORM targets_within REPLACE "^.*(/[^/]+)/CMakeLists.txt$" "REGEX;\\1$;EXCLUDE")
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/weft/${folder}/"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/weft/${folder}"
    FILES_MATCHING PATTERN "*.hpp" PATTERN "*_test.hpp" EXCLUDE ${targets_within})
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
if(WEFT_TLS STREQUAL "aws-lc")
  install(FILES "${PROJECT_SOURCE_DIR}/.deps/aws-lc/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}/aws-lc")
endif()

if(NOT weft_glaze_is_packaged)
  get_property(weft_glaze_headers GLOBAL PROPERTY weft_glaze_headers)
  install(TARGETS weft_glaze EXPORT weft-targets)
  install(DIRECTORY "${weft_glaze_headers}/glaze"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/weft/third_party")
  # Its licence asks to go along; Debian's package and the release name the file differently.
  install(FILES "${weft_glaze_headers}/../copyright" "${weft_glaze_headers}/../LICENSE"
    DESTINATION "${CMAKE_INSTALL_DOCDIR}/glaze" OPTIONAL)
endif()

install(EXPORT weft-targets NAMESPACE weft:: DESTINATION "${weft_package_dir}")
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/weft-config.cmake.in" "${PROJECT_BINARY_DIR}/weft-config.cmake"
  INSTALL_DESTINATION "${weft_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/weft-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/weft-config.cmake" "${PROJECT_BINARY_DIR}/weft-config-version.cmake"
  DESTINATION "${weft_package_dir}")

# weft.pc is for builds without CMake. The archives stand from the top layer down, as the linker reads them.
function(weft_install_pkgconfig)
  cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR
    BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" OUTPUT_VARIABLE weft_pc_includedir)
  set(weft_pc_cflags "-std=c++23 -I\${includedir}")
  set(weft_pc_libs "-L\${libdir}")
  if(weft_uses_libcxx)
    string(APPEND weft_pc_cflags " -stdlib=libc++")
    string(APPEND weft_pc_libs " -stdlib=libc++")
  endif()
  foreach(definition IN LISTS weft_container_definitions)
    string(APPEND weft_pc_cflags " -D${definition}")
  endforeach()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    string(APPEND weft_pc_cflags " -foptimize-sibling-calls")
  endif()
  if(NOT weft_glaze_is_packaged)
    string(APPEND weft_pc_cflags " -isystem \${includedir}/weft/third_party")
  endif()
  get_property(archives GLOBAL PROPERTY weft_archives)
  list(REMOVE_ITEM archives weft_testing weft_store_mysql weft_realtime_guard)
  list(REVERSE archives)
  foreach(archive IN LISTS archives)
    string(APPEND weft_pc_libs " -l${archive}")
  endforeach()
  configure_file("${PROJECT_SOURCE_DIR}/cmake/weft.pc.in" "${PROJECT_BINARY_DIR}/weft.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/weft.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()
weft_install_pkgconfig()
