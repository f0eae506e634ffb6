# sepconv_library(NAME sources... ): a folder as the library sepconv_NAME, known as sepconv::NAME. An include names a path of the tree,
# "core/geometry.hpp"; installed it is <sepconv/core/geometry.hpp> (install_headers.cmake).

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

# Tests are not the code that is tested: optimizing them as that is three tenths of the time that they take to compile, and looking for undefined
# behaviour in them would be two fifths.
function(sepconv_test_options target)
  sepconv_options(${target})
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-O1>)
  if(SEPCONV_SANITIZE MATCHES "undefined")
    target_compile_options(${target} PRIVATE -fno-sanitize=undefined)
  endif()
endfunction()

function(sepconv_library name)
  add_library(sepconv_${name} STATIC ${ARGN})
  add_library(sepconv::${name} ALIAS sepconv_${name})
  target_include_directories(sepconv_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  sepconv_options(sepconv_${name})
  cmake_language(EVAL CODE "cmake_language(DEFER CALL sepconv_join_folders sepconv_${name})")
endfunction()

# What a file costs is mostly its headers. Builds with CMAKE_UNITY_BUILD, which most presets switch on, compile the C++ of a folder as one file.
function(sepconv_join_folders target)
  get_target_property(sources ${target} SOURCES)
  foreach(source ${sources})
    get_filename_component(folder ${source} DIRECTORY)
    sepconv_join(folder_${folder} ${source})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
endfunction()

# sepconv_join(GROUP sources...): C++ files that are compiled as one, except those that Highway includes once more for every instruction set.
function(sepconv_join group)
  foreach(source ${ARGN})
    file(STRINGS ${source} for_every_target REGEX "HWY_TARGET_INCLUDE")
    if(source MATCHES "\\.cpp$" AND NOT for_every_target)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
endfunction()
