// Selects the pages of a TIFF that are the rasters of a set.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/count_text.hpp"
#include "io/stack/stack.hpp"
#include "io/tiff/tiff_set.hpp"

namespace sepconv {
namespace {

using Kind = TiffEntries::Kind;

std::string form_text(const TiffForm& form) {
  return fmt::format("{} x {} pixels of {} x {} bits", form.extent.cols, form.extent.rows, form.channels,
                     form.bits);
}

bool are_like(const TiffCatalog& catalog, const std::vector<std::int64_t>& pages) {
  return std::ranges::all_of(pages, [&](std::int64_t page) {
    return catalog.page(page).form.is_like(catalog.page(pages.front()).form);
  });
}

/// Adds images that are neither rasters nor in the description, and reduced images that are not levels of any
/// image.
void add_other_pages(const TiffCatalog& catalog, TiffRasters& rasters) {
  std::set<std::uint64_t> known;
  for (const std::int64_t page : rasters.pages) known.insert(catalog.page(page).offset);
  for (const auto& [page, name] : rasters.other_pages) known.insert(catalog.page(page).offset);
  for (const std::int64_t page : catalog.images()) {
    for (const std::uint64_t level : catalog.levels(page)) known.insert(level);
  }
  for (std::int64_t page = 0; page < std::ssize(catalog.pages()); ++page) {
    const TiffCatalog::Page& info = catalog.page(page);
    if (info.kind == Kind::mask || known.contains(info.offset)) continue;
    rasters.other_pages.emplace_back(
        page, fmt::format("{} of {}", info.kind == Kind::image ? "image" : "overview of none, an image",
                          form_text(info.form)));
  }
}

/// "2 of 64 x 48 pixels of 1 x 8 bits (page 0 and on)".
std::string refusal_of_mixed_images(const TiffCatalog& catalog) {
  struct Group {
    const TiffForm* form;
    std::int64_t first, count;
  };
  std::vector<Group> groups;
  for (const std::int64_t page : catalog.images()) {
    const TiffForm& form = catalog.page(page).form;
    const auto same =
        std::ranges::find_if(groups, [&](const Group& group) { return group.form->is_like(form); });
    if (same != groups.end()) {
      ++same->count;
    } else if (groups.size() < 4) {
      groups.push_back({&form, page, 1});
    }
  }
  std::string list;
  for (const Group& group : groups)
    list += fmt::format("{}{} of {} from page {} on", list.empty() ? "" : ", ", group.count,
                        form_text(*group.form), group.first);
  return fmt::format(
      "holds {} images that are not of one size and type ({}); name equal ones with OpenOptions::select, "
      "like 0 or 0-9",
      catalog.images().size(), list);
}

TiffRasters plain_pages(const TiffCatalog& catalog, std::vector<std::string> warnings) {
  TiffRasters rasters{.pages = catalog.images(), .warnings = std::move(warnings)};
  if (catalog.is_aperio()) {
    rasters.pages = {0};
    for (std::int64_t page = 1; page < std::ssize(catalog.pages()); ++page) {
      if (std::string name = catalog.aperio_name(page); !name.empty())
        rasters.other_pages.emplace_back(page, std::move(name));
    }
    return rasters;
  }
  if (!are_like(catalog, rasters.pages)) rasters.refusal = refusal_of_mixed_images(catalog);
  if (rasters.refusal.empty() && rasters.pages.size() > 1)
    rasters.axes = {{"page", std::ssize(rasters.pages)}};
  return rasters;
}

/// Selects the pages of a stack by its description.
TiffRasters described_pages(const TiffCatalog& catalog, Stack stack) {
  const std::vector<std::int64_t>& images = catalog.images();
  TiffRasters rasters{.pages = std::move(stack.pages), .axes = std::move(stack.axes)};
  rasters.other_pages = std::move(stack.unlike);
  const std::int64_t count = raster_count(rasters.axes);
  if (rasters.pages.empty()) {
    rasters.one_directory = count > 1 && images.size() == 1;
    const auto end = images.begin() + std::min(count, std::ssize(images));
    rasters.pages.assign(images.begin(), end);
  }
  return rasters;
}

}  // namespace

void name_axes(const TiffCatalog& catalog, TiffRasters& rasters, const std::string& letters) {
  if (letters.empty() || rasters.pages.empty()) return;
  const TiffForm& form = catalog.page(rasters.pages.front()).form;
  RasterAxes original = rasters.axes;
  RasterAxes renamed = named_axes(original, letters, form.channels, catalog.file().path().native());
  const std::string before = to_string(original), after = to_string(renamed);
  if (before == after && renamed.size() <= original.size()) return;
  rasters.axes = std::move(renamed);
  if (rasters.description.empty()) return;
  rasters.description =
      with_axes(rasters.description, {form.extent, form.channels, PixelType::u8}, rasters.axes);
  const bool has_letters = std::ranges::any_of(
      original, [](const RasterAxis& axis) { return axis.size > 1 && axis.name.size() == 1; });
  if (has_letters || rasters.description.empty())
    rasters.warnings.push_back(fmt::format(
        "its description says that images lie along {}, and OpenOptions::axes {} that it is {}: {}", before,
        letters, after,
        rasters.description.empty() ? "the description is left out"
                                    : "steps and names along other axes are left out"));
}

void warn_of_other_pages(TiffRasters& rasters) {
  constexpr std::size_t kMaxListed = 8;
  for (std::size_t i = 0; i < std::min(kMaxListed, rasters.other_pages.size()); ++i) {
    const auto& [page, name] = rasters.other_pages[i];
    rasters.warnings.push_back(
        fmt::format("page {} ({}) is not read; OpenOptions::page {} reads it", page, name, page));
  }
  if (rasters.other_pages.size() > kMaxListed)
    rasters.warnings.push_back(fmt::format("{} more pages that are not rasters are not read",
                                           rasters.other_pages.size() - kMaxListed));
}

namespace {

/// Selects the requested images of OME-XML, with the part of the description about them.
TiffRasters read_series(const TiffCatalog& catalog, const std::string& xml, const AxisRange& range) {
  const std::vector<OmeSeries> series = ome_series(xml);
  if (range.last >= std::ssize(series))
    return {.refusal = fmt::format("has no s={}; its OME-XML has {}, counted from 0", range.last,
                                   count_text(std::ssize(series), "image"))};
  const std::int64_t first = series[static_cast<std::size_t>(range.first)].first_page;
  if (first < 0 || first >= std::ssize(catalog.pages()))
    return {.refusal =
                fmt::format("has no page {}, where image s={} of its OME-XML begins", first, range.first)};
  const TiffForm& form = catalog.page(first).form;
  const std::string series_xml = extract_ome_series(xml, range.first, range.last);
  Stack stack =
      read_stack(series_xml, {form.extent, form.channels, PixelType::u8}, std::ssize(catalog.pages()));
  std::string problem = stack.problem.empty() ? stack.refusal : stack.problem;
  if (!problem.empty()) return {.refusal = problem + "; OpenOptions::page reads a page of it by its number"};
  TiffRasters rasters = described_pages(catalog, std::move(stack));
  if (!are_like(catalog, rasters.pages) || std::ssize(rasters.pages) != raster_count(rasters.axes))
    return {.refusal = fmt::format("the pages of image s={} are not those that its OME-XML counts; "
                                   "OpenOptions::page reads one of them by its number",
                                   range.first)};
  rasters.description = series_xml;
  rasters.other_pages.clear();
  return rasters;
}

/// Returns the refusal for images that are not alike, and the list of images.
TiffRasters refused_series(const std::string& refusal, const std::string& xml) {
  TiffRasters rasters{.series = ome_series(xml)};
  rasters.refusal =
      fmt::format("{} ({}{}); OpenOptions::select s=0 takes one", refusal, rasters.series.front().sizes,
                  rasters.series.size() > 1 ? "; " + rasters.series[1].sizes : "");
  return rasters;
}

}  // namespace

TiffRasters rasters_of(const TiffCatalog& catalog, const std::optional<AxisRange>& requested) {
  const std::vector<std::int64_t>& images = catalog.images();
  const std::int64_t pages = std::ssize(catalog.pages());
  if (images.empty() && pages > 1)
    return {.refusal =
                fmt::format("holds {} pages and none is an image; name one with OpenOptions::page, from 0 to "
                            "{}",
                            pages, pages - 1)};
  if (images.empty()) return {.pages = {0}};
  if (catalog.broken())
    return {.refusal =
                fmt::format("the chain of its pages is broken after page {}; it is truncated or damaged, "
                            "and what it holds up to there is read with OpenOptions::page",
                            pages - 1)};
  std::string description = catalog.description(images.front());
  if (images.front() != 0 &&
      !is_stack_description(description)) {  // OME-XML is in the first page, of whichever kind
    if (std::string first = catalog.description(0); is_ome(first)) description = std::move(first);
  }
  TiffRasters rasters;
  if (!is_stack_description(description) || catalog.is_aperio()) {
    rasters = plain_pages(catalog, {});
    if (rasters.refusal.empty()) add_other_pages(catalog, rasters);
    return rasters;
  }
  const TiffForm& form = catalog.page(images.front()).form;
  Stack stack = read_stack(description, {form.extent, form.channels, PixelType::u8}, pages);
  if (requested && is_ome(description) && (stack.is_mixed || find_axis(stack.axes, "s") == nullptr))
    return read_series(catalog, description, *requested);
  if (stack.is_mixed) return refused_series(stack.refusal, description);
  if (!stack.refusal.empty())
    return {.refusal = stack.refusal + "; OpenOptions::page reads a page of it by its number"};
  std::string problem = stack.problem;
  if (problem.empty()) {
    rasters = described_pages(catalog, std::move(stack));
    const std::int64_t count = raster_count(rasters.axes);
    // Each write() of tifffile adds a description of that page only.
    const bool is_per_page = count == 1 && images.size() > 1 && !is_ome(description);
    const bool is_complete = rasters.one_directory || std::ssize(rasters.pages) == count;
    const bool is_consistent = is_ome(description) || rasters.one_directory || count == std::ssize(images);
    if (is_per_page) return plain_pages(catalog, {});
    if (!is_complete || !is_consistent) {
      problem =
          fmt::format("its description counts {} and it has {}", count_text(count, "image"), images.size());
    } else if (!are_like(catalog, rasters.pages)) {
      problem = "its description counts pages that are not of one size and type";
    } else {
      rasters.description = description;
      add_other_pages(catalog, rasters);
      return rasters;
    }
  }
  return plain_pages(catalog, {problem + ": its pages are read one by one, and the description is left out"});
}

}  // namespace sepconv
