// The GPU's variants of bench transpose, and the copies to and from the GPU.
#include <algorithm>

#include "bench/conv/variants.hpp"
#include "bench/transpose/variants.hpp"
#include "kernels/device/runtime.hpp"
#include "pipeline/machine/thread_pool.hpp"
#include "transpose.hpp"

namespace sepconv::app {

namespace {

/// Side of a matrix that one GPU thread transposes in well below a second. Of larger matrices it transposes a
/// corner.
constexpr std::int64_t kOneThreadSide = 512;

constexpr TransposeVariant kMatrixVariants[] = {
    TransposeVariant::one_thread,         TransposeVariant::thread_per_row,
    TransposeVariant::thread_per_element, TransposeVariant::copy,
    TransposeVariant::copy_shared,        TransposeVariant::tiled_32,
    TransposeVariant::tiled_32_padded,    TransposeVariant::tiled_16,
    TransposeVariant::tiled_16_padded,    TransposeVariant::coalesced,
    TransposeVariant::coalesced_padded};
constexpr PermuteVariant kTensorVariants[] = {PermuteVariant::copy,          PermuteVariant::copy_shared,
                                              PermuteVariant::simple,        PermuteVariant::simple_template,
                                              PermuteVariant::shared,        PermuteVariant::shared_template,
                                              PermuteVariant::conflict_free, PermuteVariant::tile_2d_32,
                                              PermuteVariant::tile_2d_8};

using Enqueue = std::function<void(const std::byte* in, std::byte* out, DeviceStream stream)>;

/// Source and result in the GPU's memory.
class DevicePair {
 public:
  explicit DevicePair(std::int64_t bytes)
      : bytes_(bytes), in_(bytes, device_resource()), out_(bytes, device_resource()) {}

  void upload(const TransposeHost& host) const { copy(in_.data(), host.from()); }
  void download(const TransposeHost& host) const { copy(host.to(), out_.data()); }
  /// Overwrites the result, so that unwritten elements are detected.
  void poison() const {
    fill_device_memory(out_.data(), 0xA5, bytes_, stream_.get());
    stream_.synchronize();
  }

  /// Seconds of the kernels alone.
  double kernel_seconds(const Enqueue& enqueue) const {
    return clock_.seconds(stream_, [&] { enqueue(in_.data(), out_.data(), stream_.get()); });
  }

 private:
  void copy(std::byte* to, const std::byte* from) const {
    copy_rows(to, bytes_, from, bytes_, bytes_, 1, stream_.get());
    stream_.synchronize();
  }

  std::int64_t bytes_;
  Buffer in_, out_;
  KernelClock clock_;
  Stream stream_;
};

class DeviceVariants {
 public:
  DeviceVariants(const TransposeRequest& request, double copy_limit, const TransposeHost& host,
                 const DevicePair& device, Executor& executor, TransposeResult& result)
      : request_(request),
        copy_limit_(copy_limit),
        host_(host),
        device_(device),
        executor_(executor),
        result_(result) {}

  void measure(const TransposeJob& job) {
    job.matrix ? measure_matrix(job) : measure_tensor(job);
    measure_row({.job = job, .name = kOurs, .part = job.extent},
                [&](const std::byte* in, std::byte* out, DeviceStream stream) {
                  permute_device(job.extent, job.permutation, job.element_bytes(), in, out, stream);
                });
    result_.copies.push_back(
        {job, time_copy([&] { device_.upload(host_); }), time_copy([&] { device_.download(host_); })});
  }

 private:
  void measure_matrix(const TransposeJob& job) {
    for (const TransposeVariant variant : kMatrixVariants) {
      TransposeShape shape{1, job.extent[1], job.extent[2], job.element_bytes()};
      if (variant == TransposeVariant::one_thread) {
        shape.rows = std::min(shape.rows, kOneThreadSide), shape.cols = std::min(shape.cols, kOneThreadSide);
      }
      const std::int64_t in_pitch = job.extent[2] * job.element_bytes();
      const std::int64_t out_pitch = only_copies(variant) ? in_pitch : job.extent[1] * job.element_bytes();
      measure_row({.job = job,
                   .name = std::string(name_of(variant)),
                   .only_copies = only_copies(variant),
                   .part = {1, shape.rows, shape.cols}},
                  [&](const std::byte* in, std::byte* out, DeviceStream stream) {
                    transpose_by_variant(variant, shape, {in, in_pitch, 0}, {out, out_pitch, 0}, stream);
                  });
    }
  }

  void measure_tensor(const TransposeJob& job) {
    for (const PermuteVariant variant : kTensorVariants) {
      if (!can_permute(variant, job.permutation)) continue;
      const TileExtent tile = permute_tile(variant, job.permutation, job.element_bytes());
      measure_row({.job = job,
                   .name = std::string(name_of(variant)),
                   .only_copies = only_copies(variant),
                   .part = job.extent},
                  [&](const std::byte* in, std::byte* out, DeviceStream stream) {
                    permute_by_variant(variant, tile, job.extent, job.permutation, job.element_bytes(), in,
                                       out, stream);
                  });
    }
  }

  void measure_row(TransposeRow row, const Enqueue& enqueue) {
    device_.poison();
    time_row(
        request_, [&] { return device_.kernel_seconds(enqueue); }, row);
    device_.download(host_);
    host_.check(row, executor_);
    row.copy_limit = copy_limit_;
    result_.rows.push_back(std::move(row));
  }

  TrimmedMean time_copy(const std::function<void()>& copy) const {
    copy();
    return time_trimmed(request_.runs, request_.options.stop, [&] { return seconds_of(copy); });
  }

  const TransposeRequest& request_;
  double copy_limit_;
  const TransposeHost& host_;
  const DevicePair& device_;
  Executor& executor_;
  TransposeResult& result_;
};

}  // namespace

void bench_jobs_on_gpu(const TransposeRequest& request, double copy_limit,
                       const std::vector<TransposeJob>& jobs, TransposeResult& result) {
  ThreadPool all_threads(request.threads(), request.options.stop);
  const std::int64_t bytes = jobs.front().bytes();
  TransposeHost host(request, bytes, all_threads);
  const DevicePair device(bytes);
  device.upload(host);
  DeviceVariants variants(request, copy_limit, host, device, all_threads, result);
  for (const TransposeJob& job : jobs) {
    host.expect(job, all_threads);
    if (request.cpu) bench_on_host(request, job, host, result);
    variants.measure(job);
  }
}

}  // namespace sepconv::app
