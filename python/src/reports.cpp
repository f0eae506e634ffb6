// Reports of runs: facts, summary and timeline.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <sstream>

#include "bindings.hpp"
#include "sepconv/sepconv.hpp"
#include "without_gil.hpp"

namespace sepconv::python {
namespace {

nb::list steps_of(const std::vector<StepReport>& steps) {
  nb::list list;
  for (const StepReport& step : steps) {
    nb::dict facts;
    facts["name"] = step.name;
    facts["busy_seconds"] = step.busy_seconds;
    facts["hidden_seconds"] = step.hidden_seconds;
    facts["bytes"] = step.bytes;
    facts["operations"] = step.operations;
    list.append(facts);
  }
  return list;
}

/// Track, band, begin and end in seconds, bytes.
using SpanFacts = std::tuple<std::string, std::int64_t, double, double, std::int64_t>;

std::vector<SpanFacts> spans_of(const Timeline& timeline) {
  std::vector<SpanFacts> list;
  for (const Span& span : timeline.spans())
    list.emplace_back(span.track, span.band, span.begin, span.end, span.bytes);
  return list;
}

std::string trace_of(const Timeline& timeline) {
  std::ostringstream text;
  write_chrome_trace(text, timeline);
  return text.str();
}

/// Summary and JSON text. Measures the machine's limits first.
std::pair<std::string, std::string> texts_of(const RunReport& report) {
  const RunLimits limits = measure_limits(report);
  return {summary(report, limits), to_json(report, limits)};
}
std::pair<std::string, std::string> texts_of(const GemmReport& report) {
  return {summary(report), to_json(report)};
}

template <class Report>
nb::class_<Report> bind_report(nb::module_& module, const char* name) {
  return nb::class_<Report>(module, name)
      .def_ro("wall_seconds", &Report::wall_seconds)
      .def_ro("startup_seconds", &Report::startup_seconds)
      .def_ro("bottleneck", &Report::bottleneck)
      .def_ro("device", &Report::device)
      .def_prop_ro("steps", [](const Report& report) { return steps_of(report.steps); })
      .def_prop_ro("spans", [](const Report& report) { return spans_of(report.timeline); })
      .def_prop_ro("trace", [](const Report& report) { return trace_of(report.timeline); })
      .def_prop_ro("warnings", [](const Report& report) { return sentences_of(report.plan.warnings); })
      .def("texts", [](const Report& report) {
        std::pair<std::string, std::string> texts;
        {
          const WithoutGil released;
          texts = texts_of(report);
        }
        return nb::make_tuple(sentence_of(texts.first), sentence_of(texts.second));
      });
}

}  // namespace

void bind_reports(nb::module_& module) {
  bind_report<RunReport>(module, "NativeReport").def_prop_ro("plan", [](const RunReport& report) {
    return sentence_of(to_json(report.plan));
  });
  bind_report<GemmReport>(module, "NativeProductReport");
}

}  // namespace sepconv::python
