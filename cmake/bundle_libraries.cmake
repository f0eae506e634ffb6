# At install time: copies the shared libraries that SEPCONV_BUNDLED_FILES need to lib/, under the names that the loader asks for. Plain
# files, no links: the tree stays whole on media that know none. glibc and the driver belong to the machine that the bundle runs on.
set(lib ${CMAKE_INSTALL_PREFIX}/lib)
file(GET_RUNTIME_DEPENDENCIES
  EXECUTABLES ${SEPCONV_BUNDLED_FILES}
  RESOLVED_DEPENDENCIES_VAR found
  UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES "^lib(c|m|dl|pthread|rt|util|resolv|mvec|anl|nsl|nss_.*)\\.so\\.[0-9]+$" "^ld-linux.*" "^linux-vdso.*" "^libcuda\\.so.*"
  POST_EXCLUDE_REGEXES "^${lib}/")
if(missing)
  message(FATAL_ERROR "The bundle would lack ${missing}: install what provides them, or build without them.")
endif()
file(MAKE_DIRECTORY ${lib})
foreach(path ${found})
  get_filename_component(name ${path} NAME)
  file(REAL_PATH ${path} real)
  file(COPY_FILE ${real} ${lib}/${name} ONLY_IF_DIFFERENT)
endforeach()
