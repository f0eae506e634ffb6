#include <fmt/format.h>

#include <algorithm>

#include "sepconv/core/error.hpp"
#include "sepconv/io/metadata_facts.hpp"
#include "sepconv/io/tiff/tiff.hpp"
#include "sepconv/io/tiff/tiff_reader.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kListedPages = 64;

std::string predictor_name(std::uint16_t predictor) {
  if (predictor == PREDICTOR_HORIZONTAL) return "horizontal";
  return predictor == PREDICTOR_FLOATINGPOINT ? "floating-point" : "none";
}

std::string photometric_name(const BlockFormat& block, bool known) {
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
      return known ? "CMYK" : "inks other than CMYK";
    case PHOTOMETRIC_CIELAB:
      return "CIE L*a*b*";
    case PHOTOMETRIC_ICCLAB:
      return "ICC L*a*b*";
    case PHOTOMETRIC_ITULAB:
      return "ITU L*a*b*";
    default:
      return fmt::format("photometric {}", block.photometric);
  }
}

FileInfo::Page page_info(const TiffReader& reader) {
  FileInfo::Page page{reader.spec(), reader.layout(), {}};
  const TiffDirectory& directory = reader.directory();
  const BlockFormat& block = directory.block;
  page.facts = {
      {"compression", codec_name(block.compression)},
      {"predictor", predictor_name(block.predictor)},
      {"blocks", fmt::format("{} {} of {} x {}", directory.block_count(),
                             directory.tiled ? "tiles" : "strips", block.extent.cols, block.extent.rows)},
      {"channels", directory.planar ? "in planes of their own" : "interleaved"},
      {"byte order", block.big_endian ? "big-endian" : "little-endian"},
      {"photometric", photometric_name(block, reader.metadata().photometric != Photometric::other)},
  };
  add_metadata(page.facts, reader.metadata());
  page.facts.emplace_back("stored", fmt::format("{} bytes", reader.stored_bytes()));
  page.facts.emplace_back("streams",
                          reader.layout().streams
                              ? "yes"
                              : "no: one compressed strip holds everything and is decoded into memory");
  return page;
}

}  // namespace

FileInfo describe_tiff(InputFile file, const OpenOptions& options) {
  const TiffPages pages = count_tiff_pages(file);
  FileInfo info;
  info.format = pages.big_tiff ? "BigTIFF" : "TIFF";
  info.page_count = pages.count;
  info.images = pages.images;
  info.file_bytes = pages.file_bytes;
  const int first = options.page.value_or(0);
  const auto end = options.page ? first + std::int64_t{1} : std::min(pages.count, kListedPages);
  for (int index = first; index < end; ++index) {
    try {
      info.pages.push_back(page_info(*make_tiff_reader(InputFile(file.path()), index)));
    } catch (const IoError& problem) {  // a palette thumbnail must not hide the pages that can be read
      if (options.page || pages.count == 1) throw;
      info.pages.push_back({ImageSpec{}, SourceLayout{}, {{"not read", problem.what()}}});
    }
  }
  return info;
}

}  // namespace sepconv
