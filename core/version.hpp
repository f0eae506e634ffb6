// The version of these headers: below 1.0 a new minor version may change the interface.
#pragma once

#if __cplusplus < 202002L
#error "sepconv needs C++20: compile with -std=c++20"
#endif

#define SEPCONV_VERSION_MAJOR 0
#define SEPCONV_VERSION_MINOR 3
#define SEPCONV_VERSION_PATCH 0
#define SEPCONV_VERSION_STRING "0.3.0"
/// Increases with every version: SEPCONV_VERSION >= 300 is 0.3.0 and later.
#define SEPCONV_VERSION (SEPCONV_VERSION_MAJOR * 10000 + SEPCONV_VERSION_MINOR * 100 + SEPCONV_VERSION_PATCH)
