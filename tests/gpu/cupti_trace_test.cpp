// Checks the timeline of one run on a GPU: its spans against CUPTI's records of the same copies and kernels.
//
//   1. Every record is inside a span of its track, within kSlackSeconds.
//   2. The total busy times of a track agree within kBusyTolerance. The first band is left out: CUPTI spends
//      some milliseconds in the first launch of a kernel, in the middle of that band's span.
//   3. Each byte of the source and of the result crosses the bus exactly once.
//   4. No copy between host and device uses pageable memory.
//
// Exit code 0: all hold. 1: one does not. 77: no GPU or no CUPTI. A copy within the device belongs to the
// track whose span contains it, if any.
#include "cupti_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <vector>

#include "../support/image.hpp"
#include "kernels/device/runtime.hpp"
#include "pipeline/run/run.hpp"

namespace sepconv::test {
namespace {

constexpr int kSkipped = 77;
constexpr double kSlackSeconds = 100e-6;  ///< accuracy of mapping the GPU's clock to the host's
constexpr double kBusyTolerance = 0.15;   ///< launch gaps between an event and the work it marks
/// Bands of 128 MiB take milliseconds on PCIe, so that launch gaps are small in comparison.
const ImageSpec kSource{{16384, 16384}, 1, PixelType::f32};
constexpr std::int64_t kBandRows = 2048;

struct Track {
  const char* name;
  Activity activity;
  std::int64_t bytes;  ///< that the track's copies must transfer; 0: not checked
};

struct Outcome {
  int failures = 0;
  void expect(bool holds, const std::string& sentence) {
    std::cout << (holds ? "  ok    " : "  FAIL  ") << sentence << '\n';
    failures += holds ? 0 : 1;
  }
};

std::vector<Span> spans_of(const std::vector<Span>& spans, const char* track) {
  std::vector<Span> result;
  std::ranges::copy_if(spans, std::back_inserter(result),
                       [&](const Span& span) { return span.track == track; });
  return result;
}

/// Seconds by which a record exceeds the best matching span; 0 if it is inside.
double excess_seconds(const ActivityRecord& record, const std::vector<Span>& spans) {
  double min_excess = INFINITY;
  for (const Span& span : spans) {
    min_excess = std::min(min_excess, std::max({0.0, span.begin - record.begin, record.end - span.end}));
  }
  return min_excess;
}

double union_seconds(const std::vector<ActivityRecord>& records) {
  std::vector<Span> spans;
  for (const ActivityRecord& record : records) spans.push_back({"", 0, record.begin, record.end, 0});
  return busy_seconds(spans, "");
}

/// The track's records, and copies within the device inside its spans.
std::vector<ActivityRecord> records_of(const std::vector<ActivityRecord>& records, Activity activity,
                                       const std::vector<Span>& spans) {
  std::vector<ActivityRecord> result;
  for (const ActivityRecord& record : records) {
    const bool on_device_here =
        record.activity == Activity::on_device && excess_seconds(record, spans) <= kSlackSeconds;
    if (record.activity == activity || on_device_here) result.push_back(record);
  }
  return result;
}

std::vector<Span> without_first_band(std::vector<Span> spans) {
  std::erase_if(spans, [](const Span& span) { return span.band == 0; });
  return spans;
}

std::vector<ActivityRecord> records_inside(std::vector<ActivityRecord> records,
                                           const std::vector<Span>& spans) {
  std::erase_if(records, [&](const ActivityRecord& record) {
    return std::ranges::none_of(spans, [&](const Span& span) {
      const double middle = (record.begin + record.end) / 2;
      return span.begin <= middle && middle <= span.end;
    });
  });
  return records;
}

/// Each span with the records inside it, to find what a span contains besides work.
void print_spans(const std::vector<Span>& spans, const std::vector<ActivityRecord>& records) {
  for (const Span& span : spans) {
    std::cout << fmt::format("    band {}: {:.3f} to {:.3f} ms\n", span.band, span.begin * 1e3,
                             span.end * 1e3);
    for (const ActivityRecord& record : records) {
      if (excess_seconds(record, {span}) <= kSlackSeconds)
        std::cout << fmt::format("      {:.3f} to {:.3f} ms {}\n", record.begin * 1e3, record.end * 1e3,
                                 record.name.substr(0, 80));
    }
  }
}

void compare_track(const Track& track, const std::vector<Span>& all_spans,
                   const std::vector<ActivityRecord>& all_records, Outcome& outcome) {
  const std::vector<Span> spans = spans_of(all_spans, track.name);
  const std::vector<ActivityRecord> records = records_of(all_records, track.activity, spans);
  std::cout << fmt::format("{}: {} spans, {} records\n", track.name, spans.size(), records.size());
  outcome.expect(!spans.empty() && !records.empty(), "both the timeline and CUPTI saw it");

  double max_excess = 0;
  std::int64_t bytes = 0, pageable = 0;
  for (const ActivityRecord& record : records) {
    max_excess = std::max(max_excess, excess_seconds(record, spans));
    if (record.activity != track.activity) continue;
    bytes += record.bytes;
    pageable += record.page_locked ? 0 : 1;
  }
  outcome.expect(max_excess <= kSlackSeconds,
                 fmt::format("records inside spans: {:.1f} us outside at worst (limit {:.0f})",
                             max_excess * 1e6, kSlackSeconds * 1e6));
  const std::vector<Span> later_spans = without_first_band(spans);
  const double timeline_seconds = busy_seconds(later_spans, track.name);
  const double cupti_seconds = union_seconds(records_inside(records, later_spans));
  const bool agree = std::abs(timeline_seconds - cupti_seconds) <=
                     kBusyTolerance * std::max(timeline_seconds, cupti_seconds);
  if (!agree) print_spans(spans, records);
  outcome.expect(agree, fmt::format("busy: timeline {:.3f} ms, CUPTI {:.3f} ms", timeline_seconds * 1e3,
                                    cupti_seconds * 1e3));
  if (track.bytes == 0) return;
  outcome.expect(bytes == track.bytes, fmt::format("bytes over the bus: {} of {}", bytes, track.bytes));
  outcome.expect(pageable == 0,
                 fmt::format("copies with pageable memory: {} of {}", pageable, records.size()));
}

/// Counts copies within the device outside every span: copies of rows that neighbouring bands share belong to
/// no track.
std::int64_t count_outside_spans(const std::vector<Span>& spans, const std::vector<ActivityRecord>& records) {
  return std::ranges::count_if(records, [&](const ActivityRecord& record) {
    return record.activity == Activity::on_device && excess_seconds(record, spans) > kSlackSeconds;
  });
}

int test() {
  if (list_devices().empty()) {
    std::cout << "skipped: no GPU\n";
    return kSkipped;
  }
  CuptiTrace trace;
  if (!trace.problem().empty()) {
    std::cout << "skipped: " << trace.problem() << '\n';
    return kSkipped;
  }

  const Chain chain =
      Chain::parse(std::vector<std::string>{"gaussian:sigma=4", "unsharp:sigma=3,amount=0.5"});
  const Image source = Image::of_pattern(kSource, Pattern::gradient, 1);
  const Image result(chain.result_spec(kSource));
  RunOptions options;
  options.devices = {0};
  options.slots = 3;
  options.band_rows = kBandRows;
  const auto run_once = [&] { return run(*source.reader(), *result.writer(), chain, options); };
  run_once();  // warm-up: loads the kernels and raises the GPU's clocks

  trace.start();
  const RunReport report = run_once();
  trace.stop();
  const std::vector<Span> spans = report.timeline.spans();
  const std::vector<ActivityRecord> records = trace.records(report.timeline.origin());
  std::cout << fmt::format(
      "{}: {} bands, {:.3f} s; the clocks were related within {:.1f} us and drifted by {:.1f} us\n",
      report.device, report.plan.band_count(), report.wall_seconds, trace.reading_seconds() * 1e6,
      trace.drift_seconds() * 1e6);
  Outcome outcome;
  compare_track({"upload", Activity::host_to_device, kSource.bytes()}, spans, records, outcome);
  compare_track({"compute", Activity::kernel, 0}, spans, records, outcome);
  compare_track({"download", Activity::device_to_host, result.spec().bytes()}, spans, records, outcome);
  std::cout << fmt::format("copies on the device outside every span: {}\n",
                           count_outside_spans(spans, records));
  std::cout << (outcome.failures == 0 ? "The timeline agrees with CUPTI.\n"
                                      : "The timeline does not agree with CUPTI.\n");
  return outcome.failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sepconv::test

int main() {
  try {
    return sepconv::test::test();
  } catch (const std::exception& error) {
    std::cout << "FAIL  " << error.what() << '\n';
    return 1;
  }
}
