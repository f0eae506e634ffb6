// Timelines: unions and overlaps of intervals, copies, and the Chrome trace JSON.
#include "pipeline/run/timeline.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include "pipeline/run/chrome_trace.hpp"

using namespace sepconv;

TEST_CASE("busy time is the length of the union, however the spans overlap") {
  const std::vector<Span> spans = {
      {"read", 0, 0.0, 1.0, 0},  {"read", 1, 0.5, 2.0, 0}, {"read", 2, 3.0, 4.0, 0},
      {"read", 3, 3.25, 3.5, 0}, {"read", 4, 9.0, 9.0, 0}, {"write", 0, 1.0, 9.0, 0},
  };
  CHECK(busy_seconds(spans, "read") == Approx(3.0));
  CHECK(busy_seconds(spans, "write") == Approx(8.0));
  CHECK(busy_seconds(spans, "compute") == 0);
  CHECK(busy_seconds({}, "read") == 0);
}

TEST_CASE("spans that touch are one, and their order does not matter") {
  const std::vector<Span> spans = {{"read", 1, 1.0, 2.0, 0}, {"read", 0, 0.0, 1.0, 0}};
  CHECK(busy_seconds(spans, "read") == Approx(2.0));
}

TEST_CASE("hidden time is what any other track covers, counted once") {
  const std::vector<Span> spans = {
      {"read", 0, 0.0, 4.0, 0},    {"compute", 0, 1.0, 2.0, 0}, {"write", 0, 1.5, 2.5, 0},
      {"compute", 1, 3.5, 6.0, 0}, {"read", 1, 7.0, 8.0, 0},
  };
  CHECK(hidden_seconds(spans, "read") == Approx(1.5 + 0.5));
  CHECK(hidden_seconds(spans, "compute") == Approx(1.0 + 0.5));
  CHECK(hidden_seconds(spans, "write") == Approx(1.0));
}

TEST_CASE("a single track hides nothing, even if its spans overlap") {
  const std::vector<Span> spans = {{"read", 0, 0.0, 2.0, 0}, {"read", 1, 1.0, 3.0, 0}};
  CHECK(hidden_seconds(spans, "read") == 0);
}

TEST_CASE("a timeline records from many threads, and a copy has what was there") {
  Timeline timeline;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (int band = 0; band < 250; ++band)
          timeline.record({"compute", band, timeline.now(), timeline.now(), 1});
      });
    }
  }
  Timeline copy(timeline);
  timeline.record({"write", 0, 0, 1, 1});
  CHECK(copy.spans().size() == 1000);
  CHECK(timeline.spans().size() == 1001);
  copy = timeline;
  CHECK(copy.spans().size() == 1001);
}

TEST_CASE("a long run's spans are joined, and its totals are those of all") {
  constexpr std::int64_t kBands = 300'000;
  Timeline timeline;
  for (std::int64_t band = 0; band < kBands; ++band) {
    const auto at = static_cast<double>(band);
    timeline.record({"read", band, at, at + 0.5, 3});
    timeline.record({"compute", band, at + 0.25, at + 1, 5});
    if (band % 100 == 99) timeline.record({"write", Span::kClosing, at + 1, at + 1, 0});
  }
  const std::vector<Span> spans = timeline.spans();
  CHECK(spans.size() <= Timeline::kMaxSpans);
  const auto bands_of = [&](std::string_view track) {
    std::int64_t bands = 0;
    for (const Span& span : spans) bands += span.track == track ? span.bands : 0;
    return bands;
  };
  CHECK(bands_of("read") == kBands);
  CHECK(bands_of("compute") == kBands);
  CHECK(bands_of("write") == kBands / 100);
  const Timeline copy = timeline;
  for (const Timeline* const each_timeline : {&std::as_const(timeline), &copy}) {
    CHECK(each_timeline->totals("read").bytes == 3 * kBands);
    CHECK(each_timeline->totals("read").busy_seconds == Approx(0.5 * kBands));
    CHECK(each_timeline->totals("read").hidden_seconds == Approx(0.25 * kBands).epsilon(1e-3));
    CHECK(each_timeline->totals("compute").busy_seconds == Approx(0.75 * kBands));
    CHECK(each_timeline->totals("none").busy_seconds == 0);
  }
  std::ostringstream text;
  write_chrome_trace(text, timeline, {.band_numbers_match = true});
  std::int64_t traced = 0;
  const auto trace = nlohmann::json::parse(text.str());
  for (const auto& event : trace.at("traceEvents"))
    if (event.at("ph") == "X" && event.at("name") == "read") traced += event.at("args").value("bands", 1);
  CHECK(traced == kBands);
}

TEST_CASE("the trace is Chrome trace JSON: complete events in microseconds, a named thread per track") {
  Timeline timeline;
  for (const Span& span :
       {Span{"read", 7, 0.5, 0.75, 4096}, Span{"na\"me\xff", 0, 1.0, 2.0, 0}, Span{"read", 8, 1, 2, 0}})
    timeline.record(span);
  std::ostringstream text;
  write_chrome_trace(text, timeline);
  const auto trace = nlohmann::json::parse(text.str());
  std::set<int> threads;
  int complete = 0;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("name") == "thread_name") threads.insert(event.at("tid").get<int>());
    if (event.at("ph") != "X") continue;
    ++complete;
    CHECK(threads.count(event.at("tid").get<int>()) == 1);
  }
  CHECK(complete == 3);
  CHECK(threads.size() == 2);
  const auto& first = *std::find_if(trace["traceEvents"].begin(), trace["traceEvents"].end(),
                                    [](const auto& event) { return event.at("ph") == "X"; });
  CHECK(first.at("ts").get<double>() == Approx(5e5));
  CHECK(first.at("dur").get<double>() == Approx(2.5e5));
  CHECK(first.at("args").at("band") == 7);
  CHECK(first.at("args").at("bytes") == 4096);
  CHECK(first.at("name") == "read");
}

TEST_CASE("overlapping spans of a track are on separate threads") {
  Timeline timeline;
  for (const Span& span :
       {Span{"decode", 0, 0, 2, 1}, Span{"decode", 1, 1, 3, 1}, Span{"decode", 2, 2, 4, 1}})
    timeline.record(span);
  std::ostringstream text;
  write_chrome_trace(text, timeline);
  std::vector<int> threads;
  std::set<std::string> names;
  const auto trace = nlohmann::json::parse(text.str());
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") == "X") threads.push_back(event.at("tid"));
    if (event.at("name") == "thread_name") names.insert(event.at("args").at("name").get<std::string>());
  }
  CHECK(threads == std::vector{1, 2, 1});
  CHECK(names == std::set<std::string>{"decode", "decode (2)"});
}

TEST_CASE("a trace counts the bands that wait for a step, and has the plan") {
  Timeline timeline;
  // Both bands are read before the first is computed; the second waits during that.
  for (const Span& span :
       {Span{"read", 0, 0, 1, 2'000'000}, Span{"read", 1, 1, 2, 2'000'000}, Span{"compute", 0, 3, 4, 1},
        Span{"compute", 1, 5, 6, 1}, Span{"write", Span::kClosing, 6, 7, 0}})
    timeline.record(span);
  std::ostringstream text;
  write_chrome_trace(text, timeline, {R"({"bands": 2})", "sepconv run", true});
  const auto trace = nlohmann::json::parse(text.str());
  std::vector<std::pair<double, int>> waiting;
  double max_rate = 0;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("name") == "waiting for compute")
      waiting.emplace_back(event.at("ts").get<double>() / 1e6, event.at("args").at("bands").get<int>());
    if (event.at("name") == "read rate")
      max_rate = std::max(max_rate, event.at("args").at("MB/s").get<double>());
  }
  CHECK(waiting == std::vector<std::pair<double, int>>{{1, 1}, {2, 2}, {3, 1}, {5, 0}});
  CHECK(max_rate == Approx(2));
  CHECK(trace.at("otherData").at("plan").at("bands") == 2);
  CHECK(trace.at("otherData").at("command") == "sepconv run");
}

TEST_CASE("rates of slices that overlap are added, and those that touch leave no peak") {
  Timeline timeline;
  for (const Span& span : {Span{"decode", 0, 0, 2, 6'000'000}, Span{"decode", 1, 1, 3, 2'000'000},
                           Span{"decode", 2, 3, 4, 5'000'000}})
    timeline.record(span);
  std::ostringstream text;
  write_chrome_trace(text, timeline);
  std::vector<std::pair<double, double>> rates;
  const auto trace = nlohmann::json::parse(text.str());
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("name") == "decode rate")
      rates.emplace_back(event.at("ts").get<double>() / 1e6, event.at("args").at("MB/s").get<double>());
  }
  CHECK(rates == std::vector<std::pair<double, double>>{{0, 3}, {1, 4}, {2, 1}, {3, 5}, {4, 0}});
}

TEST_CASE("a trace of nothing is still JSON") {
  std::ostringstream text;
  write_chrome_trace(text, Timeline());
  CHECK(nlohmann::json::parse(text.str()).at("traceEvents").size() == 1);  // the process's name
}

TEST_CASE("seconds are counted from the origin, which copies keep") {
  const auto before = std::chrono::steady_clock::now();
  const Timeline timeline;
  const auto after = std::chrono::steady_clock::now();
  CHECK((timeline.origin() >= before && timeline.origin() <= after));
  const Timeline copy = timeline;
  CHECK(copy.origin() == timeline.origin());
}
