# SEPCONV_HAS_CUDA: whether the CUDA engine is built. CUDA is then an enabled language and CUDAToolkit is found.
set(SEPCONV_HAS_CUDA OFF)
if(SEPCONV_CUDA)  # AUTO counts as true
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)  # where NVIDIA's packages put it, often outside PATH
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      # Machine code for data centre GPUs, and code that the driver compiles at the first start for all others from Turing on.
      set(CMAKE_CUDA_ARCHITECTURES 75-virtual 80-real 90-real CACHE STRING "GPU architectures to build for")
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit 12.4 REQUIRED)
    set(SEPCONV_HAS_CUDA ON)
    if(SEPCONV_COMPRESS_CUDA AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
      string(APPEND CMAKE_CUDA_FLAGS " --compress-mode=size")
    endif()
  elseif(NOT SEPCONV_CUDA STREQUAL "AUTO")
    message(FATAL_ERROR "SEPCONV_CUDA is ${SEPCONV_CUDA} but no nvcc was found: set CMAKE_CUDA_COMPILER, or SEPCONV_CUDA=OFF")
  endif()
endif()
message(STATUS "CUDA engine: ${SEPCONV_HAS_CUDA}")
