#include "io/test_pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "io/value_noise.hpp"

namespace sepconv {
namespace {

constexpr std::string_view kNames[] = {"natural", "gradient", "checkerboard", "impulse", "noise"};

/// Block of one task: enough rows to reuse lattice rows, few enough columns for the second-level cache.
constexpr Extent kBlock{64, 4096};

template <class T>
constexpr T kMin = std::is_floating_point_v<T> ? T{0} : std::numeric_limits<T>::min();
template <class T>
constexpr T kMax = std::is_floating_point_v<T> ? T{1} : std::numeric_limits<T>::max();

/// Scales a value in [0, 2^bits) to the range of the type, or to [0, 1). Exact for all types but f32 with
/// more than 24 bits.
template <class T, int bits, class Value>
T scale_to_range(Value value) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value) * (T{1} / static_cast<T>(std::uint64_t{1} << bits));
  } else {
    const auto high_bits = static_cast<std::int32_t>(value >> (bits - 8 * static_cast<int>(sizeof(T))));
    return static_cast<T>(high_bits + kMin<T>);
  }
}

/// Parameters of a pattern.
struct Context {
  ImageSpec spec;
  std::uint64_t seed;
};
/// Writes the pixels of `rect` to `out`. Selected once per reader.
using Fill = void (*)(const Context&, const Rect&, const PixelView&);

template <class T>
void fill_natural(const Context& context, const Rect& rect, const PixelView& out) {
  for (std::int64_t channel = 0; channel < out.channels; ++channel) {
    NaturalNoise noise(context.seed, channel, rect.col, rect.cols);
    for (std::int64_t row = 0; row < rect.rows; ++row) {
      const std::int32_t* const values = noise.row(rect.row + row).data();
      T* const pixels = out.row<T>(row) + channel;
      if (out.channels == 1) {  // a constant stride, so that the compiler vectorises it
        for (std::int64_t col = 0; col < rect.cols; ++col)
          pixels[col] = scale_to_range<T, kFullScaleBits>(values[col]);
      } else {
        for (std::int64_t col = 0; col < rect.cols; ++col) {
          pixels[col * out.channels] = scale_to_range<T, kFullScaleBits>(values[col]);
        }
      }
    }
  }
}

/// min + (max - min) * position / last, rounded to nearest; position counts from the upper left corner.
template <class T>
T gradient_value(std::int64_t position, std::int64_t last) noexcept {
  if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(static_cast<double>(position) / static_cast<double>(last));
  } else {
    constexpr std::int64_t range = std::int64_t{kMax<T>} - kMin<T>;
    return static_cast<T>((2 * position * range + last) / (2 * last) + kMin<T>);
  }
}

template <class T>
void fill_gradient(const Context& context, const Rect& rect, const PixelView& out) {
  const std::int64_t last =
      std::max<std::int64_t>(1, context.spec.extent.rows + context.spec.extent.cols - 2);
  for (std::int64_t row = 0; row < rect.rows; ++row) {
    T* pixel = out.row<T>(row);
    for (std::int64_t col = 0; col < rect.cols; ++col, pixel += out.channels) {
      std::fill_n(pixel, out.channels, gradient_value<T>(rect.row + row + rect.col + col, last));
    }
  }
}

template <class T>
void fill_checkerboard(const Context&, const Rect& rect, const PixelView& out) {
  for (std::int64_t row = 0; row < rect.rows; ++row) {
    T* pixel = out.row<T>(row);
    for (std::int64_t col = 0; col < rect.cols; ++col, pixel += out.channels) {
      const bool is_white = ((((rect.row + row) >> 3) + ((rect.col + col) >> 3)) & 1) != 0;
      std::fill_n(pixel, out.channels, is_white ? kMax<T> : T{0});
    }
  }
}

template <class T>
void fill_impulse(const Context& context, const Rect& rect, const PixelView& out) {
  for (std::int64_t row = 0; row < rect.rows; ++row) std::fill_n(out.row<T>(row), out.row_elements(), T{0});
  const Rect centre{context.spec.extent.rows / 2, context.spec.extent.cols / 2, 1, 1};
  if (!rect.contains(centre)) return;
  std::fill_n(out.row<T>(centre.row - rect.row) + (centre.col - rect.col) * out.channels, out.channels,
              kMax<T>);
}

template <class T>
void fill_noise(const Context& context, const Rect& rect, const PixelView& out) {
  constexpr int bits = std::is_same_v<T, double> ? 53 : 24;
  const std::uint64_t key = mix64(context.seed);
  for (std::int64_t row = 0; row < rect.rows; ++row) {
    const std::uint64_t row_key = mix64(key ^ static_cast<std::uint64_t>(rect.row + row));
    const auto first = static_cast<std::uint64_t>(rect.col * out.channels);
    T* const elements = out.row<T>(row);
    const auto count = static_cast<std::uint64_t>(out.row_elements());
    for (std::uint64_t i = 0; i < count; ++i) {
      elements[i] =
          scale_to_range<T, bits>(static_cast<std::int64_t>(mix64(row_key + first + i) >> (64 - bits)));
    }
  }
}

Fill select_fill(Pattern pattern, PixelType type) {
  return visit_pixel_type(type, [pattern]<class T>(std::type_identity<T>) -> Fill {
    switch (pattern) {
      case Pattern::natural:
        return fill_natural<T>;
      case Pattern::gradient:
        return fill_gradient<T>;
      case Pattern::checkerboard:
        return fill_checkerboard<T>;
      case Pattern::impulse:
        return fill_impulse<T>;
      case Pattern::noise:
        break;
    }
    return fill_noise<T>;
  });
}

class PatternReader final : public Reader {
 public:
  PatternReader(const ImageSpec& spec, Pattern pattern, std::uint64_t seed)
      : context_{spec, seed}, fill_(select_fill(pattern, spec.type)) {
    layout_.description = fmt::format("computed pattern {}, seed {}", name_of(pattern), seed);
  }

  const ImageSpec& spec() const noexcept override { return context_.spec; }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return metadata_; }
  std::int64_t stored_bytes() const noexcept override { return 0; }
  std::int64_t buffer_bytes(int concurrency) const override {
    return concurrency * NaturalNoise::scratch_bytes(std::min(kBlock.cols, context_.spec.extent.cols));
  }

  void read(const Rect& rect, const PixelView& out, Executor& executor) override {
    const std::int64_t block_cols = ceil_div(rect.cols, kBlock.cols);
    executor.for_each(block_cols * ceil_div(rect.rows, kBlock.rows), [&](std::int64_t index, int) {
      const Rect block =
          Rect{index / block_cols * kBlock.rows, index % block_cols * kBlock.cols, kBlock.rows, kBlock.cols}
              .intersect(Rect::whole(rect.extent()));
      fill_(context_, {rect.row + block.row, rect.col + block.col, block.rows, block.cols}, out.crop(block));
    });
  }

 private:
  Context context_;
  Fill fill_;
  SourceLayout layout_;
  Metadata metadata_;
};

}  // namespace

std::string_view name_of(Pattern pattern) noexcept { return kNames[static_cast<std::size_t>(pattern)]; }

std::optional<Pattern> parse_pattern(std::string_view name) noexcept {
  const auto* const found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<Pattern>(found - std::begin(kNames));
}

std::unique_ptr<Reader> make_pattern_reader(const ImageSpec& spec, Pattern pattern, std::uint64_t seed) {
  return std::make_unique<PatternReader>(spec, pattern, seed);
}

}  // namespace sepconv
