#include "io/tiff/tiff_writer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/memory.hpp"
#include "io/deflate/deflater.hpp"
#include "io/flat/row_pieces.hpp"
#include "io/split_alpha.hpp"
#include "io/stack/stack.hpp"
#include "io/tiff/tiff.hpp"
#include "io/tiff/tiff_layout.hpp"

namespace sepconv {
namespace {

/// Buffer size of write_without_alpha(), unless rows are longer.
constexpr std::int64_t kSplitBytes = std::int64_t{4} << 20;

bool is_aligned(std::int64_t begin, std::int64_t end, std::int64_t block, std::int64_t side) {
  return begin % block == 0 && (end % block == 0 || end == side);
}

}  // namespace

TiffWriter::TiffWriter(std::unique_ptr<TiffSink> sink)
    : sink_(std::move(sink)), spec_(directory().written()) {
  layout_.block = directory().layout_block();
  layout_.partial_blocks = !directory().compressed();
  layout_.is_append_only = directory().compressed();
  layout_.max_write_threads = sink_->max_write_threads();
  layout_.stored = directory().stored();
  layout_.description = describe(directory());
  layout_.codec = codec_name(directory().block.compression);
  const BlockFormat& block = directory().block;
  const bool finds_matches =
      block.compression == COMPRESSION_ADOBE_DEFLATE || block.compression == COMPRESSION_ZSTD;
  if (block.level == deflate::kFast) {  // with a search for matches only the CPU produces the same bytes
    layout_.codec += ":fast";
    if (directory().alpha == AlphaInFile::channel) layout_.coded = coded_tiles(directory());
  } else if (finds_matches && block.level > deflate::kAutomatic) {
    layout_.codec += fmt::format(":{}", *block.level);
  }
  layout_.alpha_becomes_mask = directory().drops_alpha();
  sink_->add_warnings(layout_.warnings);
}

void TiffWriter::check_rect(const Rect& rect) const {
  const Extent image = spec().extent;
  const Extent unit = layout_.unit();
  const bool fits = !rect.empty() && Rect::whole(image).contains(rect) &&
                    is_aligned(rect.row, rect.row_end(), unit.rows, image.rows) &&
                    is_aligned(rect.col, rect.col_end(), unit.cols, image.cols);
  if (!fits)
    throw InvalidArgument(fmt::format("{}: cannot write {}, outside the image or off its blocks of {} x {}",
                                      sink_->name(), to_string(rect), unit.cols, unit.rows));
}

void TiffWriter::write(const Rect& rect, const ConstPixelView& in, Executor& executor) {
  check_rect(rect);
  if (in.extent != rect.extent() || in.channels != spec().channels || in.type != spec().type)
    throw InvalidArgument(
        fmt::format("{}: cannot write {} from a view of another shape", sink_->name(), to_string(rect)));
  if (directory().alpha == AlphaInFile::channel || splits_alpha_per_block())
    write_pixels(rect, in, executor);
  else
    write_without_alpha(rect, in, executor);
  add_written(rect);
}

void TiffWriter::add_written(const Rect& rect) {
  written_.add(rect);
  if (mask_) mask_->written_.add(rect);
}

std::int64_t TiffWriter::split_row_bytes() const noexcept {
  const std::int64_t pixels = directory().drops_alpha() ? directory().spec.pixel_bytes() : 0;
  return (pixels + (directory().has_mask() ? 1 : 0)) * spec().extent.cols;
}

std::int64_t TiffWriter::alpha_split_bytes(int concurrency) const {
  const std::int64_t own_bytes =
      directory().alpha == AlphaInFile::channel ? 0 : std::max(kSplitBytes, split_row_bytes());
  return own_bytes + (mask_ ? mask_->buffer_bytes(concurrency) : 0);
}

/// Writes several rows at a time.
void TiffWriter::write_without_alpha(const Rect& rect, const ConstPixelView& in, Executor& executor) {
  const std::int64_t rows = std::clamp<std::int64_t>(kSplitBytes / split_row_bytes(), 1, rect.rows);
  const Buffer buffer(rows * split_row_bytes());
  for (std::int64_t row = 0; row < rect.rows; row += rows) {
    const Rect part{rect.row + row, rect.col, std::min(rows, rect.rows - row), rect.cols};
    const ConstPixelView from = in.crop({row, 0, part.rows, part.cols});
    const PixelView pixels = dense_view(buffer.data(), directory().spec, part.extent());
    const PixelView mask =
        dense_view(buffer.data() + (directory().drops_alpha() ? part.rows * pixels.row_bytes() : 0),
                   {part.extent(), 1, PixelType::u8});
    for_each_row_piece(part.rows, from.row_bytes(), executor, [&](std::int64_t first, std::int64_t count) {
      const Rect piece{first, 0, count, part.cols};
      if (directory().drops_alpha()) copy_but_last(from.crop(piece), pixels.crop(piece));
      if (mask_) make_mask(from.crop(piece), directory().mask_of, mask.crop(piece));
    });
    write_pixels(part, directory().drops_alpha() ? pixels : from, executor);
    if (mask_) mask_->write_pixels(part, mask, executor);
  }
}

/// Block indices of the mask follow those of the image.
WriterState TiffWriter::take_state() {
  WriterState state{.block_positions = sink_->take_block_positions()};
  if (!mask_) return state;
  std::vector<std::int64_t> places = mask_->sink_->take_block_positions();
  for (std::size_t i = 0; i < places.size(); i += 3) places[i] += directory().block_count();
  state.block_positions.insert(state.block_positions.end(), places.begin(), places.end());
  return state;
}

void TiffWriter::restore(std::int64_t pixels, const WriterState& state, const StateFiles& files, Executor&) {
  std::vector<std::int64_t> image_blocks, mask_blocks;
  for (std::size_t i = 0; i + 2 < state.block_positions.size(); i += 3) {
    const bool is_mask_block = mask_ && state.block_positions[i] >= directory().block_count();
    const std::int64_t index = state.block_positions[i] - (is_mask_block ? directory().block_count() : 0);
    auto& places = is_mask_block ? mask_blocks : image_blocks;
    places.insert(places.end(), {index, state.block_positions[i + 1], state.block_positions[i + 2]});
  }
  sink_->restore(image_blocks, files.segment);
  written_.add_pixels(pixels);
  if (!mask_) return;
  mask_->sink_->restore(mask_blocks, files.segment);
  mask_->written_.add_pixels(pixels);
}

void TiffWriter::mark_rest_written() {
  written_.add_pixels(spec().extent.area());
  if (mask_) mask_->mark_rest_written();
  for (const auto& level : levels_) level->mark_rest_written();
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
  written_.check_coverage(spec().extent, sink_->name());
  if (role_ == Role::inside) {
    offset_ = sink_->finish_inside();
    return;
  }
  if (role_ != Role::behind && role_ != Role::mask) {
    for (std::size_t i = levels_.size(); i-- > 0;) levels_[i]->copy_deferred();
    copy_deferred();
  }
  sink_->finish(finish_levels(Role::inside));
  if (mask_) mask_->finish();
  finish_levels(Role::behind);
  if (role_ == Role::only) sink_->commit();
}

void TiffWriter::copy_deferred() {
  sink_->copy_deferred();
  if (mask_) mask_->sink_->copy_deferred();
}

bool tiff_can_store(SampleType type) noexcept {
  return type.kind != SampleType::Kind::boolean && !type.is_packed();
}

namespace {

std::unique_ptr<TiffWriter> make_page(std::shared_ptr<TiffOutput> output, const TiffDirectory& directory,
                                      const CreateOptions& options, TiffWriter::Role role,
                                      std::optional<TiffPagePosition> position,
                                      std::shared_ptr<EncoderPool> pool = nullptr) {
  auto sink = std::make_unique<TiffSink>(std::move(output), directory, options, position);
  auto writer = directory.compressed() ? make_compressed_writer(std::move(sink), std::move(pool))
                                       : make_uncompressed_writer(std::move(sink));
  writer->set_role(role);
  return writer;
}

/// A page of a pyramid and its mask.
struct MaskedPage {
  TiffDirectory image;
  std::optional<TiffDirectory> mask{};
  std::optional<TiffPagePosition> position{}, mask_position{};
};

std::vector<MaskedPage> plan_pages(const std::filesystem::path& path, const TiffDirectory& image,
                                   const CreateOptions& options) {
  std::vector<TiffDirectory> all = plan_levels(path, image, options);
  all.insert(all.begin(), image);
  std::vector<MaskedPage> pages;
  for (const TiffDirectory& page : all)
    pages.push_back({page, page.has_mask() ? std::optional(plan_mask(page)) : std::nullopt});
  return pages;
}

/// Positions for a Cloud Optimized GeoTIFF: contiguous directories, each with its mask's, then the pixels,
/// smallest level first. Pixels of compressed pages are placed when all are complete.
void plan_cog_positions(TiffOutput& output, std::vector<MaskedPage>& pages, const Metadata& metadata) {
  std::int64_t next = output.begin_cog();
  const auto directory_position = [&](const TiffDirectory& page, const Metadata& page_metadata) {
    const TiffPagePosition position{.directory = next,
                                    .directory_bytes = directory_bytes(page, page_metadata)};
    next += position.directory_bytes;
    return position;
  };
  for (MaskedPage& page : pages) {
    page.position = directory_position(page.image, metadata);
    if (page.mask) page.mask_position = directory_position(*page.mask, {});
  }
  const auto place_pixels = [&](const TiffDirectory& page, std::optional<TiffPagePosition>& position) {
    position->pixels = round_up(next, kPixelAlignment);
    next = *position->pixels + page.block_bytes();
  };
  for (std::size_t i = pages.size(); i-- > 0 && !pages[i].image.compressed();) {
    place_pixels(pages[i].image, pages[i].position);
    if (pages[i].mask) place_pixels(*pages[i].mask, pages[i].mask_position);
  }
  output.set_end(next);
}

/// Creates the writer of a page and its mask. Encoders are shared with `image`, of which the page is a level,
/// if blocks are alike.
std::unique_ptr<TiffWriter> make_pages(const std::shared_ptr<TiffOutput>& output, const MaskedPage& page,
                                       const CreateOptions& options, TiffWriter::Role role,
                                       const TiffWriter* image) {
  auto writer = make_page(output, page.image, options, role, page.position,
                          image != nullptr ? image->encoder_pool() : nullptr);
  if (!page.mask) return writer;
  const bool shares_encoders = image != nullptr && image->mask() != nullptr;
  CreateOptions mask_options;  // tifffile expects a description of every page of a file if one page has it
  const TiffDirectory& directory = page.image;
  if (!shaped_for_level(options.metadata.description, directory.stored_spec(), directory.spec.extent).empty())
    mask_options.metadata.description = create_shaped_description(page.mask->stored_spec(), {});
  writer->add_mask(make_page(output, *page.mask, mask_options, TiffWriter::Role::mask, page.mask_position,
                             shares_encoders ? image->mask()->encoder_pool() : nullptr));
  writer->describe_also(", with a mask");
  return writer;
}

}  // namespace

std::unique_ptr<Writer> make_tiff_writer(std::shared_ptr<TiffOutput> output, const TiffDirectory& directory,
                                         const CreateOptions& options, TiffWriter::Role role,
                                         std::optional<TiffPagePosition> position) {
  CreateOptions adapted = options;
  adapted.metadata.description =
      shaped_with_stored_channels(options.metadata.description, directory.stored_spec(), directory.planar);
  std::vector<MaskedPage> pages = plan_pages(output->file().target(), directory, options);
  pages.front().position = position;
  if (options.layout.levels == Levels::cloud) plan_cog_positions(*output, pages, adapted.metadata);
  auto writer = make_pages(output, pages.front(), adapted, role, nullptr);
  const auto level_role =
      options.layout.levels == Levels::inside ? TiffWriter::Role::inside : TiffWriter::Role::behind;
  for (std::size_t i = 1; i < pages.size(); ++i) {
    const bool same_blocks = pages[i].image.block.extent == directory.block.extent;
    CreateOptions reduced_options = level_options(options);
    reduced_options.metadata.description =
        shaped_for_level(adapted.metadata.description, directory.stored_spec(), pages[i].image.spec.extent);
    writer->add_level(
        make_pages(output, pages[i], reduced_options, level_role, same_blocks ? writer.get() : nullptr));
  }
  if (options.layout.nearest_levels) writer->make_levels_nearest();
  if (pages.size() > 1)
    writer->describe_also(fmt::format(", with {} smaller levels{}", pages.size() - 1,
                                      options.layout.nearest_levels ? " of the nearest pixels" : ""));
  if (options.layout.levels == Levels::cloud) writer->describe_also(", optimized for clouds");
  return writer;
}

}  // namespace sepconv
