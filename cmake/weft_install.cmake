# `make install`, find_package(weft), and weft::weft, which is every layer but weft::testing.
include(CMakePackageConfigHelpers)

get_property(weft_layers GLOBAL PROPERTY weft_layers)
set(weft_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/weft")

set(everything ${weft_layers})
list(REMOVE_ITEM everything testing)
weft_layer_targets(everything ${everything})
add_library(weft INTERFACE)
add_library(weft::weft ALIAS weft)
target_link_libraries(weft INTERFACE ${everything})
install(TARGETS weft EXPORT weft-targets)

foreach(layer IN LISTS weft_layers)
  install(TARGETS weft_${layer} EXPORT weft-targets)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/weft/${layer}"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/weft" FILES_MATCHING PATTERN "*.hpp" PATTERN "*_test.hpp" EXCLUDE)
endforeach()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

get_property(weft_glaze_is_packaged GLOBAL PROPERTY weft_glaze_is_packaged)
install(EXPORT weft-targets NAMESPACE weft:: DESTINATION "${weft_package_dir}")
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/weft-config.cmake.in" "${PROJECT_BINARY_DIR}/weft-config.cmake"
  INSTALL_DESTINATION "${weft_package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/weft-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/weft-config.cmake" "${PROJECT_BINARY_DIR}/weft-config-version.cmake"
  DESTINATION "${weft_package_dir}")
