#include "io/tiff/masked_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "core/memory.hpp"
#include "io/extra_samples.hpp"
#include "io/flat/row_pieces.hpp"
#include "io/nodata.hpp"

namespace sepconv {
namespace {

/// Rows of the mask that are buffered, unless its blocks are taller.
constexpr std::int64_t kMaskRows = 64;

class MaskedReader final : public Reader {
 public:
  MaskedReader(std::unique_ptr<Reader> image, HiddenPixels hidden)
      : image_(std::move(image)),
        mask_(std::move(hidden.mask)),
        hidden_value_(hidden.of_all),
        spec_(image_->spec()),
        layout_(image_->layout()),
        metadata_(image_->metadata()) {
    layout_.coded.reset();  // pixels are changed here
    layout_.warnings.insert(layout_.warnings.end(), hidden.warnings.begin(), hidden.warnings.end());
    if (mask_) layout_.description += fmt::format(", with a mask of {}", mask_->layout().description);
    layout_.has_mask = layout_.has_mask || mask_;
    by_value_ = has_nan_elements() && !hidden.to_be_alpha && !hidden_value_;
    hides_pixels_ = mask_ || hidden_value_ || hidden.others_have_masks || hidden.to_be_alpha;
    if (!hides_pixels_) return;
    if (by_value_) {
      mark_by_value();
    } else {
      mark_by_alpha();
    }
  }

  const ImageSpec& spec() const noexcept override { return spec_; }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return metadata_; }
  std::int64_t stored_bytes() const noexcept override {
    return image_->stored_bytes() + (mask_ ? mask_->stored_bytes() : 0);
  }
  std::int64_t changed_ns() const noexcept override { return image_->changed_ns(); }
  std::int64_t buffer_bytes(int concurrency) const override {
    return image_->buffer_bytes(concurrency) + (mask_ ? mask_->buffer_bytes(concurrency) : 0) +
           mask_rows() * spec_.extent.cols;
  }

  std::vector<std::string> warnings_after_reading() const override {
    return image_->warnings_after_reading();
  }

  void set_cache_budget(std::int64_t bytes) override { image_->set_cache_budget(bytes); }

  void read(const Rect& rect, const PixelView& out, Executor& executor) override {
    if (!hides_pixels_) return image_->read(rect, out, executor);
    image_->read(rect, packed(out), executor);
    const Buffer mask_buffer(std::min(mask_rows(), rect.rows) * rect.cols);
    for (std::int64_t row = rect.row; row < rect.row_end();) {
      // Ends at the end of a block, so that none is decoded twice.
      const std::int64_t end = std::min(rect.row_end(), (row / mask_rows() + 1) * mask_rows());
      const Rect part{row, rect.col, end - row, rect.cols};
      const PixelView mask = dense_view(mask_buffer.data(), {part.extent(), 1, PixelType::u8});
      if (mask_)
        mask_->read(part, mask, executor);
      else
        std::memset(mask.data, 1, static_cast<std::size_t>(part.area()));
      const PixelView pixels = out.crop({row - rect.row, 0, part.rows, part.cols});
      for_each_row_piece(part.rows, out.row_bytes(), executor, [&](std::int64_t first, std::int64_t count) {
        for (std::int64_t i = first; i < first + count; ++i) {
          if (hidden_value_) hide_value(packed(pixels), i, mask.row<std::uint8_t>(i));
          apply_mask(mask.row<std::uint8_t>(i), pixels, i);
        }
      });
      row = end;
    }
  }

 private:
  std::int64_t mask_rows() const {
    const std::int64_t unit = mask_ ? mask_->layout().unit().rows : 1;
    return std::min(round_up(kMaskRows, unit), spec_.extent.rows);
  }
  SampleType element() const { return layout_.stored.value_or(SampleType(spec_.type)); }
  /// Whether elements can be NaN. Integers cannot, though those of 32 and 64 bits are f64 in memory.
  bool has_nan_elements() const {
    return element().kind == SampleType::Kind::floating || element().kind == SampleType::Kind::complex;
  }
  bool adds_alpha() const noexcept { return spec_.channels != image_->spec().channels; }

  void mark_by_value() {
    const std::optional<double> declared = declared_nodata(metadata_, spec_.type, element());
    value_ = declared.value_or(std::numeric_limits<double>::quiet_NaN());
    if (!declared) {
      if (const auto text = nodata_value(metadata_))
        layout_.warnings.push_back(
            fmt::format("GDAL's nodata value {} is left out: the pixels have no such value", *text));
      set_nodata(metadata_, "nan");
    }
    layout_.warnings.push_back(fmt::format(
        "what the image's mask hides is read as missing pixels of value {}, and the result has that value "
        "instead of a mask",
        value_));
  }

  void mark_by_alpha() {
    alpha_ = alpha_channel(metadata_, spec_.channels).value_or(spec_.channels);
    // The maximum for up to 16 bits, as in pictures. Larger integers are f64 in memory, which cannot
    // represent their maximum.
    if (const SampleType type = element(); type.kind != SampleType::Kind::boolean && type.bits <= 16)
      opaque_ = std::exp2(type.bits - (type.kind == SampleType::Kind::integer ? 1 : 0)) - 1;
    if (alpha_ == spec_.channels) {
      ++spec_.channels;
      metadata_.extra_samples.push_back(kUnassociatedAlpha);
      metadata_.mask_channel = true;
    }
  }

  /// View for the image's own channels: the end of each row, from where they are moved to their pixels.
  PixelView packed(const PixelView& out) const {
    PixelView image_view = out;
    image_view.channels = image_->spec().channels;
    image_view.data += out.row_bytes() - image_view.row_bytes();
    return image_view;
  }

  void hide_value(const PixelView& image_view, std::int64_t row, std::uint8_t* mask) const {
    visit_pixel_type(image_view.type, [&]<class T>(std::type_identity<T>) {
      const T* pixel = image_view.row<T>(row);
      const auto has_value = [&](std::int64_t c) {
        return c == alpha_ || static_cast<double>(pixel[c]) == *hidden_value_ ||
               (std::isnan(*hidden_value_) && pixel[c] != pixel[c]);
      };
      for (std::int64_t col = 0; col < image_view.extent.cols; ++col, pixel += image_view.channels) {
        std::int64_t c = 0;
        while (c < image_view.channels && has_value(c)) ++c;
        if (c == image_view.channels) mask[col] = 0;
      }
    });
  }

  void apply_mask(const std::uint8_t* mask, const PixelView& pixels, std::int64_t row) const {
    visit_pixel_type(spec_.type, [&]<class T>(std::type_identity<T>) {
      T* const to = pixels.row<T>(row);
      if (by_value_) return hide(mask, pixels.extent.cols, to);
      if (adds_alpha()) return insert_alpha(mask, packed(pixels).row<T>(row), pixels.extent.cols, to);
      for (std::int64_t col = 0; col < pixels.extent.cols; ++col)
        if (mask[col] == 0) to[col * spec_.channels + alpha_] = 0;
    });
  }

  template <class T>
  void hide(const std::uint8_t* mask, std::int64_t cols, T* to) const {
    for (std::int64_t col = 0; col < cols; ++col)
      if (mask[col] == 0) std::fill_n(to + col * spec_.channels, spec_.channels, static_cast<T>(value_));
  }

  /// A pixel's destination is never after its source.
  template <class T>
  void insert_alpha(const std::uint8_t* mask, const T* from, std::int64_t cols, T* to) const {
    const std::int64_t image_channels = spec_.channels - 1;
    const T opaque = static_cast<T>(opaque_);
    for (std::int64_t col = 0; col < cols; ++col, to += spec_.channels, from += image_channels) {
      for (std::int64_t c = 0; c < image_channels; ++c) to[c] = from[c];
      to[image_channels] = mask[col] == 0 ? T(0) : opaque;
    }
  }

  std::unique_ptr<Reader> image_, mask_;
  std::optional<double> hidden_value_;
  ImageSpec spec_;
  SourceLayout layout_;
  Metadata metadata_;
  bool hides_pixels_ = true, by_value_ = false;
  std::int64_t alpha_ = 0;
  double opaque_ = 1;
  double value_ = 0;
};

}  // namespace

bool is_mask_of(const Reader& mask, const Reader& image) {
  return mask.spec() == ImageSpec{image.spec().extent, 1, PixelType::u8};
}

std::unique_ptr<Reader> make_masked_reader(std::unique_ptr<Reader> image, HiddenPixels hidden) {
  return std::make_unique<MaskedReader>(std::move(image), std::move(hidden));
}

}  // namespace sepconv
