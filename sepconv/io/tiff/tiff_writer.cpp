#include "sepconv/io/tiff/tiff_writer.hpp"

#include <fmt/format.h>

#include "sepconv/core/error.hpp"
#include "sepconv/io/stack/stack.hpp"
#include "sepconv/io/tiff/tiff.hpp"
#include "sepconv/io/tiff/tiff_plan.hpp"

namespace sepconv {
namespace {

bool aligned(std::int64_t begin, std::int64_t end, std::int64_t block, std::int64_t side) {
  return begin % block == 0 && (end % block == 0 || end == side);
}

}  // namespace

TiffWriter::TiffWriter(std::unique_ptr<TiffSink> sink) : sink_(std::move(sink)) {
  layout_.block = directory().layout_block();
  layout_.cuts_blocks = !directory().compressed();
  layout_.stored = directory().stored();
  layout_.description = describe(directory());
  layout_.codec = codec_name(directory().block.compression);
  sink_->add_warnings(layout_.warnings);
}

void TiffWriter::write(const Rect& rect, const ConstPixelView& in, Executor& executor) {
  const Extent image = spec().extent;
  const Extent unit = layout_.unit();
  const bool fits = !rect.empty() && Rect::whole(image).contains(rect) && in.extent == rect.extent() &&
                    in.channels == spec().channels && in.type == spec().type &&
                    aligned(rect.row, rect.row_end(), unit.rows, image.rows) &&
                    aligned(rect.col, rect.col_end(), unit.cols, image.cols);
  if (!fits) {
    throw InvalidArgument(fmt::format(
        "{}: cannot write {} from a view of another shape, outside the image or off its blocks of {} x {}",
        sink_->name(), to_string(rect), unit.cols, unit.rows));
  }
  write_pixels(rect, in, executor);
  written_.add(rect);
}

void TiffWriter::finish_sink() {
  written_.check_all_of(spec().extent, sink_->name());
  sink_->finish();
}

bool tiff_holds(StoredType type) noexcept {
  return type.kind != StoredType::Kind::boolean && !type.is_packed();
}

std::unique_ptr<Writer> make_tiff_writer(std::shared_ptr<TiffOutput> output, const TiffDirectory& directory,
                                         const CreateOptions& options, bool one_of_several,
                                         std::optional<TiffPlace> place) {
  CreateOptions fitting = options;
  fitting.metadata.description =
      with_channels_at(options.metadata.description, directory.stored_spec(), directory.planar);
  auto sink = std::make_unique<TiffSink>(std::move(output), directory, fitting, one_of_several, place);
  return directory.compressed() ? make_compressed_writer(std::move(sink))
                                : make_uncompressed_writer(std::move(sink));
}

}  // namespace sepconv
