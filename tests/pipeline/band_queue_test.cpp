// How bands are dealt to lanes, on a simulated clock.
#include "pipeline/run/band_queue.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <vector>

using namespace sepconv;

namespace {

/// A lane that computes one band after another and has up to `slots` of them.
struct SimulatedLane {
  double predicted = 1, actual = 1;  // seconds per band
  double begins_at = 0, fails_at = std::numeric_limits<double>::infinity();
  int slots = 3;
  std::vector<std::int64_t> taken{}, finished{};
  double next_end = 0;
  bool has_begun = false, has_failed = false;
};

/// Runs the lanes to the end; returns the time of the last finished band.
double simulate(BandRange bands, std::vector<SimulatedLane>& lanes) {
  std::vector<BandQueue::Lane> predicted;
  for (const SimulatedLane& lane : lanes) predicted.push_back({lane.predicted, lane.begins_at});
  BandQueue queue(bands, predicted);
  double now = 0;
  while (!queue.is_done()) {
    for (std::size_t i = 0; i < lanes.size(); ++i)
      if (!lanes[i].has_begun && now >= lanes[i].begins_at) queue.begin(i), lanes[i].has_begun = true;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      SimulatedLane& lane = lanes[i];
      if (!lane.has_failed && now >= lane.fails_at) {
        queue.give_back(i), lane.has_failed = true;
        lane.taken.clear();
      }
      while (lane.has_begun && !lane.has_failed && std::ssize(lane.taken) < lane.slots) {
        const auto band = queue.take(i, now);
        if (!band) break;
        if (lane.taken.empty()) lane.next_end = now + lane.actual;
        lane.taken.push_back(*band);
      }
    }
    double next = std::numeric_limits<double>::infinity();
    for (const SimulatedLane& lane : lanes) {
      if (!lane.has_begun) next = std::min(next, lane.begins_at);
      if (!lane.has_failed && lane.fails_at > now) next = std::min(next, lane.fails_at);
      if (!lane.taken.empty()) next = std::min(next, lane.next_end);
    }
    REQUIRE(next < std::numeric_limits<double>::infinity());  // else no lane may take a band
    now = next;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      SimulatedLane& lane = lanes[i];
      if (lane.taken.empty() || lane.next_end > now || now >= lane.fails_at) continue;
      queue.finish(i, lane.taken.front(), now);
      lane.finished.push_back(lane.taken.front());
      lane.taken.erase(lane.taken.begin());
      lane.next_end = now + lane.actual;
    }
  }
  return now;
}

std::vector<std::int64_t> all_finished(const std::vector<SimulatedLane>& lanes) {
  std::vector<std::int64_t> all;
  for (const SimulatedLane& lane : lanes) all.insert(all.end(), lane.finished.begin(), lane.finished.end());
  std::ranges::sort(all);
  return all;
}

std::vector<std::int64_t> numbers(BandRange bands) {
  std::vector<std::int64_t> all;
  for (std::int64_t band = bands.first; band < bands.end; ++band) all.push_back(band);
  return all;
}

/// Seconds of the best possible deal of equal bands.
double ideal(std::int64_t bands, const std::vector<SimulatedLane>& lanes) {
  double rate = 0;
  for (const SimulatedLane& lane : lanes) rate += 1 / lane.actual;
  return static_cast<double>(bands) / rate;
}

}  // namespace

TEST_CASE("one lane gets all bands in ascending order, even if it has not begun") {
  BandQueue queue({5, 9}, {{}});
  for (std::int64_t band = 5; band < 9; ++band) CHECK(queue.take(0, 0) == band);
  CHECK(queue.take(0, 0) == std::nullopt);
  CHECK_FALSE(queue.is_done());
  for (std::int64_t band = 5; band < 9; ++band) queue.finish(0, band, 1);
  CHECK(queue.is_done());
}

TEST_CASE("lanes get neighbouring bands, in proportion to their predicted rates") {
  std::vector<SimulatedLane> lanes{{3, 3}, {1, 1}};
  simulate({0, 100}, lanes);
  CHECK(lanes[0].finished == numbers({0, 25}));
  CHECK(lanes[1].finished == numbers({25, 100}));
}

TEST_CASE("a lane that begins later gets fewer bands") {
  std::vector<SimulatedLane> lanes{{1, 1}, {1, 1, 20}};
  CHECK(simulate({0, 100}, lanes) == Approx(60));
  CHECK(lanes[0].finished.size() == 60);
}

TEST_CASE("wrong predictions are corrected by measured times") {
  for (const double factor : {0.02, 0.2, 5.0, 50.0}) {
    CAPTURE(factor);
    std::vector<SimulatedLane> lanes{{1, factor}, {1, 1}};
    const double seconds = simulate({0, 400}, lanes);
    CHECK(all_finished(lanes) == numbers({0, 400}));
    // The slower lane ends at most its slots late, which it took before anything was measured.
    CHECK(seconds < 1.05 * ideal(400, lanes) + 3 * std::max(1.0, factor));
  }
}

TEST_CASE("a slow lane does not take one of the last bands that others finish before") {
  std::vector<SimulatedLane> lanes{{10, 10}, {1, 1}};
  CHECK(simulate({0, 9}, lanes) == 9);
  CHECK(lanes[0].finished.empty());
  std::vector<SimulatedLane> more{{10, 10}, {1, 1}};
  CHECK(simulate({0, 22}, more) == Approx(20).margin(1));
  CHECK(more[0].finished.size() == 2);
}

TEST_CASE("a lane that never begins delays nobody") {
  BandQueue queue({0, 10}, {{10, 0}, {1, 0}});
  queue.begin(0);
  for (int i = 0; i < 10; ++i) {
    const auto band = queue.take(0, 10.0 * i);
    REQUIRE(band);
    queue.finish(0, *band, 10.0 * i + 10);
  }
  CHECK(queue.is_done());
}

TEST_CASE("bands of a lane that fails are computed by others") {
  std::vector<SimulatedLane> lanes{{2, 2}, {1, 1, 0, 7.5}, {1, 1, 3, 3}};
  simulate({10, 50}, lanes);
  CHECK(all_finished(lanes) == numbers({10, 50}));
  CHECK(lanes[1].finished.size() == 7);
  CHECK(lanes[2].finished.empty());
}

TEST_CASE("random lanes finish each band once, about as soon as is possible") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 500; ++i) {
    CAPTURE(i);
    std::vector<SimulatedLane> lanes;
    const std::int64_t bands = 1 + static_cast<std::int64_t>(random() % 300);
    double max_seconds = 0, last_begin = 0;
    for (std::uint64_t lane = 0; lane <= random() % 4; ++lane) {
      const double seconds = static_cast<double>(1 + random() % 50) / 10;
      lanes.push_back({seconds, seconds * static_cast<double>(5 + random() % 15) / 10});
      lanes.back().slots = 1 + static_cast<int>(random() % 4);
      if (lane > 0 && random() % 2 == 0) lanes.back().begins_at = static_cast<double>(random() % 20);
      if (lane > 0 && random() % 4 == 0) lanes.back().fails_at = static_cast<double>(random() % 50);
      max_seconds = std::max(max_seconds, lanes.back().actual);
      last_begin = std::max(last_begin, lanes.back().begins_at);
    }
    const bool fails =
        std::ranges::any_of(lanes, [](const SimulatedLane& lane) { return lane.fails_at < 1e9; });
    const double seconds = simulate({3, 3 + bands}, lanes);
    CHECK(all_finished(lanes) == numbers({3, 3 + bands}));
    if (!fails) CHECK(seconds < ideal(bands, lanes) + last_begin + 2 * max_seconds);
  }
}
