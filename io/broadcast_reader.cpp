#include "io/broadcast_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/count_text.hpp"
#include "core/error.hpp"
#include "io/flat/row_pieces.hpp"

namespace sepconv {
namespace {

/// Spreads the elements at a row's beginning over the row, from its end on: none is written over before it
/// was read.
template <class T>
void spread_row(T* row, const ImageSpec& part, Extent extent, std::int64_t channels) {
  const std::int64_t pixel = part.extent.cols == extent.cols ? part.channels : 0;
  const std::int64_t channel = part.channels == channels ? 1 : 0;
  for (std::int64_t col = extent.cols - 1; col >= 0; --col) {
    for (std::int64_t c = channels - 1; c >= 0; --c) row[col * channels + c] = row[col * pixel + c * channel];
  }
}

class BroadcastReader final : public Reader {
 public:
  BroadcastReader(std::unique_ptr<Reader> part, Extent extent, std::int64_t channels)
      : part_(std::move(part)),
        spec_{extent, channels, part_->spec().type},
        rows_(part_->spec().extent.rows != extent.rows),
        cols_(part_->spec().extent.cols != extent.cols),
        layout_(part_->layout()) {
    if (rows_) layout_.block.rows = 1;
    if (cols_) layout_.block.cols = 1;
    layout_.coded.reset();
    layout_.file.reset();
  }

  const ImageSpec& spec() const noexcept override { return spec_; }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return part_->metadata(); }
  std::int64_t buffer_bytes(int concurrency) const override { return part_->buffer_bytes(concurrency); }
  SharedBlocks shared_blocks() const noexcept override { return part_->shared_blocks(); }
  void set_cache_budget(std::int64_t bytes) override { part_->set_cache_budget(bytes); }
  std::int64_t stored_bytes() const noexcept override { return part_->stored_bytes(); }
  std::int64_t changed_ns() const noexcept override { return part_->changed_ns(); }

  /// What there is goes to the beginning of each row, or of the first, and is spread from there.
  void read(const Rect& rect, const PixelView& out, Executor& executor) override {
    const ImageSpec& part = part_->spec();
    const Rect held{rows_ ? 0 : rect.row, cols_ ? 0 : rect.col, rows_ ? 1 : rect.rows, cols_ ? 1 : rect.cols};
    part_->read(held, {out.data, held.extent(), part.channels, part.type, out.pitch_bytes}, executor);
    if (cols_ || part.channels != spec_.channels) spread(held.rows, out, executor);
    if (!rows_) return;
    for_each_row_piece(
        out.extent.rows, out.row_bytes(), executor, [&](std::int64_t first, std::int64_t count) {
          for (std::int64_t row = std::max<std::int64_t>(first, 1); row < first + count; ++row)
            std::memcpy(out.row_data(row), out.data, static_cast<std::size_t>(out.row_bytes()));
        });
  }

 private:
  void spread(std::int64_t rows, const PixelView& out, Executor& executor) const {
    ImageSpec part = part_->spec();
    if (!cols_) part.extent.cols = out.extent.cols;
    visit_pixel_type(out.type, [&]<class T>(std::type_identity<T>) {
      for_each_row_piece(rows, out.row_bytes(), executor, [&](std::int64_t first, std::int64_t count) {
        for (std::int64_t row = first; row < first + count; ++row)
          spread_row(out.row<T>(row), part, out.extent, out.channels);
      });
    });
  }

  std::unique_ptr<Reader> part_;
  ImageSpec spec_;
  bool rows_, cols_;  ///< along which it repeats
  SourceLayout layout_;
};

}  // namespace

bool repeats_to(const ImageSpec& part, Extent extent, std::int64_t channels) noexcept {
  const auto fits = [](std::int64_t side, std::int64_t whole) { return side == whole || side == 1; };
  return fits(part.extent.rows, extent.rows) && fits(part.extent.cols, extent.cols) &&
         fits(part.channels, channels);
}

std::unique_ptr<Reader> make_broadcast_reader(std::unique_ptr<Reader> part, Extent extent,
                                              std::int64_t channels) {
  const ImageSpec& spec = part->spec();
  if (!repeats_to(spec, extent, channels))
    throw InvalidArgument(fmt::format(
        "an image of {} rows x {} columns of {} does not repeat as one of {} rows x {} columns of {}: each "
        "side is to be the same, or 1",
        spec.extent.rows, spec.extent.cols, count_text(spec.channels, "channel"), extent.rows, extent.cols,
        count_text(channels, "channel")));
  if (spec.extent == extent && spec.channels == channels) return part;
  return std::make_unique<BroadcastReader>(std::move(part), extent, channels);
}

}  // namespace sepconv
