# At install time: copies the headers that users include, and those that these include, from the tree at SEPCONV_SOURCE_DIR. Others stay inside.
cmake_minimum_required(VERSION 3.25)
file(GLOB wanted RELATIVE ${SEPCONV_SOURCE_DIR} ${SEPCONV_SOURCE_DIR}/sepconv/interop/*.hpp)
list(APPEND wanted sepconv/sepconv.hpp
     sepconv/pipeline/stages/keys.hpp  # for stages of one's own
     sepconv/kernels/cuda/backend.hpp)  # and backends
set(headers)
while(wanted)
  list(POP_FRONT wanted header)
  if(header IN_LIST headers)
    continue()
  endif()
  list(APPEND headers ${header})
  file(STRINGS ${SEPCONV_SOURCE_DIR}/${header} includes REGEX "^#include \"")
  list(TRANSFORM includes REPLACE "^#include \"([^\"]+)\".*" "\\1")
  list(APPEND wanted ${includes})
endwhile()
foreach(header ${headers})
  get_filename_component(folder ${header} DIRECTORY)
  file(INSTALL ${SEPCONV_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_PREFIX}/${SEPCONV_INCLUDE_DIR}/${folder})
endforeach()
