# The component "bundle": a tree that runs from any folder of any recent x86-64 Linux, made by
#
#   cmake --install BUILD --component bundle --strip --prefix FOLDER        (./dev bundle does it)
#
#   bin/    sepconv and sepconv-bench, which look for libraries in ../lib before anywhere else
#   lib/    every shared library it needs but glibc's own
#   licenses/  the licence of each of these, and of what is compiled in
#
# The component "bundle_tests" adds the test programs, the examples and the scripts of tests/gpu, all in tests/. No other install touches either component.

# sepconv_bundle_program(TARGET COMPONENT FOLDER)
function(sepconv_bundle_program target component folder)
  # An RPATH, not a RUNPATH: ../lib also holds for the libraries that libraries need, so that these can stay as the distribution made them.
  target_link_options(${target} PRIVATE LINKER:--disable-new-dtags)
  install(TARGETS ${target} DESTINATION ${folder} COMPONENT ${component} EXCLUDE_FROM_ALL)
  sepconv_bundle_libraries(${component} $<TARGET_FILE:${target}>)
endfunction()

# sepconv_bundle_libraries(COMPONENT FILE...): copies what these built files need, found where the linker's cache has it now.
function(sepconv_bundle_libraries component)
  install(CODE "set(SEPCONV_BUNDLED_FILES \"${ARGN}\")" COMPONENT ${component} EXCLUDE_FROM_ALL)
  install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/bundle_libraries.cmake COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

set(bundle_gpus "none: built without a CUDA toolkit")
if(SEPCONV_HAS_CUDA)
  string(REPLACE ";" " " bundle_gpus "${CMAKE_CUDA_ARCHITECTURES}, toolkit ${CUDAToolkit_VERSION}")
endif()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/BUNDLE @ONLY CONTENT
"sepconv @PROJECT_VERSION@, a folder that can be moved and copied as a whole. Start bin/sepconv.
Needs: Linux on @CMAKE_SYSTEM_PROCESSOR@ with a glibc no older than that of the machine it was made on; for a GPU NVIDIA's driver.
GPU architectures: @bundle_gpus@
lib/ holds copies of libraries of the system it was made on, and a libtiff without JBIG; licenses/ has the licence of each, and of what is compiled in.
")
install(FILES LICENSE README.md ${PROJECT_BINARY_DIR}/BUNDLE DESTINATION . COMPONENT bundle EXCLUDE_FROM_ALL)
foreach(program sepconv sepconv-bench)
  if(TARGET ${program})
    sepconv_bundle_program(${program} bundle bin)
  endif()
endforeach()
install(CODE "set(SEPCONV_THIRD_PARTY ${PROJECT_SOURCE_DIR}/cmake/third_party.py)" COMPONENT bundle EXCLUDE_FROM_ALL)
install(SCRIPT cmake/bundle_licenses.cmake COMPONENT bundle EXCLUDE_FROM_ALL)

get_property(test_programs GLOBAL PROPERTY SEPCONV_TEST_PROGRAMS)
if(SEPCONV_EXAMPLES)
  get_property(examples DIRECTORY docs/examples PROPERTY BUILDSYSTEM_TARGETS)
endif()
foreach(program ${test_programs} ${examples})
  get_target_property(libraries ${program} LINK_LIBRARIES)
  if(NOT "opencv_peer" IN_LIST libraries)  # OpenCV and what it needs are ten times as large as all the rest
    sepconv_bundle_program(${program} bundle_tests tests)
  endif()
endforeach()
if(SEPCONV_TESTS)
  file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/tests/gpu/*.sh ${CMAKE_CURRENT_SOURCE_DIR}/tests/gpu/*.py)
  install(PROGRAMS ${scripts} DESTINATION tests/gpu COMPONENT bundle_tests EXCLUDE_FROM_ALL)
  install(DIRECTORY tests/peers/gpu/ DESTINATION tests/peers/gpu COMPONENT bundle_tests EXCLUDE_FROM_ALL
          USE_SOURCE_PERMISSIONS FILES_MATCHING PATTERN "*.py")
endif()
