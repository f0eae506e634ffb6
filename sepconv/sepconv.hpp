// The one header for users of the library.
#pragma once

#include "sepconv/core/error.hpp"
#include "sepconv/io/formats.hpp"
#include "sepconv/io/memory_image.hpp"
#include "sepconv/io/pattern.hpp"
#include "sepconv/io/rows.hpp"
#include "sepconv/kernels/cuda/buffer_pool.hpp"
#include "sepconv/pipeline/chain/chain.hpp"
#include "sepconv/pipeline/gemm/gemm.hpp"
#include "sepconv/pipeline/measure/measure.hpp"
#include "sepconv/pipeline/plan/output.hpp"
#include "sepconv/pipeline/plan/plan_json.hpp"
#include "sepconv/pipeline/report/report.hpp"
#include "sepconv/pipeline/run/apply.hpp"
#include "sepconv/pipeline/run/device_filter.hpp"
#include "sepconv/pipeline/run/run.hpp"
#include "sepconv/pipeline/stages/stages.hpp"
