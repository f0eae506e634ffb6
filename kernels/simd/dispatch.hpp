// The instruction sets that host kernels are compiled for. Every file that includes hwy/foreach_target.h
// includes this first, so that all tables of kernels have the same entries.
//
// Disabled: SSSE3 and SSE4, which have no fused multiply-add and would be as slow as the scalar target; and
// SVE, whose vectors have no compile-time size and cannot be array elements.
#pragma once

#if defined(__x86_64__) || defined(_M_X64) || defined(__i386__)
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#else
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif

// Unrolls a short loop over an array of vectors, so that the array stays in registers.
#if defined(__clang__)
#define SEPCONV_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SEPCONV_UNROLL _Pragma("GCC unroll 16")
#endif
