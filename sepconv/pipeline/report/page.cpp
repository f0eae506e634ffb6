#include "sepconv/pipeline/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sepconv/core/base64.hpp"
#include "sepconv/core/bytes_text.hpp"
#include "sepconv/pipeline/report/facts.hpp"
#include "sepconv/pipeline/report/page_assets.hpp"
#include "sepconv/pipeline/report/page_drawings.hpp"
#include "sepconv/pipeline/report/run_pictures.hpp"

namespace sepconv {
namespace {

std::string size_text(Extent extent) { return fmt::format("{} x {}", extent.cols, extent.rows); }

std::string section(std::string_view heading, std::string_view inside) {
  return fmt::format("<section><h2>{}</h2>\n{}</section>\n", heading, inside);
}

std::string paragraph(std::string_view text, std::string_view kind = "") {
  return fmt::format("<p{}>{}</p>\n", kind.empty() ? "" : fmt::format(" class=\"{}\"", kind),
                     html_text(text));
}

std::string figure(std::string_view inside, std::string_view caption) {
  return fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", inside, html_text(caption));
}

std::string list(const PageFacts::Named& facts) {
  std::string rows;
  for (const auto& [name, value] : facts)
    rows += fmt::format("<dt>{}</dt><dd>{}</dd>\n", html_text(name), html_text(value));
  return "<dl>" + rows + "</dl>\n";
}

std::string image(const std::string& data, std::string_view alt, std::string_view kind = "") {
  return fmt::format("<img src=\"data:image/png;base64,{}\" alt=\"{}\"{}>", data, html_text(alt),
                     kind.empty() ? "" : fmt::format(" class=\"{}\"", kind));
}

/// One side's pixels as the page shows them.
struct Shown {
  std::string data;   // of a PNG
  std::string range;  // what black and white are
  Extent part;        // pixels of the image
};

Shown shown(const SampledPixels& pixels, const Stretch& stretch) {
  std::string range =
      fmt::format("black is {}, white is {}", short_number(stretch.low), short_number(stretch.high));
  return {base64(png_of(pixels, stretch)), std::move(range), pixels.area().extent()};
}

struct Pictures {
  Shown source_all, result_all, source_detail, result_detail;
};

Pictures pictures_of(const RunPictures& seen) {
  const auto stretch = [](const SampledPixels& pixels) { return stretch_of(pixels.type(), pixels.values()); };
  const Stretch source = stretch(seen.source().all), result = stretch(seen.result().all);
  return {shown(seen.source().all, source), shown(seen.result().all, result),
          shown(seen.source().detail, source), shown(seen.result().detail, result)};
}

std::string side_by_side(const Shown& source, const Shown& result, std::string_view of_what, bool for_print) {
  const auto one = [&](const Shown& side, std::string_view name) {
    return figure(image(side.data, fmt::format("{} of the {}", of_what, name)),
                  fmt::format("{}, {} pixels: {}", name, size_text(side.part), side.range));
  };
  return fmt::format("<div class=\"pair{}\">{}{}</div>\n", for_print ? " both" : "", one(source, "source"),
                     one(result, "result"));
}

std::string slider(const Pictures& pictures) {
  const Shown& result = pictures.result_detail;
  // The picture before is stretched to the one after, which may be of another size.
  const std::string before = image(pictures.source_detail.data, "Detail of the source", "before");
  const std::string after = image(result.data, "Detail of the result", "after");
  return fmt::format(
             "<div style=\"max-width:{0}px\"><div class=\"slider\" "
             "style=\"width:100%;--shape:{0}/{1}\">{2}{3}<input "
             "type=\"range\" min=\"0\" max=\"100\" value=\"50\" step=\"1\" aria-label=\"How much of the "
             "picture is "
             "before\"></div>\n<div class=\"ends note\"><span>before</span><span>after</span></div></div>\n",
             result.part.cols, result.part.rows, before, after) +
         side_by_side(pictures.source_detail, result, "Detail", true);
}

std::string histogram(const SampledPixels& pixels, std::string_view name) {
  const Histogram found = histogram_of(pixels);
  std::string caption = fmt::format("{}: mean {}, deviation {}, from {} to {}, of {} samples", name,
                                    short_number(found.mean), short_number(found.deviation),
                                    short_number(found.least), short_number(found.most), found.samples);
  if (found.nan_share > 0)
    caption +=
        fmt::format("; {:.2g} % are not-a-number, which pictures show as black", 100 * found.nan_share);
  if (found.nan_share == 1) return paragraph(fmt::format("All samples of the {} are not-a-number.", name));
  return figure(histogram_drawing(found, name), caption);
}

std::string pixels_section(const RunReport& report, const RunPictures* seen) {
  if (report.pixels < report.rasters * report.plan.region.area())
    return section("Pictures",
                   paragraph("There are none: this run made a part of the result, and saw no other."));
  if (seen == nullptr || !seen->source().all.seen() || !seen->result().all.seen())
    return section(
        "Pictures",
        paragraph("There are none: pixels of this run did not pass through the host's memory, because a "
                  "GPU decoded or encoded the blocks of the file."));
  const Pictures pictures = pictures_of(*seen);
  std::string text;
  const std::string detail =
      seen->same_places() ? slider(pictures)
                          : side_by_side(pictures.source_detail, pictures.result_detail, "Detail", false);
  text +=
      section("Before and after", paragraph(fmt::format("{} pixels from the middle, at full resolution{}.",
                                                        size_text(pictures.result_detail.part),
                                                        report.rasters == 1 ? "" : ", of the first image")) +
                                      detail);
  text += section("All of it", side_by_side(pictures.source_all, pictures.result_all, "Overview", false));
  const std::int64_t shown = seen->source().all.channels();
  const std::int64_t channels = report.plan.source().channels;
  text += section("Values", (shown == channels ? ""
                                               : paragraph(fmt::format("Of {} channels the first{}.",
                                                                       channels, shown == 1 ? "" : " three"),
                                                           "note")) +
                                "<div class=\"pair\">" + histogram(seen->source().all, "source") +
                                histogram(seen->result().all, "result") + "</div>\n");
  return text;
}

std::string steps_table(const RunReport& report, const RunLimits& limits) {
  std::string rows;
  for (const StepFacts& step : step_facts(report, limits))
    rows += fmt::format(
        "<tr><td>{}</td><td>{:.3f} s</td><td>{:.0f}</td><td>{:.1f}</td><td>{}</td><td>{:.0f} %</td></tr>\n",
        html_text(step.name), step.busy_seconds, step.bytes_per_second / 1e6, step.pixels_per_second / 1e6,
        share_text(step), 100 * step.hidden_share);
  return "<div class=\"scroll\"><table><tr><th>step</th><th>busy</th><th>MB/s</th><th>Mpix/s</th><th>of "
         "limit</th><th>hidden</th></tr>\n" +
         rows + "</table></div>\n";
}

std::string time_section(const RunReport& report, const RunLimits& limits) {
  const Overlap overlap = overlap_of(report);
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
          paragraph(fmt::format(
                        "{:.0f} % of the copying was hidden behind other steps; one step at a time would "
                        "have taken {:.2f} times as long. Hidden: while another step was busy. Of limit: the "
                        "least time that this machine's memory, arithmetic or bus needs, over the time that "
                        "it took.",
                        100 * overlap.copy_hidden, overlap.speed_up),
                    "note") +
          paragraph(
              limits_text(report.plan, limits) + ". Predicted: " + to_string(report.plan.predicted) + ".",
              "note"));
}

std::string memory_section(const RunReport& report) {
  const auto bytes = [](std::int64_t count) { return format_bytes(static_cast<double>(count)); };
  return section(
      "Memory",
      memory_drawing(report) +
          fmt::format(
              "<p class=\"note\"><span class=\"key k1\">resident, {} at the peak</span><span class=\"key "
              "k4\">planned, {}</span><span class=\"key k3\">ceiling, {}</span></p>\n",
              bytes(report.peak_rss_bytes), bytes(report.plan.memory.total()),
              bytes(report.plan.max_memory_bytes)) +
          paragraph("What is resident has the program itself in it, and what it keeps for this page.",
                    "note"));
}

std::string filter_section(const Chain& chain) {
  const ChainResponse response = response_of(chain);
  const std::string given = paragraph(chain.text());
  if (!response.why_not.empty()) return section("The filter", given + paragraph(response.why_not));
  return section("The filter",
                 given + "<div class=\"pair\">" +
                     figure(taps_drawing(response),
                            "What becomes of a line of one pixel's width: the taps of the whole chain") +
                     figure(frequencies_drawing(response), "Frequency response; the level line is 1") +
                     "</div>\n<p class=\"note\">" +
                     (response.same_along_both() ? "<span class=\"key k1\">along x and along y</span>"
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

std::string did(const RunReport& report, const PageFacts& facts) {
  const Plan& plan = report.plan;
  const auto rasters = report.rasters == 1 ? "" : fmt::format("{} images of ", report.rasters);
  return fmt::format("{}, {}{} pixels, became {}, {} pixels, by {}, in {:.2f} s: {:.0f} Mpix/s on {}.",
                     facts.source, rasters, size_text(plan.source().extent), facts.result,
                     size_text(plan.sink().extent), names_of(plan.given), report.wall_seconds,
                     share(static_cast<double>(report.pixels), report.wall_seconds) / 1e6, report.device);
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
             html_text(facts.result + ", by sepconv"), kPageStyle, html_text(did(report, facts)), warnings) +
         pixels_section(report, facts.pictures) + time_section(report, limits) + memory_section(report) +
         filter_section(report.plan.given) + section("The plan and why", list(facts.plan)) +
         section("The files",
                 "<h3>Source</h3>" + list(facts.of_source) + "<h3>Result</h3>" + list(facts.of_result)) +
         section("Again", fmt::format("<pre>{}</pre>\n", html_text(facts.command))) +
         fmt::format("</main>\n<script>{}</script>\n</body>\n</html>\n", kPageScript);
}

}  // namespace sepconv
