// Host memory of bench transpose, the check of results, and the host's variants.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "bench/transpose/variants.hpp"
#include "core/count_text.hpp"
#include "core/error.hpp"
#include "kernels/device/runtime.hpp"
#include "pipeline/machine/thread_pool.hpp"
#include "transpose.hpp"

namespace sepconv::app {

namespace {

/// Splitmix64 of the index: all words differ, so every misplaced element is detected.
std::uint64_t noise_at(std::int64_t word) {
  std::uint64_t z = (static_cast<std::uint64_t>(word) + 1) * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

void fill_noise(std::byte* memory, std::int64_t bytes, Executor& executor) {
  for_each_part(bytes, executor, [&](std::int64_t first, std::int64_t last) {
    constexpr std::int64_t kWord = 8;
    for (std::int64_t at = first; at < last; at += kWord) {
      const std::uint64_t word = noise_at(at / kWord);
      std::memcpy(memory + at, &word, static_cast<std::size_t>(std::min(kWord, last - at)));
    }
  });
}

/// Numbers of threads to measure: 1, 2, 4, ... and all; only all if a GPU is measured.
std::vector<int> thread_counts(const TransposeRequest& request) {
  const int max_threads = request.threads();
  std::vector<int> counts;
  for (int threads = 1; threads < max_threads && !request.on_gpu(); threads *= 2) counts.push_back(threads);
  counts.push_back(max_threads);
  return counts;
}

using HostVariant = std::function<void(Executor& executor)>;

/// Times one variant on this many threads and checks its result.
class HostVariants {
 public:
  HostVariants(const TransposeRequest& request, const TransposeJob& job, const TransposeHost& host,
               TransposeResult& result)
      : request_(request), job_(job), host_(host), result_(result), all_threads_(request.threads()) {}

  void measure(const char* name, int threads, bool only_copies, const HostVariant& variant) {
    TransposeRow row{
        .job = job_, .name = name, .threads = threads, .only_copies = only_copies, .part = job_.extent};
    const std::unique_ptr<Executor> executor = executor_of(threads);
    host_.poison(all_threads_);
    time_row(
        request_, [&] { return seconds_of([&] { variant(*executor); }); }, row);
    host_.check(row, all_threads_);
    if (only_copies) copy_limit_ = bytes_per_second(row);
    row.copy_limit = copy_limit_;
    result_.rows.push_back(row);
  }

 private:
  static std::unique_ptr<Executor> executor_of(int threads) {
    if (threads == 1) return std::make_unique<SerialExecutor>();
    return std::make_unique<ThreadPool>(threads);
  }

  const TransposeRequest& request_;
  const TransposeJob& job_;
  const TransposeHost& host_;
  TransposeResult& result_;
  ThreadPool all_threads_;
  double copy_limit_ = 0;
};

}  // namespace

TransposeHost::TransposeHost(const TransposeRequest& request, std::int64_t bytes, Executor& executor)
    : from_(bytes, request.on_gpu() ? pinned_resource() : page_resource()),
      to_(bytes, request.on_gpu() ? pinned_resource() : page_resource()),
      expected_(bytes) {
  fill_noise(from(), bytes, executor);
}

void TransposeHost::expect(const TransposeJob& job, Executor& executor) {
  permute_loop(job.extent, job.permutation, job.element_bytes(), from(), expected_.data(), executor);
}

void TransposeHost::poison(Executor& executor) const {
  for_each_part(to_.size(), executor, [&](std::int64_t first, std::int64_t last) {
    std::memset(to() + first, 0xA5, static_cast<std::size_t>(last - first));
  });
}

void TransposeHost::check(const TransposeRow& row, Executor& executor) const {
  const TransposeJob& job = row.job;
  const std::byte* const expected = row.only_copies ? from() : expected_.data();
  // A part is a corner of the matrix; its result is a corner of the transposed matrix.
  const std::int64_t rows = row.whole() ? 1 : row.part[2];
  const std::int64_t row_bytes = row.whole() ? job.bytes() : row.part[1] * job.element_bytes();
  const std::int64_t pitch_bytes = row.whole() ? 0 : job.extent[1] * job.element_bytes();
  for (std::int64_t index = 0; index < rows; ++index) {
    const std::int64_t begin = index * pitch_bytes;
    for_each_part(row_bytes, executor, [&](std::int64_t first, std::int64_t last) {
      const std::byte* const wanted = expected + begin + first;
      const std::byte* const found = to() + begin + first;
      if (std::memcmp(wanted, found, static_cast<std::size_t>(last - first)) == 0) return;
      const std::byte* const differs = std::mismatch(wanted, wanted + (last - first), found).first;
      const std::string device = row.threads > 0 ? "on " + count_text(row.threads, "thread") : "on the GPU";
      throw Error(fmt::format("variant '{}' {} of {}: element {} of its result is wrong", row.name, device,
                              text_of(job), (differs - expected) / job.element_bytes()));
    });
  }
}

void bench_on_host(const TransposeRequest& request, const TransposeJob& job, const TransposeHost& host,
                   TransposeResult& result) {
  const auto loop = [&](Executor& executor) {
    permute_loop(job.extent, job.permutation, job.element_bytes(), host.from(), host.to(), executor);
  };
  const auto ours = [&](Executor& executor) {
    permute_host(job.extent, job.permutation, job.element_bytes(), host.from(), host.to(), executor);
  };
  HostVariants variants(request, job, host, result);
  variants.measure("copy", request.threads(), true,
                   [&](Executor& executor) { copy_in_parts(host.from(), host.to(), job.bytes(), executor); });
  variants.measure(kLoop, 1, false, loop);
  if (request.threads() > 1) variants.measure(kLoop, request.threads(), false, loop);
  for (const int threads : thread_counts(request)) variants.measure(kOurs, threads, false, ours);
}

void bench_jobs_on_host(const TransposeRequest& request, const std::vector<TransposeJob>& jobs,
                        TransposeResult& result) {
  ThreadPool all_threads(request.threads(), request.options.stop);
  TransposeHost host(request, jobs.front().bytes(), all_threads);
  for (const TransposeJob& job : jobs) {
    host.expect(job, all_threads);
    bench_on_host(request, job, host, result);
  }
}

}  // namespace sepconv::app
