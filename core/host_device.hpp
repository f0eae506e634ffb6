// SEPCONV_HOST_DEVICE marks functions that kernels call, too. Empty for a compiler without CUDA.
#pragma once

#ifdef __CUDACC__
#define SEPCONV_HOST_DEVICE __host__ __device__
#else
#define SEPCONV_HOST_DEVICE
#endif
