#include "pipeline/report/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base64.hpp"
#include "core/error.hpp"
#include "io/json_text.hpp"
#include "pipeline/report/preview_collector.hpp"

namespace sepconv {

/// The text of report.html, defined by a file that CMake makes.
extern const char* const kReportTemplate;

namespace {

using nlohmann::json;

constexpr std::string_view kPlaceholder = "{{JSON}}";

json picture_json(const std::vector<std::byte>& png, Extent part) {
  return {{"png", base64(png)}, {"cols", part.cols}, {"rows", part.rows}};
}

json histogram_json(const SampledPixels& pixels) {
  const Histogram histogram = histogram_of(pixels);
  return {{"low", histogram.low},
          {"high", histogram.high},
          {"counts", histogram.counts},
          {"samples", histogram.samples},
          {"ends_count_outliers", histogram.ends_count_outliers},
          {"nan_fraction", histogram.nan_fraction},
          {"mean", histogram.mean},
          {"deviation", histogram.deviation},
          {"least", histogram.least},
          {"most", histogram.most}};
}

json side_json(const PreviewCollector::ImageSamples& samples) {
  const Stretch stretch = stretch_of(samples.overview.type(), samples.overview.values());
  return {{"overview", picture_json(samples.overview_png(stretch), samples.overview.area().extent())},
          {"detail", picture_json(png_of(samples.detail, stretch), samples.detail.area().extent())},
          {"low", stretch.low},
          {"high", stretch.high},
          {"histogram", histogram_json(samples.overview)}};
}

/// The plane and the image that pictures show; empty if the run has only one.
std::string part_text(const RunReport& report, const PreviewCollector& previews) {
  std::string text;
  if (previews.plane()) {
    const ImageSpec& source = report.plan.source();
    text = fmt::format(", of plane {} of {} along z", *previews.plane() + 1, source.extent.rows);
    if (source.extent.cols > report.plan.planes->source.area()) text += ", the first there";
  }
  return text + (report.rasters == 1 ? "" : ", of the first image");
}

json pictures_json(const RunReport& report, const PreviewCollector& previews) {
  if (report.pixels < report.rasters * report.plan.region.area())
    return {{"reason", "None: this run made a part of the result only."}};
  if (!previews.source().overview.seen() || !previews.result().overview.seen())
    return {{"reason",
             "None: the pixels of this run did not pass through the host's memory, because a GPU decoded or "
             "encoded the blocks of the file."}};
  return {{"part", part_text(report, previews)},
          {"channels", report.plan.source().channels},
          {"shown_channels", previews.source().overview.channels()},
          {"same_positions", previews.same_positions()},
          {"may_have_missing", previews.source().overview.may_have_missing()},
          {"source", side_json(previews.source())},
          {"result", side_json(previews.result())}};
}

/// Whether the page can show it: the keys that every version wrote, with their types.
bool is_of_run(const json& document) {
  const auto has = [](const json& object, const char* key, auto is) {
    return object.is_object() && object.contains(key) && (object.at(key).*is)();
  };
  const auto is_step = [&has](const json& step) {
    return has(step, "name", &json::is_string) && has(step, "busy_seconds", &json::is_number);
  };
  return has(document, "wall_seconds", &json::is_number) && has(document, "device", &json::is_string) &&
         has(document, "plan", &json::is_object) && has(document, "steps", &json::is_array) &&
         std::ranges::all_of(document.at("steps"), is_step);
}

}  // namespace

std::string with_pictures(std::string_view run_json, const RunReport& report,
                          const PreviewCollector& previews) {
  json document = json::parse(run_json);
  document["pictures"] = pictures_json(report, previews);
  return json_line(document);
}

std::string to_html(std::string_view run_json, std::string_view name) {
  if (!is_of_run(json::parse(run_json, nullptr, false)))
    throw InvalidArgument(
        fmt::format("{} is not the JSON of a run; name what to_json() of a run wrote", name));
  const std::string_view whole = kReportTemplate;
  const std::size_t place = whole.find(kPlaceholder);
  std::string page(whole.substr(0, place));
  // In JSON, '<' occurs in strings only. Escaped, none of them ends the script element or begins a comment.
  for (const char character : run_json) {
    if (character == '<')
      page += "\\u003c";
    else
      page += character;
  }
  page += whole.substr(place + kPlaceholder.size());
  return page;
}

}  // namespace sepconv
