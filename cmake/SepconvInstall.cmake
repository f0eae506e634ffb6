# Install rules, the package that find_package(sepconv) finds, and the one that pkg-config does.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sepconv)

install(TARGETS ${SEPCONV_INSTALLED} EXPORT sepconv
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT sepconv NAMESPACE sepconv:: DESTINATION ${package_dir})
configure_package_config_file(cmake/sepconv-config.cmake.in ${PROJECT_BINARY_DIR}/sepconv-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sepconv-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sepconv-config.cmake ${PROJECT_BINARY_DIR}/sepconv-config-version.cmake DESTINATION ${package_dir})

install(CODE "set(SEPCONV_SOURCE_DIR \"${PROJECT_SOURCE_DIR}\")\nset(SEPCONV_INCLUDE_DIR \"${CMAKE_INSTALL_INCLUDEDIR}\")")
install(SCRIPT cmake/install_headers.cmake)

if(SEPCONV_SHARED)
  file(RELATIVE_PATH SEPCONV_PREFIX_FROM_PC /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  if(SEPCONV_HAS_CUDA)
    list(GET CUDAToolkit_LIBRARY_DIR 0 cuda_dir)
    set(SEPCONV_CUDA_LIBS "-L${cuda_dir} -lcudart_static -lrt")
  endif()
  configure_file(cmake/sepconv.pc.in ${PROJECT_BINARY_DIR}/sepconv.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/sepconv.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

install(FILES LICENSE README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} PATTERN CMakeLists.txt EXCLUDE)
