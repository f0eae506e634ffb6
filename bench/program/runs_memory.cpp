// Measures runs from memory to memory, and as their limit the rate of the bus, or on a CPU of memory.
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/memory.hpp"
#include "io/memory_image.hpp"
#include "io/test_pattern.hpp"
#include "kernels/device/runtime.hpp"
#include "pipeline/machine/thread_pool.hpp"
#include "runs.hpp"

namespace sepconv::app {

namespace {

constexpr std::int64_t kTransferBytes = std::int64_t{256} << 20;  // per transfer
constexpr std::int64_t kHostPieceBytes = std::int64_t{1} << 20;   // per copy of one thread

/// One image, allocated once for all runs.
struct HostImage {
  HostImage(const ImageSpec& spec, bool page_locked)
      : memory(spec.bytes(), page_locked ? pinned_resource() : page_resource()),
        view(dense_view(memory.data(), spec)) {}
  Buffer memory;
  PixelView view;
};

/// Simultaneously uploads one buffer and downloads another of the same size, with asynchronous copies of
/// large pieces. Several GPUs copy one part each.
class DuplexCopy {
 public:
  DuplexCopy(const std::vector<int>& devices, const Buffer& from, const Buffer& to) : from_(from), to_(to) {
    part_bytes_ = ceil_div(from.size(), static_cast<std::int64_t>(devices.size()));
    for (const int device : devices) {
      const DeviceScope scope(device);
      const std::int64_t piece = std::min(part_bytes_, kTransferBytes);
      lanes_.push_back(
          {device, Stream(), Stream(), Buffer(piece, device_resource()), Buffer(piece, device_resource())});
    }
  }

  void run() const {
    for (std::size_t i = 0; i < lanes_.size(); ++i)
      enqueue(lanes_[i], static_cast<std::int64_t>(i) * part_bytes_);
    for (const DevicePipeline& lane : lanes_) lane.up.synchronize(), lane.down.synchronize();
  }

 private:
  struct DevicePipeline {
    int device;
    Stream up, down;
    Buffer uploaded, downloaded;
  };

  void enqueue(const DevicePipeline& lane, std::int64_t begin) const {
    const DeviceScope scope(lane.device);
    const std::int64_t end = std::min(begin + part_bytes_, from_.size());
    for (std::int64_t offset = begin; offset < end; offset += kTransferBytes) {
      const std::int64_t bytes = std::min(kTransferBytes, end - offset);
      copy_rows(lane.uploaded.data(), bytes, from_.data() + offset, bytes, bytes, 1, lane.up.get());
      copy_rows(to_.data() + offset, bytes, lane.downloaded.data(), bytes, bytes, 1, lane.down.get());
    }
  }

  const Buffer& from_;
  const Buffer& to_;
  std::int64_t part_bytes_ = 0;
  std::vector<DevicePipeline> lanes_;
};

Timing duplex_limit(const RunsRequest& request, const HostImage& from, const HostImage& to) {
  const DuplexCopy copy(request.options.devices, from.memory, to.memory);
  return time_runs(request.runs, [&] { return seconds_of([&] { copy.run(); }); });
}

Timing copy_limit(const RunsRequest& request, const HostImage& from, const HostImage& to) {
  ThreadPool pool(threads_of(request.options), request.options.stop);
  const std::int64_t size = from.memory.size();
  const auto copy = [&] {
    pool.for_each(ceil_div(size, kHostPieceBytes), [&](std::int64_t piece, int) {
      const std::int64_t offset = piece * kHostPieceBytes;
      std::memcpy(to.memory.data() + offset, from.memory.data() + offset,
                  static_cast<std::size_t>(std::min(kHostPieceBytes, size - offset)));
    });
  };
  return time_runs(request.runs, [&] { return seconds_of(copy); });
}

void fill(const RunsRequest& request, const HostImage& image) {
  RunOptions options;  // on the CPU
  options.threads = request.options.threads, options.stop = request.options.stop;
  run(*make_pattern_reader(request.spec, Pattern::noise, 1), *make_memory_writer(image.view), Chain(),
      options);
}

}  // namespace

RunsResult bench_memory(const RunsRequest& request) {
  const bool gpu = !request.options.devices.empty();
  const HostMemory kind = gpu ? HostMemory::page_locked : HostMemory::pageable;
  const HostImage from(request.spec, gpu);
  const HostImage to(result_spec(request), gpu);
  fill(request, from);
  RunsResult result;
  result.limit =
      gpu ? "upload and download of the same bytes at once" : "copy of the same bytes by as many threads";

  const auto source = make_memory_reader(from.view, kind);
  for (const std::int64_t radius : request.radii) {
    const Chain chain = chain_of(request, radius);
    // Measured again for every radius, because the rates of a machine drift.
    const Timing limit = gpu ? duplex_limit(request, from, to) : copy_limit(request, from, to);
    for (const int slots : request.slots) {
      poison_windows(to.view);
      result.rows.push_back(time_runs(
          request, radius, slots,
          [&](const RunOptions& options) {
            return run(*source, *make_memory_writer(to.view, kind), chain, options);
          },
          result.device));
      result.rows.back().kind = "memory";
      result.rows.back().limit_seconds = limit.median;
      check_windows(chain, *source, *make_memory_reader(to.view));
    }
  }
  return result;
}

}  // namespace sepconv::app
