#include "io/tiff/tiff_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/error.hpp"
#include "io/gdal_tags.hpp"
#include "io/nodata.hpp"
#include "io/sidecars.hpp"
#include "io/tiff/block_pixels.hpp"
#include "io/tiff/jpeg_stream.hpp"
#include "io/tiff/tiff.hpp"

namespace sepconv {
namespace {

Compression compression_of(std::uint16_t tag) {
  switch (tag) {
    case COMPRESSION_LZW:
      return Compression::lzw;
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
      return Compression::deflate;
    case COMPRESSION_ZSTD:
      return Compression::zstd;
    case COMPRESSION_JPEG:
      return Compression::jpeg;
    case COMPRESSION_PACKBITS:
      return Compression::packbits;
    default:
      return Compression::none;
  }
}

FileLayout layout_of(const TiffDirectory& directory) {
  FileLayout layout;
  layout.tiled = directory.tiled;
  if (directory.tiled) {
    layout.tile = directory.block.extent;
  } else {
    layout.rows_per_strip = directory.block.extent.rows;
  }
  layout.compression = compression_of(directory.block.compression);
  layout.predictor =
      !has_predictor(directory.block.compression) || directory.block.predictor != PREDICTOR_NONE;
  layout.planar = directory.planar;
  return layout;
}

std::optional<Chroma> chroma_of(const BlockFormat& block) {
  if (block.compression != COMPRESSION_JPEG || block.channels != 3) return std::nullopt;
  if (block.photometric != PHOTOMETRIC_YCBCR) return Chroma{1, 1};
  const auto [cols, rows] = block.subsampling;
  return Chroma{static_cast<std::uint8_t>(cols), static_cast<std::uint8_t>(rows)};
}

/// Whether the first block, and therefore all, is a JPEG of the common kind: sequential, 8 bits.
bool has_common_jpegs(TiffFile& file) {
  const StoredBlock stored = file.locate(0);
  if (stored.sparse()) return true;
  const auto frame = jpeg_frame(file.bytes(), stored.offset, stored.bytes);
  return frame && (frame->marker == 0xC0 || frame->marker == 0xC1) && frame->bits == 8;
}

}  // namespace

TiffReader::TiffReader(std::unique_ptr<TiffFile> file, bool streams)
    : file_(std::move(file)), stored_bytes_(file_->stored_bytes()) {
  layout_.block = file_->directory().layout_block();
  layout_.partial_blocks = !file_->directory().compressed();
  layout_.streams = streams;
  layout_.description = describe(file_->directory());
  layout_.codec = codec_name(file_->directory().block.compression);
  layout_.warnings = file_->warnings();
  layout_.stored = file_->directory().stored();
  layout_.chroma = chroma_of(file_->directory().block);
  layout_.file = layout_of(file_->directory());
  if (streams) layout_.coded = coded_tiles(file_->directory());
  if (layout_.coded && layout_.coded->codec == BlockCodec::jpeg && !has_common_jpegs(*file_))
    layout_.coded.reset();
  layout_.file->levels = file_->levels();
  layout_.file->nearest_levels = metadata().colours && metadata().colours->classes;
  unwritten_ =
      declared_nodata(metadata(), spec().type, layout_.stored.value_or(SampleType(spec().type))).value_or(0);
  warn_about_unread_sidecars(file_->bytes().path(), true, layout_.warnings);
}

void TiffReader::read(const Rect& rect, const PixelView& out, Executor& executor) {
  const bool fits = !rect.empty() && Rect::whole(spec().extent).contains(rect) &&
                    out.extent == rect.extent() && out.channels == spec().channels && out.type == spec().type;
  if (!fits)
    throw InvalidArgument(fmt::format("{}: cannot read {} into a view of another shape or outside the image",
                                      file_->name(), to_string(rect)));
  read_pixels(rect, out, executor);
  BlockFormat interleaved = file_->directory().block;
  interleaved.channels = spec().channels;
  for (std::int64_t row = 0; interleaved.has_signed_ab() && row < rect.rows; ++row)
    shift_ab(interleaved, kAllChannels, out.row_elements(), out.row_data(row));
}

bool is_tiff(std::span<const std::byte> head) noexcept {
  using namespace std::string_view_literals;
  return begins_with(head, "II*\0"sv) || begins_with(head, "MM\0*"sv) || begins_with(head, "II+\0"sv) ||
         begins_with(head, "MM\0+"sv);
}

void check_is_tiff(const InputFile& file) {
  std::array<std::byte, 4> head{};
  const std::int64_t count = file.read_some_at(0, head);
  if (count < 4 || !is_tiff(head))
    throw IoError(fmt::format("{}: is not a TIFF; check the name or the file's type", file.path().native()));
}

std::unique_ptr<TiffReader> make_tiff_reader(std::unique_ptr<TiffFile> file) {
  return file->directory().compressed() ? make_compressed_reader(std::move(file))
                                        : make_uncompressed_reader(std::move(file));
}

}  // namespace sepconv
