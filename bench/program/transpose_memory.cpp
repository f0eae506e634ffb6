// Checks the memory of bench transpose before any measurement.
#include <fmt/format.h>

#include <algorithm>

#include "bench/transpose/variants.hpp"
#include "core/byte_text.hpp"
#include "core/error.hpp"
#include "pipeline/machine/host_resources.hpp"
#include "pipeline/report/report.hpp"
#include "transpose.hpp"

namespace sepconv::app {

namespace {

/// Throws OutOfMemory if the bytes of a buffer overflow an integer.
void check_overflow(const TransposeJob& job, const char* option) {
  std::int64_t bytes = job.element_bytes();
  for (const std::int64_t length : job.extent) {
    if (__builtin_mul_overflow(bytes, length, &bytes)) {
      throw OutOfMemory(fmt::format("{} x {} x {} elements are more than any memory holds; give a smaller {}",
                                    job.extent[0], job.extent[1], job.extent[2], option));
    }
  }
}

/// Checks source and result on the GPU, and source, result and expected result on the host.
void check_need(const TransposeRequest& request, const TransposeJob& job, const char* option) {
  check_overflow(job, option);
  if (request.on_gpu() && job.bytes() / job.element_bytes() > kMaxVariantElements) {
    throw InvalidArgument(
        fmt::format("{} are more than the {} elements that the kernels count; give a smaller {}",
                    size_text(job.matrix, job.extent), kMaxVariantElements, option));
  }
  const auto check = [&](std::int64_t buffers, std::int64_t available, const std::string& where) {
    if (job.bytes() <= available / buffers) return;
    throw OutOfMemory(fmt::format(
        "{} {} takes {} of {}, but {} are available; give a smaller {}", size_text(job.matrix, job.extent),
        name_of(job.type), format_bytes(static_cast<double>(buffers) * static_cast<double>(job.bytes())),
        where, format_bytes(static_cast<double>(available)), option));
  };
  if (request.on_gpu()) {
    check(2, device_memory_ceiling(request.options.devices, request.options),
          fmt::format("memory of cuda:{}", request.gpu()));
  }
  check(3, free_memory_bytes(), "the host's memory");
}

}  // namespace

void check_transpose_memory(const TransposeRequest& request) {
  for (const PixelType type : request.types) {
    if (request.matrix) check_need(request, matrix_job(request, type), "--size, or --no-2d");
    if (request.permute) check_need(request, tensor_jobs(request, type).front(), "--size3, or --no-3d");
  }
}

}  // namespace sepconv::app
