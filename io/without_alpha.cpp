#include "io/without_alpha.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/memory.hpp"
#include "io/flat/row_pieces.hpp"
#include "io/split_alpha.hpp"

namespace sepconv {
namespace {

/// Buffer size, if a row of the sink's blocks is not larger.
constexpr std::int64_t kBufferBytes = std::int64_t{4} << 20;

template <class T>
T adjacent_value(T value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(value == std::numeric_limits<T>::max() ? value - 1 : value + 1);
  else
    return std::nextafter(value, value < 0 ? T(0) : std::numeric_limits<T>::infinity());
}

/// Changes the first channel of visible pixels (alpha not 0) whose channels all have the value to the next
/// value.
void avoid_value(double reserved_value, const ConstPixelView& in, const PixelView& out) {
  visit_pixel_type(in.type, [&]<class T>(std::type_identity<T>) {
    const T value = static_cast<T>(reserved_value);
    for (std::int64_t row = 0; row < in.extent.rows; ++row) {
      const T* alpha = in.template row<T>(row) + out.channels;
      T* to = out.template row<T>(row);
      for (std::int64_t col = 0; col < in.extent.cols; ++col, alpha += in.channels, to += out.channels) {
        const bool is_visible = *alpha < T(0) || *alpha > T(0);
        if (is_visible && std::all_of(to, to + out.channels, [&](T x) { return x == value; }))
          *to = adjacent_value(value);
      }
    }
  });
}

class WithoutAlpha final : public Writer {
 public:
  WithoutAlpha(std::unique_ptr<Writer> owned, std::optional<double> reserved_value)
      : WithoutAlpha(*owned, reserved_value) {
    owned_ = std::move(owned);
  }
  WithoutAlpha(Writer& sink, std::optional<double> reserved_value)
      : sink_(sink), spec_(sink.spec()), layout_(sink.layout()), reserved_value_(reserved_value) {
    ++spec_.channels;
    layout_.coded.reset();
    layout_.alpha_becomes_mask = true;
    for (Writer* const level : sink.levels())
      levels_.push_back(std::make_unique<WithoutAlpha>(*level, reserved_value_));
  }

  const ImageSpec& spec() const noexcept override { return spec_; }
  const SinkLayout& layout() const noexcept override { return layout_; }

  void write(const Rect& rect, const ConstPixelView& in, Executor& executor) override {
    const Buffer buffer(std::min(buffered_rows(), rect.rows) * sink_.spec().pixel_bytes() * rect.cols);
    for (std::int64_t row = rect.row; row < rect.row_end();) {
      const std::int64_t end = std::min((row / buffered_rows() + 1) * buffered_rows(), rect.row_end());
      const Rect part{row, rect.col, end - row, rect.cols};
      const ConstPixelView from = in.crop({row - rect.row, 0, part.rows, part.cols});
      const PixelView to = dense_view(buffer.data(), sink_.spec(), part.extent());
      for_each_row_piece(part.rows, from.row_bytes(), executor, [&](std::int64_t first, std::int64_t count) {
        const Rect piece{first, 0, count, part.cols};
        copy_but_last(from.crop(piece), to.crop(piece));
        if (reserved_value_) avoid_value(*reserved_value_, from.crop(piece), to.crop(piece));
      });
      sink_.write(part, to, executor);
      row = end;
    }
  }

  ResumableWriter* resumable() noexcept override { return sink_.resumable(); }
  std::vector<Writer*> levels() override {
    std::vector<Writer*> writers;
    for (const auto& level : levels_) writers.push_back(level.get());
    return writers;
  }
  void prepare_finish() override { sink_.prepare_finish(); }
  void finish() override { sink_.finish(); }
  std::int64_t buffer_bytes(int concurrency) const override {
    return sink_.buffer_bytes(concurrency) + buffered_rows() * sink_.spec().row_bytes();
  }

 private:
  std::int64_t buffered_rows() const noexcept {
    const std::int64_t unit = layout_.unit().rows;
    return std::max<std::int64_t>(1, kBufferBytes / (unit * sink_.spec().row_bytes())) * unit;
  }

  std::unique_ptr<Writer> owned_;
  Writer& sink_;
  ImageSpec spec_;
  SinkLayout layout_;
  std::optional<double> reserved_value_;
  std::vector<std::unique_ptr<WithoutAlpha>> levels_;
};

}  // namespace

std::unique_ptr<Writer> make_without_alpha(std::unique_ptr<Writer> sink,
                                           std::optional<double> reserved_value) {
  return std::make_unique<WithoutAlpha>(std::move(sink), reserved_value);
}

}  // namespace sepconv
