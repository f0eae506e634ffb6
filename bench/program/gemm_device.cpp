// The GPU's variants of bench gemm, with and without the transfers.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "bench/conv/variants.hpp"
#include "core/geometry.hpp"
#include "gemm.hpp"
#include "kernels/device/runtime.hpp"

namespace sepconv::app {

namespace {

/// Rows of the first, short measurement; enough to occupy a GPU.
constexpr std::int64_t kFirstRows = 512;

constexpr GemmVariant kVariants[] = {GemmVariant::thread_per_element, GemmVariant::shared_tiles,
                                     GemmVariant::register_tiles};
constexpr ZeroCopyVariant kZeroCopyVariants[] = {ZeroCopyVariant::global, ZeroCopyVariant::shared};

/// Enqueues a variant. Operands are in host or GPU memory, as the variant requires; the result is in GPU
/// memory.
using Enqueue = std::function<void(const GemmOperands& operands, const PixelView& out, DeviceStream stream)>;

/// Operands and result in the GPU's memory, laid out as on the host.
class GemmDevice {
 public:
  explicit GemmDevice(const GemmJob& job)
      : job_(job),
        a_(job.a().bytes(), device_resource()),
        b_(job.b().bytes(), device_resource()),
        out_(job.out().bytes(), device_resource()) {
    if (job.adds()) added_ = Buffer(job.out().bytes(), device_resource());
  }

  GemmOperands operands(std::int64_t rows) const { return operands_in(job_, a_, b_, added_, rows); }
  PixelView out(std::int64_t rows) const { return dense_view(out_.data(), job_.out(), {rows, job_.shape.n}); }
  DeviceStream stream() const noexcept { return stream_.get(); }

  /// Copies all operands, in stream order.
  void upload(const GemmOperands& host) const {
    copy(a_, host.a);
    copy(b_, host.b);
    if (host.added) copy(added_, *host.added);
  }
  void download(const PixelView& host) const {
    copy_rows(host.data, 0, out_.data(), 0, out_.size(), 1, stream());
  }
  void poison() const { fill_device_memory(out_.data(), kPoison, out_.size(), stream()); }
  void synchronize() const { stream_.synchronize(); }

  /// Seconds of the kernels alone.
  double kernel_seconds(const std::function<void()>& enqueue) const {
    return clock_.seconds(stream_, enqueue);
  }

 private:
  void copy(const Buffer& to, const ConstPixelView& from) const {
    copy_rows(to.data(), 0, from.data, 0, to.size(), 1, stream());
  }

  GemmJob job_;
  Buffer a_, b_, added_, out_;
  KernelClock clock_;
  Stream stream_;
};

class DeviceVariants {
 public:
  DeviceVariants(const GemmBenchRequest& request, const GemmMatrices& matrices, const GemmJob& job,
                 Executor& all_threads, GemmBenchResult& result)
      : request_(request),
        matrices_(matrices),
        job_(job),
        all_threads_(all_threads),
        result_(result),
        device_(job) {
    device_.upload(matrices.operands(job.shape.m));
    device_.synchronize();
  }

  void measure_variants() {
    for (const GemmVariant variant : kVariants) {
      measure({.job = job_,
               .name = std::string(name_of(variant)),
               .kernel = gemm_facts(variant, job_.type, job_.trans_a(), job_.trans_b())},
              false, [&](const GemmOperands& operands, const PixelView& out, DeviceStream stream) {
                gemm_by_variant(variant, operands, out, stream);
              });
    }
  }

  /// The lab exercise contains these kernels for A B only.
  void measure_zero_copy() {
    for (const ZeroCopyVariant variant : kZeroCopyVariants) {
      for (const int side : request_.blocks) {
        std::optional<TileCache> cache;
        measure({.job = job_,
                 .name = std::string(name_of(variant)),
                 .block = side,
                 .kernel = gemm_facts(variant, job_.type, side)},
                true, [&](const GemmOperands& operands, const PixelView& out, DeviceStream stream) {
                  const GemmShape shape = check_gemm_operands(operands, out);
                  if (!cache || cache->shape() != shape) {
                    cache.reset();
                    cache.emplace(shape, out.type, side);
                  }
                  gemm_zero_copy(variant, operands, *cache, out, stream);
                });
      }
    }
  }

  void measure_cublas() {
    if (gemm_device_library().empty()) return;
    measure({.job = job_, .name = "cuBLAS"}, false,
            [](const GemmOperands& operands, const PixelView& out, DeviceStream stream) {
              const GemmOp op{.trans_a = operands.trans_a,
                              .trans_b = operands.trans_b,
                              .alpha = 1,
                              .beta = operands.added ? 1.0 : 0.0};
              if (operands.added) copy_pixels(*operands.added, out, stream);
              gemm_device(op, operands.a, operands.b, out, stream);
            });
  }

 private:
  /// `from_host`: the kernel reads its operands directly from host memory.
  void measure(GemmBenchRow row, bool from_host, const Enqueue& enqueue) {
    const auto enqueue_rows = [&](std::int64_t rows) {
      enqueue(from_host ? matrices_.operands(rows) : device_.operands(rows), device_.out(rows),
              device_.stream());
    };
    device_.poison();
    time_rows(
        request_, kFirstRows,
        [&](std::int64_t rows) { return device_.kernel_seconds([&] { enqueue_rows(rows); }); }, row);
    device_.download(matrices_.out(job_.shape.m));
    device_.synchronize();
    matrices_.check(row, all_threads_);
    if (row.whole()) row.with_transfers = time_with_transfers(row.runs, from_host, enqueue_rows);
    result_.rows.push_back(std::move(row));
  }

  /// Seconds until the whole result has arrived on the host.
  TrimmedMean time_with_transfers(int runs, bool from_host,
                                  const std::function<void(std::int64_t rows)>& enqueue_rows) const {
    const auto work = [&] {
      if (!from_host) device_.upload(matrices_.operands(job_.shape.m));
      enqueue_rows(job_.shape.m);
      device_.download(matrices_.out(job_.shape.m));
      device_.synchronize();
    };
    work();
    return time_trimmed(runs, request_.options.stop, [&] { return seconds_of(work); });
  }

  const GemmBenchRequest& request_;
  const GemmMatrices& matrices_;
  GemmJob job_;
  Executor& all_threads_;
  GemmBenchResult& result_;
  GemmDevice device_;
};

}  // namespace

void bench_gemm_on_gpu(const GemmBenchRequest& request, const GemmMatrices& matrices, const GemmJob& job,
                       Executor& all_threads, GemmBenchResult& result) {
  DeviceVariants variants(request, matrices, job, all_threads, result);
  if (job.product == GemmProduct::ab) variants.measure_zero_copy();
  variants.measure_variants();
  variants.measure_cublas();
}

}  // namespace sepconv::app
