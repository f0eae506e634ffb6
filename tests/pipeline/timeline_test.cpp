// Timelines: unions and overlaps of intervals, copies, and the trace as a JSON that others can read.
#include "sepconv/pipeline/run/timeline.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

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

TEST_CASE("a track alone hides nothing, even where its own spans overlap") {
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

TEST_CASE("the trace is Chrome trace JSON: complete events in microseconds, a named thread per track") {
  const std::vector<Span> spans = {
      {"read", 7, 0.5, 0.75, 4096}, {"na\"me\xff", 0, 1.0, 2.0, 0}, {"read", 8, 1, 2, 0}};
  std::ostringstream text;
  write_chrome_trace(text, spans);
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
}

TEST_CASE("a trace of nothing is still JSON") {
  std::ostringstream text;
  write_chrome_trace(text, {});
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
