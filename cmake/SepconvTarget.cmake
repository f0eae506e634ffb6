# sepconv_library(NAME sources... ): a folder as the library sepconv_NAME, known as sepconv::NAME. An include names a path of the tree, and the same
# path installed: "sepconv/core/geometry.hpp".

function(sepconv_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  # The same bits everywhere: a multiplication and an addition become one operation only where the source says fma.
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off;-Wall;-Wextra;-Wshadow;-Wnon-virtual-dtor;-Wpedantic>
    $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20;-fmad=false;-diag-suppress=554;-Xcompiler=-ffp-contract=off,-Wall,-Wextra>
    $<$<AND:$<BOOL:${SEPCONV_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>
    $<$<AND:$<BOOL:${SEPCONV_WERROR}>,$<COMPILE_LANGUAGE:CUDA>>:-Werror=all-warnings>)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  if(SEPCONV_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${SEPCONV_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
      -Wno-maybe-uninitialized)  # GCC sees ghosts in its own headers when they are instrumented
    target_link_options(${target} PUBLIC -fsanitize=${SEPCONV_SANITIZE})
  endif()
endfunction()

function(sepconv_library name)
  add_library(sepconv_${name} STATIC ${ARGN})
  add_library(sepconv::${name} ALIAS sepconv_${name})
  target_include_directories(sepconv_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  sepconv_options(sepconv_${name})
endfunction()

# sepconv_each_alone(sources...): what a build that joins sources (CMAKE_UNITY_BUILD, which most presets switch on) compiles by itself: files that
# Highway includes once more for every instruction set, and CUDA's.
function(sepconv_each_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
