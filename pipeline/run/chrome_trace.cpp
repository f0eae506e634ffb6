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

/// In the order in which a band passes them.
constexpr std::array<std::string_view, 7> kSteps{"read",   "upload",   "decode", "compute",
                                                 "encode", "download", "write"};

std::size_t step_index(const std::string& track) {
  return static_cast<std::size_t>(std::ranges::find(kSteps, step_of(track)) - kSteps.begin());
}

class EventWriter {
 public:
  explicit EventWriter(std::ostream& out) : out_(out) {}

  void put(json event) {
    event["pid"] = 1;
    // Names come from callers; invalid UTF-8 is replaced instead of throwing an exception.
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

void put_slice(EventWriter& writer, const Span& span, int thread) {
  const bool is_closing = span.band == Span::kClosing;
  json args = {{"bytes", span.bytes}, {"image", span.image}};
  if (!is_closing) args["band"] = span.band;
  if (span.bands > 1) args["bands"] = span.bands;
  writer.put({{"ph", "X"},
              {"tid", thread},
              {"name", is_closing ? "close" : step_of(span.track)},
              {"cat", span.track},
              {"ts", span.begin * kMicroseconds},
              {"dur", (span.end - span.begin) * kMicroseconds},
              {"args", std::move(args)}});
}

/// Writes spans as slices. Slices of one thread must not overlap unless one contains the other, so
/// overlapping spans of a track get further threads.
void put_slices(EventWriter& writer, const std::vector<Span>& spans) {
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
      const auto threads_of_track = std::ranges::count(threads, span.track, &Thread::track);
      threads.push_back({span.track, 0});
      found = threads.end() - 1;
      writer.name_thread(static_cast<int>(threads.size()),
                         threads_of_track == 0
                             ? span.track
                             : span.track + " (" + std::to_string(threads_of_track + 1) + ")");
    }
    found->end = span.end;
    put_slice(writer, span, static_cast<int>(found - threads.begin()) + 1);
  }
}

/// Changes of a counter by time in seconds.
using Changes = std::map<double, std::int64_t>;

void put_running_sums(EventWriter& writer, const std::map<std::string, Changes>& counters, const char* unit,
                      double unit_size) {
  for (const auto& [name, changes] : counters) {
    std::int64_t sum = 0;
    for (const auto& [seconds, change] : changes)
      writer.count(name, seconds, unit, static_cast<double>(sum += change) / unit_size);
  }
}

/// Writes each track's byte rate over time; the rates of overlapping slices are added.
void put_rates(EventWriter& writer, const std::vector<Span>& spans) {
  std::map<std::string, Changes> counters;
  for (const Span& span : spans) {
    if (span.bytes == 0 || span.end <= span.begin) continue;
    // Integers, so that the sum returns to exactly 0.
    const std::int64_t rate = std::llround(static_cast<double>(span.bytes) / (span.end - span.begin));
    Changes& changes = counters[span.track + " rate"];
    changes[span.begin] += rate;
    changes[span.end] -= rate;
  }
  put_running_sums(writer, counters, "MB/s", 1e6);
}

/// Writes the number of bands that wait between the end of a step and the start of the next.
void put_queues(EventWriter& writer, const std::vector<Span>& spans) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::size_t>, const Span*>
      spans_by_step;  // image, band, step
  for (const Span& span : spans) spans_by_step[{span.image, span.band, step_index(span.track)}] = &span;
  std::map<std::string, Changes> counters;
  for (auto current = spans_by_step.begin(); current != spans_by_step.end(); ++current) {
    const auto next = std::next(current);
    if (next == spans_by_step.end()) break;
    const auto& [image, band, step] = current->first;
    const auto& [next_image, next_band, next_step] = next->first;
    if (image != next_image || band != next_band) continue;
    Changes& changes = counters["waiting for " + step_of(next->second->track)];
    const double wait_begin = current->second->end;
    changes[wait_begin] += 1;
    changes[std::max(wait_begin, next->second->begin)] -= 1;
  }
  put_running_sums(writer, counters, "bands", 1);
}

}  // namespace

void write_chrome_trace(std::ostream& out, const Timeline& timeline, const TraceFacts& facts) {
  std::vector<Span> spans = timeline.spans();
  std::ranges::stable_sort(spans, [](const Span& a, const Span& b) {
    return std::tuple(step_index(a.track), a.track, a.begin) <
           std::tuple(step_index(b.track), b.track, b.begin);
  });
  json metadata = json::object();
  if (!facts.command.empty()) metadata["command"] = facts.command;
  if (!facts.plan.empty()) metadata["plan"] = json::parse(facts.plan);
  EventWriter writer(out);
  writer.put({{"ph", "M"}, {"name", "process_name"}, {"args", {{"name", "sepconv"}}}});
  if (!metadata.empty())
    writer.put({{"ph", "i"}, {"s", "p"}, {"tid", 0}, {"ts", 0}, {"name", "sepconv"}, {"args", metadata}});
  put_slices(writer, spans);
  for (const MemorySample& sample : timeline.memory())
    writer.count("resident memory", sample.seconds, "bytes", sample.bytes);
  put_rates(writer, spans);
  const bool are_unmerged = std::ranges::all_of(spans, [](const Span& span) { return span.bands == 1; });
  if (facts.band_numbers_match && are_unmerged) put_queues(writer, spans);
  out << "\n],\"otherData\":" << metadata.dump(-1, ' ', false, json::error_handler_t::replace) << "}\n";
}

}  // namespace sepconv
