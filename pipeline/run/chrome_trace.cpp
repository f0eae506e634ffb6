#include "pipeline/run/chrome_trace.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <utility>

namespace sepconv {
namespace {

using nlohmann::json;

constexpr double kMicroseconds = 1e6;

/// As a band passes them.
constexpr std::array<std::string_view, 7> kSteps{"read",   "upload",   "decode", "compute",
                                                 "encode", "download", "write"};

std::size_t place_of(const std::string& track) {
  return static_cast<std::size_t>(std::ranges::find(kSteps, step_of(track)) - kSteps.begin());
}

class Events {
 public:
  explicit Events(std::ostream& out) : out_(out) {}

  void put(json event) {
    event["pid"] = 1;
    // Names come from callers; bytes that are not UTF-8 are replaced rather than thrown at.
    out_ << std::exchange(separator_, ",\n") << event.dump(-1, ' ', false, json::error_handler_t::replace);
  }
  void name_thread(int thread, const std::string& name) {
    put({{"ph", "M"}, {"tid", thread}, {"name", "thread_name"}, {"args", {{"name", name}}}});
  }
  void count(const std::string& what, double seconds, const char* unit, const json& value) {
    put({{"ph", "C"}, {"name", what}, {"ts", seconds * kMicroseconds}, {"args", {{unit, value}}}});
  }

 private:
  std::ostream& out_;
  const char* separator_ = "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n";
};

void put_slice(Events& events, const Span& span, int thread) {
  const bool is_closing = span.band == Span::kClosing;
  json args = {{"bytes", span.bytes}, {"image", span.image}};
  if (!is_closing) args["band"] = span.band;
  if (span.bands > 1) args["bands"] = span.bands;
  events.put({{"ph", "X"},
              {"tid", thread},
              {"name", is_closing ? "close" : step_of(span.track)},
              {"cat", span.track},
              {"ts", span.begin * kMicroseconds},
              {"dur", (span.end - span.begin) * kMicroseconds},
              {"args", std::move(args)}});
}

/// In the order of a track's steps and of time. Slices of one thread must not overlap, unless one holds the
/// other.
void put_slices(Events& events, const std::vector<Span>& spans) {
  struct Thread {
    std::string track;
    double end;
  };
  std::vector<Thread> threads;
  for (const Span& span : spans) {
    const auto is_free = [&](const Thread& thread) {
      return thread.track == span.track && thread.end <= span.begin;
    };
    auto found = std::ranges::find_if(threads, is_free);
    if (found == threads.end()) {
      const auto others = std::ranges::count(threads, span.track, &Thread::track);
      threads.push_back({span.track, 0});
      found = threads.end() - 1;
      events.name_thread(static_cast<int>(threads.size()),
                         others == 0 ? span.track : span.track + " (" + std::to_string(others + 1) + ")");
    }
    found->end = span.end;
    put_slice(events, span, static_cast<int>(found - threads.begin()) + 1);
  }
}

/// What a counter changes by, at which second.
using Changes = std::map<double, std::int64_t>;

void put_sums(Events& events, const std::map<std::string, Changes>& counters, const char* unit,
              double of_unit) {
  for (const auto& [name, changes] : counters) {
    std::int64_t sum = 0;
    for (const auto& [seconds, change] : changes)
      events.count(name, seconds, unit, static_cast<double>(sum += change) / of_unit);
  }
}

/// For a track whose slices overlap the sum of theirs.
void put_rates(Events& events, const std::vector<Span>& spans) {
  std::map<std::string, Changes> counters;
  for (const Span& span : spans) {
    if (span.bytes == 0 || span.end <= span.begin) continue;
    // Whole bytes, so that the sum is 0 again in the end.
    const std::int64_t rate = std::llround(static_cast<double>(span.bytes) / (span.end - span.begin));
    Changes& changes = counters[span.track + " rate"];
    changes[span.begin] += rate;
    changes[span.end] -= rate;
  }
  put_sums(events, counters, "MB/s", 1e6);
}

/// Between a step that has ended and the next that has not begun.
void put_queues(Events& events, const std::vector<Span>& spans) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::size_t>, const Span*> passed;  // image, band, step
  for (const Span& span : spans) passed[{span.image, span.band, place_of(span.track)}] = &span;
  std::map<std::string, Changes> counters;
  for (auto at = passed.begin(); at != passed.end(); ++at) {
    const auto next = std::next(at);
    if (next == passed.end()) break;
    const auto& [image, band, step] = at->first;
    const auto& [next_image, next_band, next_step] = next->first;
    if (image != next_image || band != next_band) continue;
    Changes& changes = counters["waiting for " + step_of(next->second->track)];
    const double from = at->second->end;
    changes[from] += 1;
    changes[std::max(from, next->second->begin)] -= 1;
  }
  put_sums(events, counters, "bands", 1);
}

}  // namespace

void write_chrome_trace(std::ostream& out, const Timeline& timeline, const TraceFacts& facts) {
  std::vector<Span> spans = timeline.spans();
  std::ranges::stable_sort(spans, [](const Span& a, const Span& b) {
    return std::tuple(place_of(a.track), a.track, a.begin) < std::tuple(place_of(b.track), b.track, b.begin);
  });
  json said = json::object();
  if (!facts.command.empty()) said["command"] = facts.command;
  if (!facts.plan.empty()) said["plan"] = json::parse(facts.plan);
  Events events(out);
  events.put({{"ph", "M"}, {"name", "process_name"}, {"args", {{"name", "sepconv"}}}});
  if (!said.empty())
    events.put({{"ph", "i"}, {"s", "p"}, {"tid", 0}, {"ts", 0}, {"name", "sepconv"}, {"args", said}});
  put_slices(events, spans);
  for (const MemorySample& sample : timeline.memory())
    events.count("resident memory", sample.seconds, "bytes", sample.bytes);
  put_rates(events, spans);
  const bool all_apart = std::ranges::all_of(spans, [](const Span& span) { return span.bands == 1; });
  if (facts.bands_keep_numbers && all_apart) put_queues(events, spans);
  out << "\n],\"otherData\":" << said.dump(-1, ' ', false, json::error_handler_t::replace) << "}\n";
}

}  // namespace sepconv
