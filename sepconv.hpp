// The one header for users of the library.
#pragma once

#include "sepconv/core/error.hpp"
#include "sepconv/io/files.hpp"
#include "sepconv/io/pattern.hpp"
#include "sepconv/io/rows.hpp"
#include "sepconv/kernels/cuda/buffer_pool.hpp"
#include "sepconv/pipeline/chain.hpp"
#include "sepconv/pipeline/device_filter.hpp"
#include "sepconv/pipeline/gemm.hpp"
#include "sepconv/pipeline/measure.hpp"
#include "sepconv/pipeline/output.hpp"
#include "sepconv/pipeline/report.hpp"
#include "sepconv/pipeline/run.hpp"
