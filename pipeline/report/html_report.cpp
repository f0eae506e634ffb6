#include "pipeline/report/html_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

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

bool is_number(const json& value) { return value.is_number(); }
bool is_number_or_null(const json& value) { return value.is_number() || value.is_null(); }
bool is_bool(const json& value) { return value.is_boolean(); }
bool is_text(const json& value) { return value.is_string(); }
bool is_object(const json& value) { return value.is_object(); }
template <bool (*is_element)(const json&), std::size_t count>
bool is_list(const json& value) {
  return value.is_array() && value.size() == count && std::ranges::all_of(value, is_element);
}
bool is_span(const json& value) {
  return is_list<is_number_or_null, 4>(value) && value[0].is_number() && value[1].is_number() &&
         value[3].is_number();
}

/// A key that report.html reads: the names of the keys that lead to it, where '*' is each element of a list,
/// and its type. Keys whose name ends with '?' may be missing.
struct ReadKey {
  std::string_view path;
  bool (*has_type)(const json&);
};
constexpr ReadKey kRunKeys[] = {{"wall_seconds", is_number},
                                {"device", is_text},
                                {"peak_rss_bytes", is_number},
                                {"steps/*/name", is_text},
                                {"steps/*/busy_seconds", is_number},
                                {"steps/*/bytes_per_second?", is_number},
                                {"steps/*/pixels_per_second?", is_number},
                                {"steps/*/share_of_limit?", is_number_or_null},
                                {"steps/*/hidden_seconds?", is_number},
                                {"steps/*/spans?/*", is_span},
                                {"plan", is_object},
                                {"plan/chain?/*", is_text},
                                {"plan/warnings?/*", is_text},
                                {"plan/notes?/*", is_text},
                                {"plan/memory_bytes?/total", is_number},
                                {"plan/memory_bytes?/ceiling", is_number},
                                {"rasters?", is_number},
                                {"pixels?", is_number},
                                {"advice?", is_text},
                                {"bands?/first", is_number},
                                {"bands?/end", is_number},
                                {"overlap?/copy_hidden", is_number},
                                {"overlap?/speed_up", is_number},
                                {"memory?/*", is_list<is_number, 2>},
                                {"texts?/source", is_text},
                                {"texts?/result", is_text},
                                {"texts?/limits", is_text},
                                {"texts?/predicted", is_text},
                                {"files?/source/name", is_text},
                                {"files?/source/facts/*", is_list<is_text, 2>},
                                {"files?/result/name", is_text},
                                {"files?/result/facts/*", is_list<is_text, 2>},
                                {"plan_facts?/*", is_list<is_text, 2>},
                                {"response?/chain", is_text},
                                {"response?/notes/*", is_text},
                                {"response?/reason?", is_text},
                                {"response?/x?/*", is_number},
                                {"response?/y?/*", is_number},
                                {"command?", is_text},
                                {"pictures?", is_object}};
/// The keys of "pictures" without a reason, and of each side.
constexpr ReadKey kPictureKeys[] = {
    {"part", is_text},           {"channels", is_number},       {"shown_channels", is_number},
    {"same_positions", is_bool}, {"may_have_missing", is_bool}, {"source", is_object},
    {"result", is_object}};
constexpr ReadKey kSideKeys[] = {{"overview/png", is_text},
                                 {"overview/cols", is_number},
                                 {"overview/rows", is_number},
                                 {"detail/png", is_text},
                                 {"detail/cols", is_number},
                                 {"detail/rows", is_number},
                                 {"low", is_number_or_null},
                                 {"high", is_number_or_null},
                                 {"histogram/low", is_number_or_null},
                                 {"histogram/high", is_number_or_null},
                                 {"histogram/counts/*/*", is_number},
                                 {"histogram/samples", is_number},
                                 {"histogram/ends_count_outliers", is_bool},
                                 {"histogram/nan_fraction", is_number_or_null},
                                 {"histogram/mean", is_number_or_null},
                                 {"histogram/deviation", is_number_or_null},
                                 {"histogram/least", is_number_or_null},
                                 {"histogram/most", is_number_or_null}};

bool is_readable(const json& value, std::string_view path, bool (*has_type)(const json&)) {
  if (path.empty()) return has_type(value);
  const std::size_t slash = std::min(path.find('/'), path.size());
  std::string_view name = path.substr(0, slash);
  const std::string_view rest = path.substr(std::min(slash + 1, path.size()));
  if (name == "*")
    return value.is_array() && std::ranges::all_of(value, [&](const json& element) {
             return is_readable(element, rest, has_type);
           });
  const bool is_optional = name.ends_with('?');
  if (is_optional) name.remove_suffix(1);
  if (!value.is_object()) return false;
  const auto found = value.find(name);
  return found == value.end() ? is_optional : is_readable(*found, rest, has_type);
}

/// The path of the first key that is missing or has another type; else empty.
std::string_view find_unreadable(const json& value, std::span<const ReadKey> keys) {
  const auto found = std::ranges::find_if_not(
      keys, [&](const ReadKey& key) { return is_readable(value, key.path, key.has_type); });
  return found == keys.end() ? "" : found->path;
}

std::string_view find_unreadable(const json& run) {
  std::string_view path = find_unreadable(run, kRunKeys);
  if (!path.empty() || !run.contains("pictures")) return path;
  const json& pictures = run.at("pictures");
  if (pictures.contains("reason")) return pictures.at("reason").is_string() ? "" : "pictures/reason";
  path = find_unreadable(pictures, kPictureKeys);
  for (const char* side : {"source", "result"})
    if (path.empty()) path = find_unreadable(pictures.at(side), kSideKeys);
  return path;
}

void check_is_of_run(std::string_view text, std::string_view name) {
  const json run = json::parse(text, nullptr, false);
  const std::string_view path = find_unreadable(run);
  if (run.is_discarded() || !path.empty())
    throw IoError(fmt::format("{} is not the JSON of a run ({}); name what to_json() of a run wrote", name,
                              run.is_discarded() ? "no JSON" : fmt::format("{} is missing or wrong", path)));
}

}  // namespace

std::string with_pictures(std::string_view run_json, const RunReport& report,
                          const PreviewCollector& previews) {
  json document = json::parse(run_json);
  document["pictures"] = pictures_json(report, previews);
  return json_line(document);
}

std::string to_html(std::string_view run_json, std::string_view name) {
  check_is_of_run(run_json, name);
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
