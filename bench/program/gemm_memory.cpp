// Memory of bench gemm: the check before any measurement; operands, result and expected result.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "core/byte_text.hpp"
#include "core/error.hpp"
#include "core/geometry.hpp"
#include "gemm.hpp"
#include "kernels/device/runtime.hpp"
#include "pipeline/machine/host_resources.hpp"
#include "pipeline/plan/plan.hpp"
#include "pipeline/report/report.hpp"

namespace sepconv::app {

namespace {

/// Multiply-adds that plain loops compute in about a second. They compute only some rows of a larger product.
constexpr double kMaxPlainOperations = 2e9;

ImageSpec in_f64(ImageSpec spec) {
  spec.type = PixelType::f64;
  return spec;
}

/// Splitmix64 of the index, scaled to [-1, 1).
double noise_at(std::uint64_t index) {
  std::uint64_t z = (index + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return static_cast<double>(static_cast<std::int64_t>(z ^ (z >> 31))) * 0x1p-63;
}

void fill_noise(const PixelView& matrix, std::uint64_t seed, Executor& executor) {
  visit_arithmetic(matrix.type == PixelType::f64 ? Arithmetic::f64 : Arithmetic::f32,
                   [&]<class T>(std::type_identity<T>) {
                     executor.for_each(matrix.extent.rows, [&](std::int64_t row, int) {
                       for (std::int64_t col = 0; col < matrix.extent.cols; ++col) {
                         const auto index = static_cast<std::uint64_t>(row * matrix.extent.cols + col);
                         // f32 rounds numbers just below 1 up to 1, which is harmless.
                         matrix.row<T>(row)[col] = static_cast<T>(noise_at(index + (seed << 56)));
                       }
                     });
                   });
}

/// The matrix in f64: itself, or a copy in `memory`.
ConstPixelView as_f64(const ConstPixelView& matrix, Buffer& memory, Executor& executor) {
  if (matrix.type == PixelType::f64) return matrix;
  const ImageSpec spec = in_f64({matrix.extent, 1, matrix.type});
  memory = Buffer(spec.bytes());
  const PixelView wide = dense_view(memory.data(), spec);
  executor.for_each(matrix.extent.rows, [&](std::int64_t row, int) {
    std::copy_n(matrix.row<float>(row), matrix.extent.cols, wide.row<double>(row));
  });
  return wide;
}

void copy_matrix(const PixelView& to, const ConstPixelView& from, const Stream& stream) {
  copy_pixels(from, to, stream.get());
  stream.synchronize();
}

/// gemm_device on copies in GPU memory.
void multiply_on_gpu(const GemmOp& op, const ConstPixelView& a, const ConstPixelView& b,
                     const PixelView& out) {
  const Stream stream;
  const auto memory_for = [](const ConstPixelView& view) {
    return Buffer(view.extent.rows * view.row_bytes(), device_resource());
  };
  const auto view_in = [](const Buffer& memory, const ConstPixelView& like) {
    return dense_view(memory.data(), {like.extent, 1, like.type});
  };
  const Buffer a_memory = memory_for(a), b_memory = memory_for(b), out_memory = memory_for(out);
  const PixelView device_out = view_in(out_memory, out);
  copy_matrix(view_in(a_memory, a), a, stream);
  copy_matrix(view_in(b_memory, b), b, stream);
  copy_matrix(device_out, out, stream);
  gemm_device(op, view_in(a_memory, a), view_in(b_memory, b), device_out, stream.get());
  copy_matrix(out, device_out, stream);
}

struct Need {
  double host = 0, gpu = 0;
};

/// Operands, result and added matrix, which has the size of the result. While the expected result is
/// computed, f64 copies of all of them are also needed.
Need need_of(const GemmBenchRequest& request, const GemmJob& job) {
  const auto bytes = [](const ImageSpec& spec) { return static_cast<double>(spec.bytes()); };
  const double stored = bytes(job.a()) + bytes(job.b()) + (job.adds() ? 2 : 1) * bytes(job.out());
  const double wide =
      bytes(in_f64(job.a())) + bytes(in_f64(job.b())) + (job.adds() ? 2 : 1) * bytes(in_f64(job.out()));
  double cache = 0;
  for (const int side : request.blocks)
    cache = std::max(cache, static_cast<double>(TileCache::device_bytes(job.shape, job.type, side)));
  return {stored + wide, std::max(wide, stored + cache)};
}

}  // namespace

void check_gemm_memory(const GemmBenchRequest& request) {
  for (const GemmJob& job : gemm_jobs(request)) {
    const Need need = need_of(request, job);
    const auto check = [&](double bytes, std::int64_t available, const std::string& where) {
      if (bytes <= static_cast<double>(available)) return;
      throw OutOfMemory(fmt::format("{} {} takes {} of {}, but {} are available; give a smaller --size",
                                    text_of(job.shape), name_of(job.type), format_bytes(bytes), where,
                                    format_bytes(static_cast<double>(available))));
    };
    if (request.on_gpu())
      check(need.gpu, device_memory_ceiling(request.options.devices, request.options),
            fmt::format("memory of cuda:{}", request.gpu()));
    check(need.host, free_memory_bytes(), "the host's memory");
  }
}

GemmOperands operands_in(const GemmJob& job, const Buffer& a, const Buffer& b, const Buffer& added,
                         std::int64_t rows) {
  GemmOperands operands{.a = dense_view(a.data(), job.a()),
                        .b = dense_view(b.data(), job.b()),
                        .trans_a = job.trans_a(),
                        .trans_b = job.trans_b(),
                        .added = {}};
  (operands.trans_a ? operands.a.extent.cols : operands.a.extent.rows) = rows;
  if (!job.adds()) return operands;
  operands.added = dense_view(added.data(), job.out());
  operands.added->extent.rows = rows;
  return operands;
}

GemmMatrices::GemmMatrices(const GemmBenchRequest& request, const GemmJob& job, Executor& executor)
    : job_(job) {
  const auto make = [&](const ImageSpec& spec) {
    return Buffer(spec.bytes(), request.on_gpu() ? pinned_resource() : page_resource());
  };
  a_ = make(job.a()), b_ = make(job.b()), out_ = make(job.out());
  fill_noise(dense_view(a_.data(), job.a()), 1, executor);
  fill_noise(dense_view(b_.data(), job.b()), 2, executor);
  if (!job.adds()) return;
  added_ = make(job.out());
  fill_noise(dense_view(added_.data(), job.out()), 3, executor);
}

GemmOperands GemmMatrices::operands(std::int64_t rows) const {
  return operands_in(job_, a_, b_, added_, rows);
}

PixelView GemmMatrices::out(std::int64_t rows) const {
  return dense_view(out_.data(), job_.out(), {rows, job_.shape.n});
}

std::string GemmMatrices::expect(const GemmBenchRequest& request, Executor& executor) {
  const std::string cublas = request.on_gpu() ? gemm_device_library() : "", openblas = gemm_host_library();
  const bool plain = cublas.empty() && openblas.empty();
  const GemmShape& shape = job_.shape;
  // Expects every step-th row, starting with the first, so that a part of the result contains some of them.
  const std::int64_t step =
      plain ? std::max<std::int64_t>(1, static_cast<std::int64_t>(shape.operations() / kMaxPlainOperations))
            : 1;
  const ImageSpec spec{{ceil_div(shape.m, step), shape.n}, 1, PixelType::f64};
  expected_ = Buffer(spec.bytes());
  rows_ = {dense_view(expected_.data(), spec), step};

  const GemmOperands all = operands(shape.m);
  const GemmOp op{.trans_a = all.trans_a, .trans_b = all.trans_b, .alpha = 1, .beta = all.added ? 1.0 : 0.0};
  const PixelView out = dense_view(expected_.data(), spec);
  Buffer a_memory, b_memory, added_memory;
  const ConstPixelView a = as_f64(all.a, a_memory, executor), b = as_f64(all.b, b_memory, executor);
  if (all.added) {
    const ConstPixelView added = as_f64(*all.added, added_memory, executor);
    for (std::int64_t row = 0; row < spec.extent.rows; ++row)
      std::copy_n(added.row<double>(row * step), shape.n, out.row<double>(row));
  }
  if (!cublas.empty()) {
    multiply_on_gpu(op, a, b, out);
    return fmt::format("{} in f64", cublas);
  }
  if (!openblas.empty()) {
    gemm_host(op, a, b, out, request.threads());
    return fmt::format("{} in f64", openblas);
  }
  executor.for_each(spec.extent.rows, [&](std::int64_t index, int) {
    const std::int64_t row = index * step;
    const Rect rect_a = all.trans_a ? Rect{0, row, shape.k, 1} : Rect{row, 0, 1, shape.k};
    gemm_reference(op, a.crop(rect_a), b, out.crop({index, 0, 1, shape.n}));
  });
  return "plain loops in f64, because OpenBLAS is not available";
}

void GemmMatrices::poison() const {
  std::memset(out_.data(), kPoison, static_cast<std::size_t>(out_.size()));
}

void GemmMatrices::check(const GemmBenchRow& row, Executor& executor) const {
  const std::optional<WrongElement> wrong =
      find_wrong_element(operands(row.rows), out(row.rows), rows_, executor);
  if (!wrong) return;
  const std::string device =
      row.threads > 0 ? fmt::format("on {} thread{}", row.threads, row.threads > 1 ? "s" : "") : "on the GPU";
  throw Error(fmt::format("variant '{}' {} of {}, {} {}: {}", row.name, device, name_of(job_.product),
                          text_of(job_.shape), name_of(job_.type), to_string(*wrong)));
}

}  // namespace sepconv::app
