// The instruction sets that host kernels are compiled for. Every file that includes hwy/foreach_target.h
// includes this first, so that all tables of kernels have the same entries.
//
// Left out: SSSE3 and SSE4, which have no fused multiply-add and would be as slow as the scalar target, and
// the targets whose vectors have no compile-time size (SVE), of which no array can be made.
#pragma once

#if defined(__x86_64__) || defined(_M_X64) || defined(__i386__)
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)
#else
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#endif

// Before a loop whose few iterations index an array of vectors: unrolled, the array lives in registers.
#if defined(__clang__)
#define SEPCONV_UNROLL _Pragma("clang loop unroll(full)")
#else
#define SEPCONV_UNROLL _Pragma("GCC unroll 16")
#endif
