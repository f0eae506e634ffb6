#include <fmt/format.h>

#include <algorithm>

#include "core/count_text.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"
#include "io/metadata_text.hpp"
#include "io/tiff/ifd_index.hpp"
#include "io/tiff/tiff.hpp"
#include "io/tiff/tiff_reader.hpp"
#include "io/tiff/tiff_set.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kMaxListedPages = 64;

std::string predictor_name(std::uint16_t predictor) {
  if (predictor == PREDICTOR_HORIZONTAL) return "horizontal";
  return predictor == PREDICTOR_FLOATINGPOINT ? "floating-point" : "none";
}

std::string photometric_name(const BlockFormat& block, const Metadata& metadata) {
  const bool known = metadata.photometric != Photometric::other;
  if (metadata.colours) return "palette: " + name_of(*metadata.colours);
  switch (block.photometric) {
    case PHOTOMETRIC_PALETTE:
      return known ? metadata.photometric == Photometric::min_is_white ? "palette: inverted grey ramp"
                                                                       : "palette: grey ramp"
                   : "palette that is not read";
    case PHOTOMETRIC_MASK:
      return "transparency mask";
    case PHOTOMETRIC_MINISWHITE:
      return "min is white";
    case PHOTOMETRIC_MINISBLACK:
      return "min is black";
    case PHOTOMETRIC_RGB:
      return "RGB";
    case PHOTOMETRIC_YCBCR:
      return fmt::format("YCbCr {}x{}, read as RGB", block.subsampling[0], block.subsampling[1]);
    case PHOTOMETRIC_SEPARATED:
      return known ? "CMYK" : "inks other than CMYK";
    case PHOTOMETRIC_CIELAB:
      return "CIE L*a*b*";
    case PHOTOMETRIC_ICCLAB:
      return "ICC L*a*b*";
    case PHOTOMETRIC_ITULAB:
      return "ITU L*a*b*";
    default:
      return fmt::format("interpretation {}", block.photometric);
  }
}

FileInfo::Page page_info(const TiffReader& reader) {
  FileInfo::Page page{reader.spec(), reader.layout(), {}, reader.metadata(), reader.stored_bytes()};
  const TiffDirectory& directory = reader.directory();
  const BlockFormat& block = directory.block;
  page.facts = {
      {"compression", codec_name(block.compression)},
      {"predictor", predictor_name(block.predictor)},
      {"blocks",
       fmt::format("{} of {} x {}", count_text(directory.block_count(), directory.tiled ? "tile" : "strip"),
                   block.extent.cols, block.extent.rows)},
      {"channels", directory.planar ? "in separate planes" : "interleaved"},
      {"byte order", block.big_endian ? "big-endian" : "little-endian"},
      {"photometric", photometric_name(block, reader.metadata())},
  };
  add_metadata(page.facts, reader.metadata());
  page.facts.emplace_back("stored", fmt::format("{} bytes", reader.stored_bytes()));
  page.facts.emplace_back("streams",
                          reader.layout().streams
                              ? "yes"
                              : "no: one compressed strip holds everything and is decoded into memory");
  return page;
}

void add_set(FileInfo& info, const std::shared_ptr<const TiffCatalog>& shared, const std::string& axes) {
  const TiffCatalog& catalog = *shared;
  TiffRasters rasters = rasters_of(catalog);
  name_axes(catalog, rasters, axes);
  for (std::size_t i = 0; i < rasters.series.size(); ++i) {
    const auto& [name, page, sizes] = rasters.series[i];
    info.series.push_back(fmt::format("{} from page {} on{}", sizes, page,
                                      name.empty() ? "" : fmt::format(", \"{}\"", printable(name))));
  }
  info.no_set = refusal_of(shared, rasters);
  if (info.no_set.empty()) info.axes = std::move(rasters.axes);
  for (std::int64_t page = 0; page < std::ssize(catalog.pages()); ++page) {
    const auto kind = catalog.page(page).kind;
    const bool is_named =
        std::ranges::any_of(rasters.other_pages, [&](const auto& entry) { return entry.first == page; });
    const bool is_raster = std::ranges::find(rasters.pages, page) != rasters.pages.end();
    if (kind != TiffEntries::Kind::image && !is_named && !is_raster)
      info.others.emplace_back(page, kind == TiffEntries::Kind::mask ? "mask" : "overview");
  }
  for (auto& other : rasters.other_pages) info.others.push_back(std::move(other));
  std::ranges::sort(info.others);
  if (rasters.pages.empty()) return;
  for (const TiffForm& level : catalog.level_forms(rasters.pages.front()))
    info.levels.push_back(level.extent);
}

}  // namespace

FileInfo describe_tiff(InputFile file, const OpenOptions& options) {
  check_is_tiff(file);
  if (!options.select.empty())
    throw InvalidArgument(
        fmt::format("OpenOptions::select {} selects images of a run, but information is by page; name "
                    "one by its number",
                    options.select));
  const auto shared = std::make_shared<const TiffCatalog>(std::move(file));
  const TiffCatalog& catalog = *shared;
  const std::int64_t count = std::ssize(catalog.pages());
  FileInfo info;
  info.format = catalog.big_tiff() ? "BigTIFF" : "TIFF";
  info.page_count = count;
  info.images = std::ssize(catalog.images());
  info.file_bytes = catalog.file().size();
  const std::int64_t first = options.page.value_or(0);
  const std::int64_t end =
      options.page || options.level > 0 || count == 0 ? first + 1 : std::min(count, kMaxListedPages);
  for (std::int64_t index = first; index < end; ++index) {
    try {
      TiffPage page = catalog.open(index, options.level);
      const auto mask = std::ranges::find(catalog.pages(), page.mask, [](const TiffCatalog::Page& other) {
        return std::optional(other.offset);
      });
      info.pages.push_back(page_info(*read_page(catalog, std::move(page), options.level)));
      if (mask != catalog.pages().end())
        info.pages.back().facts.emplace_back(
            "mask", fmt::format("page {}, which hides pixels of this one", mask - catalog.pages().begin()));
    } catch (const IoError& problem) {  // an unsupported thumbnail must not hide the pages that can be read
      if (options.page || options.level > 0 || count <= 1) throw;
      info.pages.push_back({ImageSpec{}, SourceLayout{}, {{"not read", problem.what()}}, {}, 0});
    }
  }
  if (count > 0) add_set(info, shared, options.axes);
  return info;
}

}  // namespace sepconv
