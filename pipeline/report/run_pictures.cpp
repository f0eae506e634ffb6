#include "pipeline/report/run_pictures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "io/png/png_pixels.hpp"

namespace sepconv {
namespace {

/// For an overview: as many pixels as make a picture, more where the run takes long, and never more bytes than
/// that.
constexpr std::int64_t kFewPixels = std::int64_t{1} << 17;
constexpr std::int64_t kMaxBytes = std::int64_t{2} << 20;
constexpr std::int64_t kPixelsAPixel = 256;
constexpr std::int64_t kManyPixels = std::int64_t{1} << 20;
/// For the detail, in pixels of the result.
constexpr Extent kDetail{480, 720};

std::int64_t overview_pixels(const ImageSpec& image) {
  const std::int64_t most = std::min(kManyPixels, kMaxBytes / (shown_channels(image) * size_of(image.type)));
  return std::min(most, std::max(kFewPixels, image.extent.area() / kPixelsAPixel));
}

bool moves_pixels(const Chain& chain) {
  return std::ranges::any_of(chain.stages(), [](const StagePtr& stage) {
    const StageTraits& traits = stage->traits();
    return traits.is_permutation || traits.is_transpose || traits.product != Product::none;
  });
}

/// In the middle of the sink.
Rect detail_of(const ImageSpec& sink) {
  Extent most = kDetail;
  if (most.area() * shown_channels(sink) * size_of(sink.type) > kMaxBytes)
    most = {most.rows / 2, most.cols / 2};
  const Extent part{std::min(most.rows, sink.extent.rows), std::min(most.cols, sink.extent.cols)};
  return {(sink.extent.rows - part.rows) / 2, (sink.extent.cols - part.cols) / 2, part.rows, part.cols};
}

MissingSamples of_source(const MissingPixels& missing) { return {missing.value, missing.alpha}; }

MissingSamples of_result(const MissingPixels& missing) {
  return {missing.value ? std::optional(missing.result) : std::nullopt, missing.alpha};
}

/// The plane's part in the pixels of a rectangle of rows that are planes, all of it rows of planes; empty
/// where it has none.
std::pair<Rect, ConstPixelView> in_plane(std::int64_t row, Extent plane, const Rect& rect,
                                         const ConstPixelView& pixels) {
  const std::int64_t cols = std::min(rect.col_end(), plane.area()) - rect.col;
  if (row < rect.row || row >= rect.row_end() || cols <= 0) return {};
  ConstPixelView part = pixels.crop({row - rect.row, 0, 1, cols});
  part.extent = {cols / plane.cols, plane.cols};
  part.pitch_bytes = plane.cols * part.pixel_bytes();
  return {{rect.col / plane.cols, 0, part.extent.rows, part.extent.cols}, part};
}

/// From one value to another, both of which are in them.
struct Bins {
  double low = 0, high = 0, width = 1;
  int count = 1;
};

/// For what is shown and some more on both sides. Those of integers have the same number of them each: else
/// their histogram is a comb.
Bins bins_of(PixelType type, const Stretch& stretch) {
  constexpr int kMax = 128;
  const double margin = type == PixelType::u8 ? 0 : 0.05 * (stretch.high - stretch.low);
  const double low = stretch.low - margin, high = stretch.high + margin;
  return visit_pixel_type(type, [&]<class T>(std::type_identity<T>) -> Bins {
    if constexpr (std::is_integral_v<T>) {
      const double first = std::max(std::floor(low), static_cast<double>(std::numeric_limits<T>::min()));
      const double last = std::min(std::ceil(high), static_cast<double>(std::numeric_limits<T>::max()));
      const double width = std::ceil((last - first + 1) / kMax);
      const auto count = static_cast<int>(std::ceil((last - first + 1) / width));
      return {first, first + width * count - 1, width, count};
    } else {
      return {low, high, high > low ? (high - low) / kMax : 1.0, kMax};
    }
  });
}

std::uint8_t grey(double value, const Stretch& stretch) {
  const double width = stretch.high > stretch.low ? stretch.high - stretch.low : 1;
  const double share = (value - stretch.low) / width;
  return share > 0 ? static_cast<std::uint8_t>(std::lround(255 * std::min(share, 1.0))) : 0;  // NaN: 0
}

}  // namespace

/// For which image pictures are kept: the plan's, or one plane of it.
struct PreviewCollector::Kept {
  ImageSpec source, result;
  Rect region;  // of the result
  Chain given;

  explicit Kept(const Plan& plan)
      : source(plan.source()), result(plan.result()), region(plan.region), given(plan.given) {
    if (!plan.planes) return;
    source.extent = plan.planes->source;
    result.extent = plan.planes->result;
    region = Rect::whole(result.extent);
    given = plan.planes->given;
  }

  ImageSpec sink() const { return {region.extent(), result.channels, result.type}; }
  Rect detail_in_result() const {
    const Rect part = detail_of(sink());
    return {part.row + region.row, part.col + region.col, part.rows, part.cols};
  }
  /// For the source what lies where this part of the result does, in proportion to their sides.
  Rect in_source(Rect part) const {
    Extent whole = result.extent;
    if (given.turns()) {
      part = {part.col, part.row, part.cols, part.rows};
      whole = {whole.cols, whole.rows};
    }
    return part_of(source.extent, part, whole);
  }
};

PreviewCollector::PreviewCollector(const Plan& plan, const MissingPixels& missing)
    : PreviewCollector(plan, Kept(plan), missing) {}

PreviewCollector::PreviewCollector(const Plan& plan, const Kept& kept, const MissingPixels& missing)
    : plane_(plan.planes ? std::optional(plan.source().extent.rows / 2) : std::nullopt),
      same_places_(!moves_pixels(kept.given)),
      source_{{kept.source, kept.in_source(kept.region), overview_pixels(kept.source), of_source(missing)},
              {kept.source, kept.in_source(kept.detail_in_result()), kDetail.area(), of_source(missing)},
              kept.source.extent},
      result_{
          {kept.sink(), Rect::whole(kept.sink().extent), overview_pixels(kept.sink()), of_result(missing)},
          {kept.sink(), detail_of(kept.sink()), kDetail.area(), of_result(missing)},
          kept.sink().extent} {}

void PreviewCollector::see(std::mutex& mutex, Side& side, const Rect& rect,
                           const ConstPixelView& pixels) const {
  if (plane_) {
    const auto [part, of_plane] = in_plane(*plane_, side.extent, rect, pixels);
    if (part.empty()) return;
    return keep(mutex, side, part, of_plane);
  }
  keep(mutex, side, rect, pixels);
}

void PreviewCollector::keep(std::mutex& mutex, Side& side, const Rect& rect, const ConstPixelView& pixels) {
  const std::scoped_lock lock(mutex);
  side.all.see(rect, pixels);
  side.detail.see(rect, pixels);
}

void PreviewCollector::see_source(const Rect& rect, const ConstPixelView& pixels) {
  see(source_mutex_, source_, rect, pixels);
}

void PreviewCollector::see_result(const Rect& rect, const ConstPixelView& pixels) {
  see(result_mutex_, result_, rect, pixels);
}

Rect part_of(Extent image, const Rect& part, Extent other) {
  const auto cut = [](std::int64_t begin, std::int64_t length, std::int64_t to, std::int64_t from) {
    const double scale = static_cast<double>(to) / static_cast<double>(from);
    const auto first = std::min(static_cast<std::int64_t>(static_cast<double>(begin) * scale), to - 1);
    const auto end = static_cast<std::int64_t>(std::ceil(static_cast<double>(begin + length) * scale));
    return std::pair{first, std::clamp(end, first + 1, to) - first};
  };
  const auto [row, rows] = cut(part.row, part.rows, image.rows, other.rows);
  const auto [col, cols] = cut(part.col, part.cols, image.cols, other.cols);
  return {row, col, rows, cols};
}

Stretch stretch_of(PixelType type, std::vector<float> values) {
  if (type == PixelType::u8) return {};
  std::erase_if(values, [](float value) { return !std::isfinite(value); });
  if (values.empty()) return {0, 1};
  const auto at = [&](double share) {
    const auto place =
        values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::ranges::nth_element(values, place);
    return static_cast<double>(*place);
  };
  return {at(0.005), at(0.995)};
}

std::vector<std::uint8_t> stretched(const std::vector<float>& values, const Stretch& stretch) {
  std::vector<std::uint8_t> greys;
  greys.reserve(values.size());
  for (const float value : values) greys.push_back(grey(value, stretch));
  return greys;
}

std::vector<std::byte> png_of(const SampledPixels& pixels, const Stretch& stretch) {
  std::vector<std::uint8_t> picture = stretched(pixels.values(), stretch);
  return png_in_memory(view_of(picture.data(), pixels.grid(), pixels.channels()));
}

Histogram histogram_of(const SampledPixels& pixels) {
  const std::vector<double> values = pixels.exact_values();
  const auto channels = static_cast<std::size_t>(pixels.channels());
  const Bins bins = bins_of(pixels.type(), stretch_of(pixels.type(), pixels.values()));
  Histogram found{.low = bins.low,
                  .high = bins.high,
                  .samples = std::ssize(values),
                  .ends_hold_others = pixels.type() != PixelType::u8};
  found.counts.assign(channels, std::vector<std::int64_t>(static_cast<std::size_t>(bins.count)));
  double count = 0, squares = 0;  // of distances from the mean, as Welford adds them up
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    if (std::isnan(value)) continue;
    const double bin = std::clamp((value - bins.low) / bins.width, 0.0, static_cast<double>(bins.count - 1));
    ++found.counts[i % channels][static_cast<std::size_t>(bin)];
    found.least = count == 0 ? value : std::min(found.least, value);
    found.most = count == 0 ? value : std::max(found.most, value);
    ++count;
    const double before = value - found.mean;
    found.mean += before / count;
    squares += before * (value - found.mean);
  }
  if (count == 0) return {.samples = found.samples, .nan_share = 1};
  found.nan_share = 1 - count / static_cast<double>(values.size());
  found.deviation = std::sqrt(squares / count);
  return found;
}

}  // namespace sepconv
