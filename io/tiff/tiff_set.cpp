#include "io/tiff/tiff_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/count_text.hpp"
#include "core/error.hpp"
#include "io/stack/stack.hpp"
#include "io/tiff/masked_reader.hpp"
#include "io/tiff/tiff.hpp"

namespace sepconv {
namespace {

/// Opens a raster with its mask, if it has one and OpenOptions::masks is set; as if it had one if other
/// rasters do.
std::unique_ptr<Reader> read_raster(const TiffCatalog& catalog, TiffPage page, const OpenOptions& options,
                                    bool others_have_masks = false) {
  page.ignores_mask = page.mask && !options.masks;
  std::unique_ptr<Reader> image = read_page(catalog, page, options.level);
  if (!options.masks || !(page.mask || others_have_masks)) return image;
  if (!page.mask) return make_masked_reader(std::move(image), {.others_have_masks = true});
  std::unique_ptr<Reader> mask = read_page(catalog, catalog.open_mask(page), 0);
  if (is_mask_of(*mask, *image)) return make_masked_reader(std::move(image), {.mask = std::move(mask)});
  throw IoError(fmt::format(
      "{}: the mask of page {} does not have its size and one channel of up to 8 bits; the file is "
      "damaged, and MissingOptions::none leaves the mask out",
      catalog.file().path().native(), page.index));
}

/// Whether any raster has a mask.
bool have_masks(const TiffCatalog& catalog, const TiffRasters& rasters) {
  return std::ranges::any_of(rasters.pages, [&](std::int64_t page) { return catalog.has_mask(page); });
}

class TiffSet final : public RasterSet {
 public:
  TiffSet(std::shared_ptr<const TiffCatalog> catalog, TiffRasters rasters, const OpenOptions& options)
      : RasterSet(catalog->file().path().native(),
                  read_raster(*catalog, catalog->open(rasters.pages.front(), options.level), options,
                              have_masks(*catalog, rasters))
                      ->spec(),
                  rasters.axes),
        catalog_(std::move(catalog)),
        rasters_(std::move(rasters)),
        options_(options),
        has_masks_(have_masks(*catalog_, rasters_)) {
    if (rasters_.one_directory) raster(count() - 1);  // throws if its pixels are missing
  }

  const TiffRasters& rasters() const noexcept { return rasters_; }

 private:
  std::unique_ptr<Reader> open_raster(std::int64_t index, bool is_first) override {
    const std::int64_t page_index = rasters_.one_directory ? 0 : index;
    const std::int64_t page_number = rasters_.pages.at(static_cast<std::size_t>(page_index));
    TiffPage page = catalog_->open(page_number, options_.level);
    page.plane = rasters_.one_directory ? index : 0;
    page.in_set = true;
    if (is_first)
      page.set_facts = {rasters_.description, axes(), rasters_.warnings, imagej_items_beyond(page_number)};
    auto reader = read_raster(*catalog_, std::move(page), options_, has_masks_);
    if (reader->spec() == spec()) return reader;
    throw IoError(
        fmt::format("{}: page {} is of another size or type than the first; the file is damaged, and "
                    "OpenOptions::page reads one of its pages",
                    catalog_->file().path().native(), page_number));
  }

  /// ImageJ's items, which are in the first page of its files; empty if that is `page` itself.
  std::vector<ImagejItem> imagej_items_beyond(std::int64_t page) const {
    const std::int64_t first = rasters_.pages.front();
    if (page == first || !is_imagej(rasters_.description)) return {};
    return read_page(*catalog_, catalog_->open(first, 0), 0)->metadata().imagej_items;
  }

  std::shared_ptr<const TiffCatalog> catalog_;
  TiffRasters rasters_;
  OpenOptions options_;
  bool has_masks_;
};

/// A page selected by number that is not a raster of a set: an overview, a label, a page of a damaged file.
class TiffLonePage final : public RasterSet {
 public:
  TiffLonePage(std::shared_ptr<const TiffCatalog> catalog, std::int64_t page, const OpenOptions& options)
      : RasterSet(catalog->file().path().native(),
                  read_raster(*catalog, catalog->open(page, options.level), options)->spec(), {}),
        catalog_(std::move(catalog)),
        page_(page),
        options_(options) {}

 private:
  std::unique_ptr<Reader> open_raster(std::int64_t, bool) override {
    return read_raster(*catalog_, catalog_->open(page_, options_.level), options_);
  }

  std::shared_ptr<const TiffCatalog> catalog_;
  std::int64_t page_;
  OpenOptions options_;
};

/// Converts page numbers to indices of rasters; null if they are not consecutive rasters.
std::optional<AxisRange> raster_indices(const TiffRasters& rasters, const AxisRange& pages) {
  if (rasters.one_directory) return pages;
  const auto first = std::ranges::find(rasters.pages, pages.first);
  const std::int64_t at = first - rasters.pages.begin();
  const std::int64_t size = pages.last - pages.first + 1;
  if (size > std::ssize(rasters.pages) - at) return std::nullopt;
  for (std::int64_t i = 0; i < size; ++i) {
    if (first[i] != pages.first + i) return std::nullopt;
  }
  return AxisRange{"", at, at + size - 1};
}

/// Returns pages selected by number as rasters without any other description.
TiffRasters only_pages(const TiffCatalog& catalog, const AxisRange& range) {
  TiffRasters rasters;
  const std::string& name = catalog.file().path().native();
  for (std::int64_t page = range.first; page <= range.last; ++page) {
    if (page >= std::ssize(catalog.pages()))
      throw IoError(fmt::format("{}: has no page {}; it has {}, counted from 0", name, page,
                                count_text(std::ssize(catalog.pages()), "page")));
    if (!catalog.page(page).form.is_like(catalog.page(range.first).form))
      throw IoError(fmt::format("{}: pages {} and {} are not of one size and type; name equal ones, or one",
                                name, range.first, page));
    rasters.pages.push_back(page);
  }
  rasters.axes = {{"page", std::ssize(rasters.pages)}};
  const bool has_description = is_stack_description(catalog.description(0));
  rasters.warnings.push_back(fmt::format(
      "of the file only the pages are read that were asked for{}",
      has_description
          ? ", without the axes, sizes and names that its description gives images: they are not all of one"
          : ""));
  return rasters;
}

/// Whether the rasters have a series axis of which the range selects a part. Otherwise only the requested
/// series were read.
bool is_cut_by(const TiffRasters& rasters, const AxisRange& range) {
  const RasterAxis* const s = find_axis(rasters.axes, "s");
  return s != nullptr && s->size > range.last - range.first + 1;
}

/// Returns the last series that begins at or before this page.
AxisRange series_at(const std::vector<OmeSeries>& series, std::int64_t page) {
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < std::ssize(series); ++i) {
    const std::int64_t first = series[static_cast<std::size_t>(i)].first_page;
    if (first <= page && first >= series[static_cast<std::size_t>(found)].first_page) found = i;
  }
  return {"s", found, found};
}

std::unique_ptr<RasterSet> set_of(std::shared_ptr<const TiffCatalog> catalog, TiffRasters rasters,
                                  const OpenOptions& options, const std::vector<AxisRange>& ranges) {
  auto set = std::make_unique<TiffSet>(std::move(catalog), std::move(rasters), options);
  set->select(ranges);
  return set;
}

}  // namespace

std::string refusal_of(std::shared_ptr<const TiffCatalog> catalog, const TiffRasters& rasters) {
  if (!rasters.refusal.empty() || rasters.pages.empty()) return rasters.refusal;
  try {
    TiffSet(std::move(catalog), rasters, {}).raster(0);
    return "";
  } catch (const IoError& problem) {
    return problem.what();
  }
}

std::unique_ptr<TiffReader> read_page(const TiffCatalog& catalog, TiffPage page, int level) {
  const std::int64_t image = page.index;
  auto file = std::make_unique<TiffFile>(catalog.shared_file(), std::move(page));
  if (level == 0) {
    file->apply_world_file();
  } else {
    TiffFile whole(catalog.shared_file(), catalog.open_page(image));
    whole.apply_world_file();
    file->inherit(whole);
  }
  return make_tiff_reader(std::move(file));
}

std::unique_ptr<RasterSet> open_tiff_set(InputFile file, const OpenOptions& options) {
  if (options.page && !options.select.empty())
    throw InvalidArgument("OpenOptions::page and OpenOptions::select both say which pages; leave one out");
  const std::string name = file.path().native();
  check_is_tiff(file);
  const auto catalog = std::make_shared<const TiffCatalog>(std::move(file));
  std::vector<AxisRange> ranges;
  if (options.page) ranges = {{"", *options.page, *options.page}};
  if (!options.select.empty()) ranges = parse_selection(options.select);
  const bool by_number = !ranges.empty() && ranges.front().axis.empty();
  if (by_number && (ranges[0].first < 0 || catalog->pages().empty()))
    // Throws that the page does not exist.
    return std::make_unique<TiffLonePage>(catalog, ranges[0].first, OpenOptions{});
  if (catalog->pages().empty()) return std::make_unique<TiffLonePage>(catalog, 0, OpenOptions{});
  const auto series = std::ranges::find(ranges, "s", &AxisRange::axis);
  const bool has_series = series != ranges.end();
  TiffRasters rasters = rasters_of(*catalog, has_series ? std::optional(*series) : std::nullopt);
  if (!by_number) {
    if (!rasters.refusal.empty()) throw IoError(fmt::format("{}: {}", name, rasters.refusal));
    if (has_series && !is_cut_by(rasters, *series)) ranges.erase(series);
    warn_of_other_pages(rasters);
    name_axes(*catalog, rasters, options.axes);
    return set_of(catalog, std::move(rasters), options, ranges);
  }
  const AxisRange pages = ranges[0];
  if (!rasters.series.empty()) rasters = rasters_of(*catalog, series_at(rasters.series, pages.first));
  if (rasters.refusal.empty()) {
    name_axes(*catalog, rasters, options.axes);
    if (const auto indices = raster_indices(rasters, pages)) {
      try {
        return set_of(catalog, rasters, options, {*indices});
      } catch (const IoError&) {  // the first page of the set cannot be read, but may not be requested
      }
    }
  }
  if (pages.first == pages.last) return std::make_unique<TiffLonePage>(catalog, pages.first, options);
  rasters = only_pages(*catalog, pages);
  name_axes(*catalog, rasters, options.axes);
  return set_of(catalog, std::move(rasters), options, {});
}

std::unique_ptr<Reader> open_tiff(InputFile file, const OpenOptions& options) {
  const std::filesystem::path path = file.path();
  return only_raster(*open_tiff_set(std::move(file), options), path);
}

}  // namespace sepconv
