// How bench transpose times its runs, its jobs, and the rates computed from the times.
#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "pipeline/plan/plan.hpp"
#include "transpose.hpp"

namespace sepconv::app {

namespace {

constexpr double kSlowSeconds = 0.5;
constexpr int kSlowRuns = 3;  // minimum for omitting the fastest and the slowest

bool same_job(const TransposeJob& a, const TransposeJob& b) {
  return a.matrix == b.matrix && a.type == b.type && a.permutation == b.permutation;
}

double loop_bytes_per_second(const TransposeResult& result, const TransposeRow& row) {
  const TransposeRow* const loop = find_row(result, row.job, kLoop, 1);
  return loop != nullptr ? bytes_per_second(*loop) : 0;
}

}  // namespace

const std::vector<Permutation>& TransposeRequest::chosen_permutations() const {
  static const std::vector<Permutation> all(all_permutations().begin(), all_permutations().end());
  return permutations.empty() ? all : permutations;
}

TransposeJob matrix_job(const TransposeRequest& request, PixelType type) {
  return {true, type, {1, request.extent.rows, request.extent.cols}, {{0, 2, 1}}};
}

std::vector<TransposeJob> tensor_jobs(const TransposeRequest& request, PixelType type) {
  std::vector<TransposeJob> jobs;
  for (const Permutation& permutation : request.chosen_permutations())
    jobs.push_back({false, type, request.tensor, permutation});
  return jobs;
}

std::string size_text(bool matrix, const TensorExtent& extent) {
  return matrix ? fmt::format("{} x {}", extent[2], extent[1])
                : fmt::format("{} x {} x {}", extent[0], extent[1], extent[2]);
}

std::string permutation_text(const TransposeJob& job) {
  return job.matrix ? "1,0" : to_string(job.permutation);
}

std::string text_of(const TransposeJob& job) {
  const std::string what = fmt::format("{} {}", size_text(job.matrix, job.extent), name_of(job.type));
  return job.matrix ? what : fmt::format("{} by {}", what, to_string(job.permutation));
}

double bytes_per_second(const TransposeRow& row) {
  const TensorExtent& part = row.part;
  return 2 * static_cast<double>(part[0] * part[1] * part[2] * row.job.element_bytes()) / row.time.mean;
}

double copy_fraction(const TransposeRow& row) { return bytes_per_second(row) / row.copy_limit; }

const TransposeRow* find_row(const TransposeResult& result, const TransposeJob& job, std::string_view name,
                             int threads) {
  const auto found = std::ranges::find_if(result.rows, [&](const TransposeRow& row) {
    return same_job(row.job, job) && row.name == name && row.threads == threads;
  });
  return found == result.rows.end() ? nullptr : &*found;
}

std::optional<double> speed_up(const TransposeResult& result, const TransposeRow& row) {
  const double loop = loop_bytes_per_second(result, row);
  return loop > 0 ? std::optional(bytes_per_second(row) / loop) : std::nullopt;
}

std::optional<double> speed_up_with_copies(const TransposeResult& result, const TransposeRow& row) {
  const TransposeRow* const loop = find_row(result, row.job, kLoop, 1);
  const auto copies = std::ranges::find_if(
      result.copies, [&](const TransposeCopies& candidate) { return same_job(candidate.job, row.job); });
  if (loop == nullptr || copies == result.copies.end() || row.threads > 0 || !row.whole()) return {};
  return loop->time.mean / (copies->upload.mean + row.time.mean + copies->download.mean);
}

void time_row(const TransposeRequest& request, const std::function<double()>& seconds_of_run,
              TransposeRow& row) {
  if (request.options.stop.stop_requested()) throw Cancelled();
  const double first = seconds_of_run();
  row.runs = first > kSlowSeconds ? kSlowRuns : request.runs;
  row.time = time_trimmed(row.runs, request.options.stop, seconds_of_run);
}

}  // namespace sepconv::app
