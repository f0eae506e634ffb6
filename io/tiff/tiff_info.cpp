#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "sepconv/core/error.hpp"
#include "sepconv/io/tiff/tiff.hpp"
#include "sepconv/io/tiff/tiff_reader.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kListedPages = 64;

using Facts = std::vector<std::pair<std::string, std::string>>;

std::string predictor_name(std::uint16_t predictor) {
  if (predictor == PREDICTOR_HORIZONTAL) return "horizontal";
  return predictor == PREDICTOR_FLOATINGPOINT ? "floating-point" : "none";
}

std::string photometric_name(const BlockFormat& block) {
  switch (block.photometric) {
    case PHOTOMETRIC_MINISWHITE:
      return "min is white";
    case PHOTOMETRIC_MINISBLACK:
      return "min is black";
    case PHOTOMETRIC_RGB:
      return "RGB";
    case PHOTOMETRIC_YCBCR:
      return fmt::format("YCbCr {}x{}, read as RGB", block.subsampling[0], block.subsampling[1]);
    case PHOTOMETRIC_SEPARATED:
      return "CMYK";
    case PHOTOMETRIC_CIELAB:
      return "CIE L*a*b*";
    default:
      return fmt::format("photometric {}", block.photometric);
  }
}

std::string resolution_text(const Resolution& resolution) {
  constexpr const char* kUnits[] = {"", "", " per inch", " per centimetre"};
  return fmt::format("{} x {}{}", resolution.x, resolution.y, kUnits[static_cast<int>(resolution.unit)]);
}

/// One line of at most 72 bytes, cut between characters.
std::string shortened(std::string text) {
  constexpr std::size_t kLength = 72;
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  if (text.size() <= kLength) return text;
  std::size_t end = kLength;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

void add_metadata(Facts& facts, const Metadata& metadata) {
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) facts.emplace_back(name, shortened(text));
  };
  if (metadata.resolution) facts.emplace_back("resolution", resolution_text(*metadata.resolution));
  if (metadata.orientation != 1) {
    facts.emplace_back("orientation", fmt::format("{} (kept, not applied)", metadata.orientation));
  }
  if (!metadata.icc_profile.empty())
    facts.emplace_back("ICC profile", fmt::format("{} bytes", metadata.icc_profile.size()));
  add("description", metadata.description);
  add("software", metadata.software);
  add("date", metadata.date_time);
  add("artist", metadata.artist);
  add("copyright", metadata.copyright);
  std::string tags;
  for (const RawTag& raw : metadata.geo_tags) tags += fmt::format("{}{}", tags.empty() ? "" : " ", raw.tag);
  if (const auto nodata = nodata_value(metadata)) add("nodata value", *nodata);
  if (!tags.empty()) facts.emplace_back("geo tags", tags);
}

FileInfo::Page page_info(const Reader& reader, const TiffDirectory& directory) {
  FileInfo::Page page{reader.spec(), reader.layout(), {}};
  const BlockFormat& block = directory.block;
  page.facts = {
      {"compression", codec_name(block.compression)},
      {"predictor", predictor_name(block.predictor)},
      {"blocks", fmt::format("{} {} of {} x {}", directory.block_count(),
                             directory.tiled ? "tiles" : "strips", block.extent.cols, block.extent.rows)},
      {"channels", directory.planar ? "in planes of their own" : "interleaved"},
      {"byte order", block.big_endian ? "big-endian" : "little-endian"},
      {"photometric", photometric_name(block)},
  };
  add_metadata(page.facts, reader.metadata());
  for (const std::string& warning : reader.layout().warnings) page.facts.emplace_back("warning", warning);
  page.facts.emplace_back("stored", fmt::format("{} bytes", reader.stored_bytes()));
  page.facts.emplace_back("streams",
                          reader.layout().streams
                              ? "yes"
                              : "no: one compressed strip holds everything and is decoded into memory");
  return page;
}

}  // namespace

FileInfo tiff_info(const std::filesystem::path& path) {
  const TiffPages pages = count_tiff_pages(path);
  FileInfo info;
  info.format = pages.big_tiff ? "BigTIFF" : "TIFF";
  info.page_count = pages.count;
  info.images = pages.images;
  info.file_bytes = pages.file_bytes;
  for (int index = 0; index < std::min(pages.count, kListedPages); ++index) {
    try {
      const std::unique_ptr<Reader> reader = open_tiff(path, index);
      info.pages.push_back(page_info(*reader, dynamic_cast<const TiffReader&>(*reader).directory()));
    } catch (const IoError& problem) {  // a palette thumbnail must not hide the pages that can be read
      if (pages.count == 1) throw;
      info.pages.push_back({ImageSpec{}, SourceLayout{}, {{"not read", problem.what()}}});
    }
  }
  return info;
}

}  // namespace sepconv
