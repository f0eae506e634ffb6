#include "pipeline/report/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/byte_text.hpp"
#include "pipeline/report/html_report_assets.hpp"
#include "pipeline/report/html_report_drawings.hpp"
#include "pipeline/report/html_report_parts.hpp"
#include "pipeline/report/scaled_chain.hpp"
#include "pipeline/report/step_facts.hpp"

namespace sepconv {
namespace {

std::string definition_list(const PageFacts::Named& facts) {
  std::string rows;
  for (const auto& [name, value] : facts)
    rows += fmt::format("<dt>{}</dt><dd>{}</dd>\n", html_text(name), html_text(value));
  return "<dl>" + rows + "</dl>\n";
}

std::string steps_table(const RunReport& report, const RunLimits& limits) {
  std::string rows;
  for (const StepFacts& step : step_facts(report, limits))
    rows += fmt::format(
        "<tr><td>{}</td><td>{:.3f} s</td><td>{:.0f}</td><td>{:.1f}</td><td>{}</td><td>{:.0f} %</td></tr>\n",
        html_text(step.name), step.busy_seconds, step.bytes_per_second / 1e6, step.pixels_per_second / 1e6,
        limit_percent_text(step), 100 * step.hidden_fraction);
  return "<div class=\"scroll\"><table><tr><th>step</th><th>busy</th><th>MB/s</th><th>Mpix/s</th><th>of "
         "limit</th><th>hidden</th></tr>\n" +
         rows + "</table></div>\n";
}

std::string overlap_text(const RunReport& report) {
  if (std::ranges::all_of(report.steps, [](const StepReport& step) { return step.hidden_seconds == 0; }))
    return report.bands.count() * report.rasters == 1 ? "With one band no two steps were busy at once."
                                                      : "No two steps were busy at once.";
  const Overlap overlap = overlap_of(report);
  return fmt::format(
      "{:.0f} % of the copying was hidden behind other steps; one step at a time would have taken {:.2f} "
      "times as long.",
      100 * overlap.copy_hidden, overlap.speed_up);
}

std::string time_section(const RunReport& report, const RunLimits& limits) {
  constexpr const char* kButtons =
      "<p class=\"buttons\"><button type=\"button\" data-act=\"in\" aria-label=\"Zoom in\">+</button><button "
      "type=\"button\" data-act=\"out\" aria-label=\"Zoom out\">&minus;</button><button type=\"button\" "
      "data-act=\"left\" aria-label=\"Earlier\">&larr;</button><button type=\"button\" data-act=\"right\" "
      "aria-label=\"Later\">&rarr;</button><button type=\"button\" data-act=\"all\">all</button></p>\n";
  return section(
      "Where the time went",
      paragraph(advice(report, limits)) + timeline_drawing(report) + kButtons +
          paragraph(
              "A block is a band in a step; the buttons, plus, minus and the arrow keys, dragging, and the "
              "wheel with Shift or Ctrl zoom and move.",
              "note screen") +
          steps_table(report, limits) +
          paragraph(overlap_text(report) +
                        " Hidden: while another step was busy. Of limit: the minimum time that this "
                        "machine's memory, arithmetic or bus needs, over the time that it took.",
                    "note") +
          paragraph("Limits: " + limits_text(report.plan, limits) +
                        ". Predicted: " + to_string(report.plan.predicted) + ".",
                    "note"));
}

std::string memory_section(const RunReport& report) {
  const auto bytes = [](std::int64_t count) { return format_bytes(static_cast<double>(count)); };
  return section(
      "Memory",
      memory_drawing(report) +
          fmt::format(
              "<p class=\"note\"><span class=\"key k1\">resident, {} at the peak</span><span class=\"key "
              "k4\">planned, {}</span><span class=\"key k3\">ceiling, {}{}</span></p>\n",
              bytes(report.peak_rss_bytes), bytes(report.plan.memory.total()),
              bytes(report.plan.max_memory_bytes), draws_ceiling(report) ? "" : ", far above this picture") +
          paragraph("Resident memory includes the program itself and the data collected for this page.",
                    "note"));
}

std::string filter_section(const Chain& chain) {
  const ScaledChain in_plane = scaled_chain(chain, 1);
  const ChainResponse response = response_of(in_plane.chain);
  std::string content = paragraph(chain.text());
  for (const std::string& note : in_plane.notes)
    content += paragraph("In what follows " + note + ".", "note");
  if (!response.unavailable_reason.empty())
    return section("The filter", content + paragraph(response.unavailable_reason));
  return section(
      "The filter",
      content + "<div class=\"pair\">" +
          figure(taps_drawing(response), "Response to a line one pixel wide: the taps of the whole chain") +
          figure(frequencies_drawing(response), "Frequency response; the level line is 1") +
          "</div>\n<p class=\"note\">" +
          (response.is_isotropic() ? "<span class=\"key k1\">along x and along y</span>"
                                   : "<span class=\"key k1\">along x</span><span class=\"key "
                                     "k2\">along y</span>") +
          "</p>\n");
}

/// "gaussian, abs".
std::string names_of(const Chain& chain) {
  std::string names;
  for (const StagePtr& stage : chain.stages())
    names += (names.empty() ? "" : ", ") + stage->text().substr(0, stage->text().find_first_of(": "));
  return names.empty() ? "copying" : names;
}

std::string run_sentence(const RunReport& report, const PageFacts& facts) {
  const Plan& plan = report.plan;
  const auto rasters = report.rasters == 1 ? "" : fmt::format("{} images of ", report.rasters);
  return fmt::format(
      "{}, {}{}, became {}, {}, by {}, in {:.2f} s: {:.0f} Mpix/s on {}.", facts.source, rasters,
      source_text(plan), facts.result, sink_text(plan), names_of(plan.given), report.wall_seconds,
      safe_ratio(static_cast<double>(report.pixels), report.wall_seconds) / 1e6, report.device);
}

}  // namespace

std::string to_html(const RunReport& report, const RunLimits& limits, const PageFacts& facts) {
  std::string warnings;
  for (const std::string& warning : report.plan.warnings) warnings += paragraph("Warning: " + warning);
  return fmt::format(
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
             "content=\"width=device-width, "
             "initial-scale=1\">\n<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n"
             "<main>\n<h1>{}</h1>\n{}",
             html_text(facts.result + ", by sepconv"), kPageStyle, html_text(run_sentence(report, facts)),
             warnings) +
         pixels_section(report, facts.pictures) + time_section(report, limits) + memory_section(report) +
         filter_section(report.plan.planes ? report.plan.planes->given : report.plan.given) +
         section("The plan and why", definition_list(facts.plan)) +
         section("The files", "<h3>Source</h3>" + definition_list(facts.of_source) + "<h3>Result</h3>" +
                                  definition_list(facts.of_result)) +
         section("Again", fmt::format("<pre>{}</pre>\n", html_text(facts.command))) +
         fmt::format("</main>\n<script>{}</script>\n</body>\n</html>\n", kPageScript);
}

}  // namespace sepconv
