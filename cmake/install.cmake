# What `cmake --install` lays down: the public headers, libcauseway, the command, and what find_package and pkg-config
# need to know. Everything is relative to the prefix, so the tree can be moved.
if(NOT CAUSEWAY_INSTALL)
  return()
endif()
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/causeway)

install(DIRECTORY include/causeway DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
# Each kind of library has its own export file: an installation with one of them is complete.
install(TARGETS causeway EXPORT causeway_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT causeway_static NAMESPACE causeway:: FILE causeway-static-targets.cmake DESTINATION ${package_dir})
if(CAUSEWAY_BUILD_SHARED)
  install(TARGETS causeway_shared EXPORT causeway_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT causeway_shared NAMESPACE causeway:: FILE causeway-shared-targets.cmake DESTINATION ${package_dir})
endif()
if(TARGET causeway_cli)
  install(TARGETS causeway_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

configure_package_config_file(cmake/causeway-config.cmake.in causeway-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(causeway-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/causeway-config.cmake ${CMAKE_CURRENT_BINARY_DIR}/causeway-config-version.cmake
        cmake/FindPCRE2.cmake cmake/Findutf8proc.cmake DESTINATION ${package_dir})

# The prefix as seen from the .pc file, so that it stays right when the tree is moved.
file(RELATIVE_PATH CAUSEWAY_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
# What the library itself links concerns its users only where they link it statically.
set(CAUSEWAY_PC_STATIC_ONLY ".private")
if(NOT CAUSEWAY_BUILD_SHARED)
  set(CAUSEWAY_PC_STATIC_ONLY "")
endif()
configure_file(cmake/causeway.pc.in causeway.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/causeway.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
