// A run on a GPU: which steps overlap, the order of spans, and stopping.
#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <stop_token>
#include <thread>

#include "../support/fault_injection.hpp"
#include "../support/gpu.hpp"
#include "../support/image.hpp"
#include "../support/overlap_detector.hpp"
#include "../support/small_run.hpp"
#include "../support/threads.hpp"
#include "core/error.hpp"
#include "pipeline/run/run.hpp"

using namespace sepconv;
using namespace sepconv::test;

namespace {

RunOptions device_bands(int slots = 3) { return small_bands(slots, {0}); }

}  // namespace

TEST_CASE("reading and writing go on at once with several slots and not with one", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 5);
  const Image result(kSpec);
  const auto run_with = [&](int slots, const Hook& reading, const Hook& writing) {
    const auto memory_reader = source.reader();
    const auto memory_writer = result.writer();
    HookedReader reader(*memory_reader, reading);
    HookedWriter writer(*memory_writer, writing);
    return run(reader, writer, two_stages(), device_bands(slots));
  };
  for (const int slots : {2, 3}) {
    Rendezvous rendezvous(2);
    const auto at = [&](std::int64_t at_call) {
      return Hook([&rendezvous, at_call](std::int64_t call) {
        if (call == at_call) rendezvous.arrive_and_wait();
      });
    };
    const RunReport report = run_with(slots, at(2), at(0));
    CHECK(rendezvous.all_arrived());
    CHECK(report.steps.front().hidden_seconds > 0);
  }
  OverlapDetector overlap;
  const Hook visit = [&overlap](std::int64_t) {
    overlap.enter();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    overlap.leave();
  };
  run_with(1, visit, visit);
  CHECK_FALSE(overlap.overlapped());
}

TEST_CASE("spans of the GPU's engines lie where they must on the host's clock", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 6);
  const Image result(kSpec);
  const RunReport report = run(*source.reader(), *result.writer(), two_stages(), device_bands(1));
  // With one slot the steps of a band follow each other. The host's and a real GPU's clocks agree to well
  // under a millisecond, and to two if other processes use the GPU; the simulated GPU's threads may be
  // scheduled late.
#ifdef SEPCONV_SIMULATED_GPU
  constexpr double kSlack = 0.25;
#else
  constexpr double kSlack = 5e-3;
#endif
  std::map<std::int64_t, std::map<std::string, Span>> bands;
  for (const Span& span : report.timeline.spans()) bands[span.band][span.track] = span;
  for (std::int64_t band = 0; band < report.plan.band_count(); ++band) {
    INFO("band " << band);
    auto& steps = bands.at(band);
    double previous_end = report.startup_seconds;
    for (const char* name : {"read", "upload", "compute", "download", "write"}) {
      if (!steps.contains(name)) continue;  // the previous band may have read all rows of the last one
      const Span& span = steps.at(name);
      CHECK(span.begin >= previous_end - kSlack);
      CHECK(span.end >= span.begin);
      previous_end = span.end;
    }
  }
}

TEST_CASE("a stop ends a run on a GPU at once, wherever it is", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 9);
  run(*source.reader(), *Image(kSpec).writer(), two_stages(), device_bands());
  const std::int64_t threads_before = baseline_thread_count();
  for (const std::int64_t at_call : {0, 1, 5, 10}) {
    for (const bool reading : {true, false}) {
      CAPTURE(at_call, reading);
      const Image result(kSpec);
      const auto memory_reader = source.reader();
      const auto memory_writer = result.writer();
      std::stop_source stop;
      const auto stops = [&](bool enabled) {
        return Hook([&stop, enabled, at_call](std::int64_t call) {
          if (enabled && call == at_call) stop.request_stop();
        });
      };
      HookedReader reader(*memory_reader, stops(reading));
      HookedWriter writer(*memory_writer, stops(!reading));
      RunOptions options = device_bands();
      options.stop = stop.get_token();
      CHECK_THROWS_AS(run(reader, writer, two_stages(), options), Cancelled);
    }
  }
  CHECK(wait_for_thread_count(threads_before));
}
