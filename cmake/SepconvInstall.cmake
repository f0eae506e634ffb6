# Install rules and the package that find_package(sepconv) finds.
include(CMakePackageConfigHelpers)

install(TARGETS sepconv_core sepconv_io sepconv_kernels sepconv_pipeline sepconv_all EXPORT sepconv
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT sepconv NAMESPACE sepconv:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sepconv)
install(DIRECTORY sepconv DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
configure_package_config_file(cmake/sepconv-config.cmake.in ${PROJECT_BINARY_DIR}/sepconv-config.cmake
                              INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sepconv)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/sepconv-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sepconv-config.cmake ${PROJECT_BINARY_DIR}/sepconv-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sepconv)
