// What goes on at once in a run on a GPU, in what order spans lie, and that a stop ends all of it.
#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <stop_token>
#include <thread>

#include "../support/fault_injection.hpp"
#include "../support/gpu.hpp"
#include "../support/image.hpp"
#include "../support/overlap_probe.hpp"
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
    Meeting meeting(2);
    const auto at = [&](std::int64_t when) {
      return Hook([&meeting, when](std::int64_t call) {
        if (call == when) meeting.attend();
      });
    };
    const RunReport report = run_with(slots, at(2), at(0));
    CHECK(meeting.took_place());
    CHECK(report.steps.front().hidden_seconds > 0);
  }
  Room room;
  const Hook visit = [&room](std::int64_t) {
    room.enter();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    room.leave();
  };
  run_with(1, visit, visit);
  CHECK_FALSE(room.was_shared());
}

TEST_CASE("spans of the GPU's engines lie where they must on the host's clock", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 6);
  const Image result(kSpec);
  const RunReport report = run(*source.reader(), *result.writer(), two_stages(), device_bands(1));
  // With one slot a band's steps follow each other, and the clocks agree to well under a millisecond: those
  // of a GPU, whose answers wait for no thread's turn.
#ifdef SEPCONV_SIMULATED_GPU
  constexpr double kSlack = 0.25;
#else
  constexpr double kSlack = 5e-4;
#endif
  std::map<std::int64_t, std::map<std::string, Span>> bands;
  for (const Span& span : report.timeline.spans()) bands[span.band][span.track] = span;
  for (std::int64_t band = 0; band < report.plan.band_count(); ++band) {
    INFO("band " << band);
    auto& steps = bands.at(band);
    double before = report.startup_seconds;
    for (const char* name : {"read", "upload", "compute", "download", "write"}) {
      if (!steps.contains(name)) continue;  // the last band may find all its rows in the one before
      const Span& span = steps.at(name);
      CHECK(span.begin >= before - kSlack);
      CHECK(span.end >= span.begin);
      before = span.end;
    }
  }
}

TEST_CASE("a stop ends a run on a GPU at once, wherever it is", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 9);
  run(*source.reader(), *Image(kSpec).writer(), two_stages(), device_bands());
  const std::int64_t threads_before = threads_at_rest();
  for (const std::int64_t when : {0, 1, 5, 10}) {
    for (const bool reading : {true, false}) {
      CAPTURE(when, reading);
      const Image result(kSpec);
      const auto memory_reader = source.reader();
      const auto memory_writer = result.writer();
      std::stop_source stop;
      const auto stops = [&](bool here) {
        return Hook([&stop, here, when](std::int64_t call) {
          if (here && call == when) stop.request_stop();
        });
      };
      HookedReader reader(*memory_reader, stops(reading));
      HookedWriter writer(*memory_writer, stops(!reading));
      RunOptions options = device_bands();
      options.stop = stop.get_token();
      CHECK_THROWS_AS(run(reader, writer, two_stages(), options), Cancelled);
    }
  }
  CHECK(threads_return_to(threads_before));
}
