#include "sepconv/io/tiff/tiff_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sepconv/core/error.hpp"
#include "sepconv/io/deflate/deflater.hpp"
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
  layout_.appends = directory().compressed();
  layout_.stored = directory().stored();
  layout_.description = describe(directory());
  layout_.codec = codec_name(directory().block.compression);
  const BlockFormat& block = directory().block;
  const bool searches =
      block.compression == COMPRESSION_ADOBE_DEFLATE || block.compression == COMPRESSION_ZSTD;
  if (block.level ==
      deflate::kFast) {  // else, as strings are searched for, only the CPU makes the same bytes
    layout_.codec += ":fast";
    layout_.coded = coded_tiles(directory());
  } else if (searches && block.level > deflate::kAutomatic) {
    layout_.codec += fmt::format(":{}", *block.level);
  }
  sink_->add_warnings(layout_.warnings);
}

void TiffWriter::check_rect(const Rect& rect) const {
  const Extent image = spec().extent;
  const Extent unit = layout_.unit();
  const bool fits = !rect.empty() && Rect::whole(image).contains(rect) &&
                    aligned(rect.row, rect.row_end(), unit.rows, image.rows) &&
                    aligned(rect.col, rect.col_end(), unit.cols, image.cols);
  if (!fits)
    throw InvalidArgument(fmt::format("{}: cannot write {}, outside the image or off its blocks of {} x {}",
                                      sink_->name(), to_string(rect), unit.cols, unit.rows));
}

void TiffWriter::write(const Rect& rect, const ConstPixelView& in, Executor& executor) {
  check_rect(rect);
  if (in.extent != rect.extent() || in.channels != spec().channels || in.type != spec().type)
    throw InvalidArgument(
        fmt::format("{}: cannot write {} from a view of another shape", sink_->name(), to_string(rect)));
  write_pixels(rect, in, executor);
  written_.add(rect);
}

void TiffWriter::restore(std::int64_t pixels, const WriterState& state, const StateFiles& files, Executor&) {
  sink_->restore(state.places, files.segment);
  written_.add_pixels(pixels);
}

void TiffWriter::leave_rest() {
  written_.add_pixels(spec().extent.area());
  for (const auto& level : levels_) level->leave_rest();
}

std::vector<Writer*> TiffWriter::levels() {
  std::vector<Writer*> all;
  for (const auto& level : levels_) all.push_back(level.get());
  return all;
}

std::vector<std::uint64_t> TiffWriter::finish_levels(Role role) {
  std::vector<std::uint64_t> offsets;
  for (const auto& level : levels_) {
    if (level->role_ != role) continue;
    level->finish();
    offsets.push_back(level->offset_);
  }
  return offsets;
}

void TiffWriter::finish_sink() {
  written_.check_all_of(spec().extent, sink_->name());
  if (role_ == Role::inside) {
    offset_ = sink_->finish_inside();
    return;
  }
  if (role_ != Role::behind) {
    for (std::size_t i = levels_.size(); i-- > 0;) levels_[i]->sink_->settle();
    sink_->settle();
  }
  sink_->finish(finish_levels(Role::inside));
  finish_levels(Role::behind);
  if (role_ == Role::only) sink_->commit();
}

bool tiff_holds(StoredType type) noexcept {
  return type.kind != StoredType::Kind::boolean && !type.is_packed();
}

namespace {

std::unique_ptr<TiffWriter> make_page(std::shared_ptr<TiffOutput> output, const TiffDirectory& directory,
                                      const CreateOptions& options, TiffWriter::Role role,
                                      std::optional<TiffPlace> place,
                                      std::shared_ptr<EncoderPool> pool = nullptr) {
  auto sink = std::make_unique<TiffSink>(std::move(output), directory, options, place);
  auto writer = directory.compressed() ? make_compressed_writer(std::move(sink), std::move(pool))
                                       : make_uncompressed_writer(std::move(sink));
  writer->set_role(role);
  return writer;
}

/// Of a Cloud Optimized GeoTIFF: the directories one behind the other, then the pixels of the smallest level
/// first. Those of compressed pages are placed when all are there.
std::vector<TiffPlace> cloud_places(TiffOutput& output, const std::vector<TiffDirectory>& pages,
                                    const Metadata& metadata) {
  std::vector<TiffPlace> places;
  std::int64_t next = output.begin_for_clouds();
  for (const TiffDirectory& page : pages) {
    places.push_back({.directory = next, .directory_bytes = directory_bytes(page, metadata)});
    next += places.back().directory_bytes;
  }
  for (std::size_t i = pages.size(); i-- > 0 && !pages[i].compressed();) {
    places[i].pixels = round_up(next, kPixelAlignment);
    next = *places[i].pixels + pages[i].block_bytes();
  }
  output.set_end(next);
  return places;
}

}  // namespace

std::unique_ptr<Writer> make_tiff_writer(std::shared_ptr<TiffOutput> output, const TiffDirectory& directory,
                                         const CreateOptions& options, TiffWriter::Role role,
                                         std::optional<TiffPlace> place) {
  CreateOptions fitting = options;
  fitting.metadata.description =
      with_channels_at(options.metadata.description, directory.stored_spec(), directory.planar);
  std::vector<TiffDirectory> pages = plan_levels(output->file().target(), directory, options);
  pages.insert(pages.begin(), directory);
  std::vector<std::optional<TiffPlace>> places(pages.size());
  places.front() = place;
  if (options.layout.levels == Levels::cloud)
    std::ranges::copy(cloud_places(*output, pages, fitting.metadata), places.begin());
  auto writer = make_page(output, directory, fitting, role, places.front());
  const auto of_levels =
      options.layout.levels == Levels::inside ? TiffWriter::Role::inside : TiffWriter::Role::behind;
  for (std::size_t i = 1; i < pages.size(); ++i) {
    const bool same_blocks = pages[i].block.extent == directory.block.extent;
    CreateOptions of_level = level_options(options);
    of_level.metadata.description =
        shaped_of_level(fitting.metadata.description, directory.stored_spec(), pages[i].spec.extent);
    writer->add_level(make_page(output, pages[i], of_level, of_levels, places[i],
                                same_blocks ? writer->encoder_pool() : nullptr));
  }
  if (options.layout.nearest_levels) writer->make_levels_nearest();
  if (pages.size() > 1)
    writer->describe_also(fmt::format(", with {} smaller levels{}", pages.size() - 1,
                                      options.layout.nearest_levels ? " of the nearest pixels" : ""));
  if (options.layout.levels == Levels::cloud) writer->describe_also(", optimized for clouds");
  return writer;
}

}  // namespace sepconv
