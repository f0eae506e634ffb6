// sepconv info FILE: describes a file from its headers alone.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "console.hpp"
#include "core/byte_text.hpp"
#include "core/count_text.hpp"
#include "core/error.hpp"
#include "io/nodata.hpp"
#include "job.hpp"
#include "json_text.hpp"
#include "options.hpp"
#include "pipeline/report/report.hpp"
#include "resume_options.hpp"
#include "text.hpp"

namespace sepconv::app {

namespace {

/// A JSON number if the text is a finite number, else a string. JSON has no infinity or NaN.
nlohmann::ordered_json number_or_text(const std::string& text) {
  const std::optional<double> number = number_of(text);
  return number && std::isfinite(*number) ? nlohmann::ordered_json(*number) : nlohmann::ordered_json(text);
}

bool has_fact(const FileInfo::Page& page, const char* name) {
  return std::any_of(page.facts.begin(), page.facts.end(),
                     [name](const auto& fact) { return fact.first == name; });
}

std::optional<std::int64_t> alpha_of(const FileInfo::Page& page) {
  return alpha_channel(page.metadata, page.spec.channels, page.layout.stored);
}

/// A page as text: a heading, and rows of a name and a value.
struct PageText {
  std::string heading;
  std::vector<std::pair<std::string, std::string>> rows;
};

/// The page as text. Values that its format's facts already contain are omitted.
PageText text_of(const FileInfo::Page& page) {
  const auto& [spec, layout, facts, metadata, stored_bytes] = page;
  if (has_fact(page, "not read")) return {fmt::format("not read: {}", facts.front().second), {}};
  const SampleType stored = layout.stored.value_or(SampleType(spec.type));
  PageText text{fmt::format("{} x {} pixels (columns x rows), {}, {}, {} of pixels", spec.extent.cols,
                            spec.extent.rows, count_text(spec.channels / stored.parts(), "channel"),
                            describe(stored), format_bytes(static_cast<double>(spec.bytes()))),
                {}};
  if (!has_fact(page, "layout") && !has_fact(page, "blocks"))
    text.rows.emplace_back("layout", layout.description);
  if (const auto alpha = alpha_of(page)) text.rows.emplace_back("alpha", fmt::format("channel {}", *alpha));
  text.rows.insert(text.rows.end(), facts.begin(), facts.end());
  for (const std::string& warning : layout.warnings) text.rows.emplace_back("warning", warning);
  if (!has_fact(page, "streams"))
    text.rows.emplace_back("streams", layout.streams ? "yes" : "no: decoded as a whole");
  return text;
}

/// The facts about pixel storage: all but metadata and byte counts.
std::vector<std::pair<std::string, std::string>> layout_facts(const FileInfo::Page& page) {
  constexpr std::string_view kExcluded[] = {"description", "software", "date",       "artist",
                                            "copyright",   "stored",   "pixel size", "channel names"};
  std::vector<std::pair<std::string, std::string>> facts;
  std::ranges::copy_if(page.facts, std::back_inserter(facts), [&](const auto& fact) {
    return std::ranges::find(kExcluded, fact.first) == std::end(kExcluded);
  });
  return facts;
}

/// Whether both pages have the same shape, layout, warnings and metadata, and both or neither have stored
/// pixels. The second page may lack the texts that files store on their first page only.
bool pages_match(const FileInfo::Page& first, const FileInfo::Page& page) {
  Metadata metadata = page.metadata;
  for (std::string Metadata::*text : {&Metadata::software, &Metadata::date_time, &Metadata::artist,
                                      &Metadata::copyright, &Metadata::attributes})
    if ((metadata.*text).empty()) metadata.*text = first.metadata.*text;
  if (metadata.description.empty()) {
    metadata.description = first.metadata.description;
    metadata.describes_several_images = first.metadata.describes_several_images;
    metadata.axes = first.metadata.axes;
  }
  return text_of(first).heading == text_of(page).heading && layout_facts(first) == layout_facts(page) &&
         first.layout.warnings == page.layout.warnings && metadata == first.metadata &&
         (first.stored_bytes > 0) == (page.stored_bytes > 0);
}

/// Prints pages, numbered from `index`. A run of equal pages is summarised in one line after its first page.
void print_pages(const std::vector<FileInfo::Page>& pages, std::int64_t index) {
  for (auto first = pages.begin(); first != pages.end();) {
    const PageText text = text_of(*first);
    print("page {}: {}\n", index, text.heading);
    for (const auto& [name, value] : text.rows) print("  {:<20} {}\n", name, value);
    const auto next =
        std::find_if_not(first + 1, pages.end(), [&](const auto& page) { return pages_match(*first, page); });
    const std::int64_t count = next - first;
    if (count == 2) print("page {}: as page {}\n", index + 1, index);
    if (count > 2) print("pages {} to {}: as page {}\n", index + 1, index + count - 1, index);
    first = next, index += count;
  }
}

/// Prints how the images form a set, then other series, pyramid levels and pages that are not images.
void print_set(const FileInfo& info) {
  if (const std::int64_t images = raster_count(info.axes); images > 1)
    print("  {} images ({}): run, stats and compare take all of them, or those that --page names\n", images,
          to_string(info.axes));
  if (!info.no_set.empty()) print("  {}\n", with_flags(info.no_set));
  constexpr std::size_t kMaxListed = 16;
  for (std::size_t i = 0; i < std::min(kMaxListed, info.series.size()); ++i)
    print("  series s={}: {}\n", i, info.series[i]);
  if (info.series.size() > kMaxListed) print("  and {} more series\n", info.series.size() - kMaxListed);
  for (std::size_t i = 0; i < info.levels.size(); ++i)
    print("  level {}: {} x {} pixels, read by --level {}\n", i + 1, info.levels[i].cols, info.levels[i].rows,
          i + 1);
  for (std::size_t i = 0; i < std::min(kMaxListed, info.others.size()); ++i)
    print("  page {} is not an image of these: {}\n", info.others[i].first, info.others[i].second);
  if (info.others.size() > kMaxListed)
    print("  and {}\n",
          count_text(std::ssize(info.others) - static_cast<std::int64_t>(kMaxListed), "other page"));
}

/// `page` is the requested page, if any.
void print_text(const std::filesystem::path& path, const FileInfo& info, std::optional<int> page) {
  print("{}: {}, {}{}\n", path.string(), info.format,
        info.file_bytes > 0 ? format_bytes(static_cast<double>(info.file_bytes)) + ", " : "",
        count_text(info.page_count, "page"));
  print_set(info);
  print_pages(info.pages, page.value_or(0));
  const std::int64_t index = page.value_or(0) + std::ssize(info.pages);
  if (!page && info.page_count > index) print("and {}\n", count_text(info.page_count - index, "more page"));
}

using nlohmann::ordered_json;

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

/// The complete metadata; numbers are JSON numbers.
ordered_json metadata_json(const Metadata& metadata) {
  ordered_json all = ordered_json::object();
  if (const auto& resolution = metadata.resolution) {
    constexpr const char* kUnits[] = {"", "none", "inch", "centimetre"};
    all["resolution"] = {
        {"x", resolution->x}, {"y", resolution->y}, {"unit", kUnits[static_cast<int>(resolution->unit)]}};
  }
  all["orientation"] = metadata.orientation;
  all["icc_profile_bytes"] = metadata.icc_profile.size();
  all["description"] = text_or_null(metadata.description);
  all["software"] = text_or_null(metadata.software);
  all["date"] = text_or_null(metadata.date_time);
  all["artist"] = text_or_null(metadata.artist);
  all["copyright"] = text_or_null(metadata.copyright);
  all["nodata"] = nullptr;
  if (const auto nodata = nodata_value(metadata)) all["nodata"] = number_or_text(*nodata);
  all["crs"] = nullptr;
  if (const auto epsg = epsg_code(metadata)) all["crs"] = {{"epsg", *epsg}};
  return all;
}

void print_json(const std::filesystem::path& path, const FileInfo& info, std::optional<int> page) {
  ordered_json pages = ordered_json::array();
  std::int64_t index = page.value_or(0);
  for (const FileInfo::Page& listed_page : info.pages) {
    const auto& [spec, layout, facts, metadata, stored_bytes] = listed_page;
    const std::optional<std::int64_t> alpha = alpha_of(listed_page);
    ordered_json facts_json = ordered_json::object();
    for (const auto& [name, value] : facts) facts_json[name] = value;
    const SampleType stored = layout.stored.value_or(SampleType(spec.type));
    pages.push_back({{"page", index++},
                     {"rows", spec.extent.rows},
                     {"cols", spec.extent.cols},
                     {"channels", spec.channels / stored.parts()},
                     {"type", name_of(stored)},
                     {"computed_as", name_of(spec.type)},
                     {"alpha", alpha ? ordered_json(*alpha) : ordered_json()},
                     {"mask", has_fact(listed_page, "mask")},
                     {"bytes", spec.bytes()},
                     {"stored_bytes", stored_bytes},
                     {"layout", layout.description},
                     {"block", {{"rows", layout.block.rows}, {"cols", layout.block.cols}}},
                     {"streams", layout.streams},
                     {"warnings", layout.warnings},
                     {"metadata", metadata_json(metadata)},
                     {"facts", std::move(facts_json)}});
  }
  ordered_json axes = ordered_json::array();
  for (const RasterAxis& axis : info.axes) axes.push_back({{"name", axis.name}, {"size", axis.size}});
  ordered_json levels = ordered_json::array();
  for (const Extent& level : info.levels) levels.push_back({{"rows", level.rows}, {"cols", level.cols}});
  ordered_json others = ordered_json::array();
  for (const auto& [number, description] : info.others)
    others.push_back({{"page", number}, {"what", description}});
  const ordered_json all = {{"file", path.string()},         {"format", info.format},
                            {"file_bytes", info.file_bytes}, {"page_count", info.page_count},
                            {"images", info.images},         {"axes", std::move(axes)},
                            {"series", info.series},         {"levels", std::move(levels)},
                            {"others", std::move(others)},   {"pages", std::move(pages)}};
  print_lines(json_lines(all));
}

/// Describes standard input, which has fewer facts than a file.
FileInfo stream_info(const OpenOptions& open, std::stop_token stop) {
  const auto set = open_input(kStandardStream, open, std::move(stop));
  FileInfo info = describe_image(*set->raster(0), 0);
  info.axes = set->axes();
  info.images = set->count();
  return info;
}

/// Describes a file. Throws IoError or warns if an incomplete result of this name exists.
FileInfo info_of(const std::filesystem::path& path, const OpenOptions& open) {
  check_no_checkpoint(path);
  return file_info(path, open);
}

}  // namespace

void add_info_command(CLI::App& program, Context& context) {
  struct InfoRequest {
    std::filesystem::path path;
    OpenOptions open;
    bool json = false;
  };
  CLI::App* command = program.add_subcommand("info", "Say what a file holds, from its headers alone.");
  const auto request = std::make_shared<InfoRequest>();
  add_input(*command, "FILE", request->path, "image file")->required();
  add_input_options(*command, request->open);
  command->add_flag("--json", request->json, "as JSON");
  command->footer(format_list() + "\n" +
                  examples({"sepconv info scan.tif", "sepconv info scan.tif --json --page 0",
                            "sepconv run scan.tif - reduce:factor=2 -q | sepconv info -"}));
  command->callback([&context, request] {
    context.action = [&context, request] {
      const FileInfo info = request->path == kStandardStream ? stream_info(request->open, context.stop)
                                                             : info_of(request->path, request->open);
      (request->json ? print_json : print_text)(request->path, info, request->open.page);
      return static_cast<int>(kDone);
    };
  });
}

}  // namespace sepconv::app
