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

/// Repeats the elements at the beginning of a row over the row, from its end on, so that no element is
/// overwritten before it is read.
template <class T>
void repeat_row(T* row, const ImageSpec& part, Extent extent, std::int64_t channels) {
  const std::int64_t pixel_stride = part.extent.cols == extent.cols ? part.channels : 0;
  const std::int64_t channel_stride = part.channels == channels ? 1 : 0;
  for (std::int64_t col = extent.cols - 1; col >= 0; --col) {
    for (std::int64_t c = channels - 1; c >= 0; --c)
      row[col * channels + c] = row[col * pixel_stride + c * channel_stride];
  }
}

class BroadcastReader final : public Reader {
 public:
  BroadcastReader(std::unique_ptr<Reader> part, Extent extent, std::int64_t channels)
      : part_(std::move(part)),
        spec_{extent, channels, part_->spec().type},
        repeats_rows_(part_->spec().extent.rows != extent.rows),
        repeats_cols_(part_->spec().extent.cols != extent.cols),
        layout_(part_->layout()) {
    if (repeats_rows_) layout_.block.rows = 1;
    if (repeats_cols_) layout_.block.cols = 1;
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

  /// Reads the stored pixels to the beginning of each row (or of the first row) and repeats them from there.
  void read(const Rect& rect, const PixelView& out, Executor& executor) override {
    const ImageSpec& part = part_->spec();
    const Rect stored_rect{repeats_rows_ ? 0 : rect.row, repeats_cols_ ? 0 : rect.col,
                           repeats_rows_ ? 1 : rect.rows, repeats_cols_ ? 1 : rect.cols};
    part_->read(stored_rect, {out.data, stored_rect.extent(), part.channels, part.type, out.pitch_bytes},
                executor);
    if (repeats_cols_ || part.channels != spec_.channels) repeat_columns(stored_rect.rows, out, executor);
    if (!repeats_rows_) return;
    for_each_row_piece(
        out.extent.rows, out.row_bytes(), executor, [&](std::int64_t first, std::int64_t count) {
          for (std::int64_t row = std::max<std::int64_t>(first, 1); row < first + count; ++row)
            std::memcpy(out.row_data(row), out.data, static_cast<std::size_t>(out.row_bytes()));
        });
  }

 private:
  void repeat_columns(std::int64_t rows, const PixelView& out, Executor& executor) const {
    ImageSpec part = part_->spec();
    if (!repeats_cols_) part.extent.cols = out.extent.cols;
    visit_pixel_type(out.type, [&]<class T>(std::type_identity<T>) {
      for_each_row_piece(rows, out.row_bytes(), executor, [&](std::int64_t first, std::int64_t count) {
        for (std::int64_t row = first; row < first + count; ++row)
          repeat_row(out.row<T>(row), part, out.extent, out.channels);
      });
    });
  }

  std::unique_ptr<Reader> part_;
  ImageSpec spec_;
  bool repeats_rows_, repeats_cols_;  ///< dimensions that are repeated
  SourceLayout layout_;
};

}  // namespace

bool is_broadcastable_to(const ImageSpec& part, Extent extent, std::int64_t channels) noexcept {
  const auto is_compatible = [](std::int64_t length, std::int64_t whole) {
    return length == whole || length == 1;
  };
  return is_compatible(part.extent.rows, extent.rows) && is_compatible(part.extent.cols, extent.cols) &&
         is_compatible(part.channels, channels);
}

std::unique_ptr<Reader> make_broadcast_reader(std::unique_ptr<Reader> part, Extent extent,
                                              std::int64_t channels) {
  const ImageSpec& spec = part->spec();
  if (!is_broadcastable_to(spec, extent, channels))
    throw InvalidArgument(fmt::format(
        "an image of {} rows x {} columns of {} cannot be broadcast to {} rows x {} columns of {}: each "
        "side must be equal or 1",
        spec.extent.rows, spec.extent.cols, count_text(spec.channels, "channel"), extent.rows, extent.cols,
        count_text(channels, "channel")));
  if (spec.extent == extent && spec.channels == channels) return part;
  return std::make_unique<BroadcastReader>(std::move(part), extent, channels);
}

}  // namespace sepconv
