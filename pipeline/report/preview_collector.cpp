#include "pipeline/report/preview_collector.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "io/png/png_pixels.hpp"

namespace sepconv {
namespace {

/// Number of samples: kMinOverviewPixels, for large images up to kMaxOverviewPixels, and at most kMaxBytes.
constexpr std::int64_t kMinOverviewPixels = std::int64_t{1} << 17;
constexpr std::int64_t kMaxBytes = std::int64_t{2} << 20;
constexpr std::int64_t kPixelsPerSample = 256;
constexpr std::int64_t kMaxOverviewPixels = std::int64_t{1} << 20;
/// Size of an overview made of means, per channel.
constexpr std::int64_t kMaxMeans = std::int64_t{1} << 18;
/// Size of the detail, in pixels of the result.
constexpr Extent kDetail{480, 720};

std::int64_t overview_pixels(const ImageSpec& image) {
  const std::int64_t max_pixels =
      std::min(kMaxOverviewPixels, kMaxBytes / (shown_channels(image) * size_of(image.type)));
  return std::min(max_pixels, std::max(kMinOverviewPixels, image.extent.area() / kPixelsPerSample));
}

bool moves_pixels(const Chain& chain) {
  return std::ranges::any_of(chain.stages(), [](const StagePtr& stage) {
    return stage->traits().is_permutation() || stage->properties().product != Product::none;
  });
}

/// The detail's rectangle, in the middle of the sink.
Rect detail_of(const ImageSpec& sink) {
  Extent max_extent = kDetail;
  if (max_extent.area() * shown_channels(sink) * size_of(sink.type) > kMaxBytes)
    max_extent = {max_extent.rows / 2, max_extent.cols / 2};
  const Extent part{std::min(max_extent.rows, sink.extent.rows), std::min(max_extent.cols, sink.extent.cols)};
  return {(sink.extent.rows - part.rows) / 2, (sink.extent.cols - part.cols) / 2, part.rows, part.cols};
}

MissingSamples source_samples(const MissingPixels& missing) { return {missing.value, missing.alpha}; }

MissingSamples result_samples(const MissingPixels& missing) {
  return {missing.value ? std::optional(missing.result) : std::nullopt, missing.alpha};
}

/// For an image whose rows are planes: the part of plane `row` that `rect` contains, as rows of the plane.
/// Empty if it contains none.
std::pair<Rect, ConstPixelView> in_plane(std::int64_t row, Extent plane, const Rect& rect,
                                         const ConstPixelView& pixels) {
  const std::int64_t cols = std::min(rect.col_end(), plane.area()) - rect.col;
  if (row < rect.row || row >= rect.row_end() || cols <= 0) return {};
  ConstPixelView part = pixels.crop({row - rect.row, 0, 1, cols});
  part.extent = {cols / plane.cols, plane.cols};
  part.pitch_bytes = plane.cols * part.pixel_bytes();
  return {{rect.col / plane.cols, 0, part.extent.rows, part.extent.cols}, part};
}

/// Histogram bins from `low` to `high`, both inclusive.
struct Bins {
  double low = 0, high = 0, width = 1;
  int count = 1;
};

/// Bins for the stretched range with a margin on both sides. For integer types every bin has the same number
/// of values; otherwise the histogram would look like a comb.
Bins bins_of(PixelType type, const Stretch& stretch) {
  constexpr int kMaxBins = 128;
  const double margin = type == PixelType::u8 ? 0 : 0.05 * (stretch.high - stretch.low);
  const double low = stretch.low - margin, high = stretch.high + margin;
  return visit_pixel_type(type, [&]<class T>(std::type_identity<T>) -> Bins {
    if constexpr (std::is_integral_v<T>) {
      const double first = std::max(std::floor(low), static_cast<double>(std::numeric_limits<T>::min()));
      const double last = std::min(std::ceil(high), static_cast<double>(std::numeric_limits<T>::max()));
      const double width = std::ceil((last - first + 1) / kMaxBins);
      const auto count = static_cast<int>(std::ceil((last - first + 1) / width));
      return {first, first + width * count - 1, width, count};
    } else {
      return {low, high, high > low ? (high - low) / kMaxBins : 1.0, kMaxBins};
    }
  });
}

std::uint8_t grey(double value, const Stretch& stretch) {
  const double width = stretch.high > stretch.low ? stretch.high - stretch.low : 1;
  const double fraction = (value - stretch.low) / width;
  return fraction > 0 ? static_cast<std::uint8_t>(std::lround(255 * std::min(fraction, 1.0))) : 0;  // NaN: 0
}

}  // namespace

/// The image that is sampled: the plan's, or one plane of it.
struct PreviewCollector::SampledImage {
  ImageSpec source, result;
  Rect region;  // of the result
  Chain chain;

  explicit SampledImage(const Plan& plan)
      : source(plan.source()), result(plan.result()), region(plan.region), chain(plan.given) {
    if (!plan.planes) return;
    source.extent = plan.planes->source;
    result.extent = plan.planes->result;
    region = Rect::whole(result.extent);
    chain = plan.planes->given;
  }

  ImageSpec sink() const { return {region.extent(), result.channels, result.type}; }
  Rect detail_in_result() const {
    const Rect part = detail_of(sink());
    return {part.row + region.row, part.col + region.col, part.rows, part.cols};
  }
  /// The area of the source at the same relative position as `part` of the result.
  Rect source_part(Rect part) const {
    Extent whole = result.extent;
    if (chain.turns()) {
      part = {part.col, part.row, part.cols, part.rows};
      whole = {whole.cols, whole.rows};
    }
    return proportional_part(source.extent, part, whole);
  }
};

PreviewCollector::PreviewCollector(const Plan& plan, const Indexed& indexed)
    : PreviewCollector(SampledImage(plan), plan.missing, indexed,
                       plan.planes ? std::optional(plan.source().extent.rows / 2) : std::nullopt) {}

PreviewCollector::PreviewCollector(const SampledImage& sampled, const MissingPixels& missing,
                                   const Indexed& indexed, std::optional<std::int64_t> plane)
    : plane_(plane),
      same_positions_(!moves_pixels(sampled.chain)),
      source_{{sampled.source, sampled.source_part(sampled.region), overview_pixels(sampled.source),
               source_samples(missing)},
              {sampled.source, sampled.source_part(sampled.detail_in_result()), kDetail.area(),
               source_samples(missing)},
              sampled.source.extent},
      result_{{sampled.sink(), Rect::whole(sampled.sink().extent), overview_pixels(sampled.sink()),
               result_samples(missing)},
              {sampled.sink(), detail_of(sampled.sink()), kDetail.area(), result_samples(missing)},
              sampled.sink().extent} {
  if (!indexed.source)
    source_.means.emplace(sampled.source, source_.overview.area(), kMaxMeans, source_samples(missing));
  if (!indexed.result)
    result_.means.emplace(sampled.sink(), result_.overview.area(), kMaxMeans, result_samples(missing));
}

std::vector<std::byte> PreviewCollector::ImageSamples::overview_png(const Stretch& stretch) const {
  if (!means) return png_of(overview, stretch);
  std::vector<std::uint8_t> picture = stretched(means->values(), stretch);
  return encode_png_in_memory(view_of(picture.data(), means->grid(), means->channels()));
}

void PreviewCollector::collect(std::mutex& mutex, ImageSamples& samples, const Rect& rect,
                               const ConstPixelView& pixels) const {
  if (plane_) {
    const auto [part, plane_pixels] = in_plane(*plane_, samples.extent, rect, pixels);
    if (part.empty()) return;
    return add(mutex, samples, part, plane_pixels);
  }
  add(mutex, samples, rect, pixels);
}

void PreviewCollector::add(std::mutex& mutex, ImageSamples& samples, const Rect& rect,
                           const ConstPixelView& pixels) {
  const std::scoped_lock lock(mutex);
  samples.overview.see(rect, pixels);
  samples.detail.see(rect, pixels);
  if (samples.means) samples.means->see(rect, pixels);
}

void PreviewCollector::observe_source(const Rect& rect, const ConstPixelView& pixels) {
  collect(source_mutex_, source_, rect, pixels);
}

void PreviewCollector::observe_result(const Rect& rect, const ConstPixelView& pixels) {
  collect(result_mutex_, result_, rect, pixels);
}

Rect proportional_part(Extent image, const Rect& part, Extent other) {
  const auto cut = [](std::int64_t begin, std::int64_t length, std::int64_t length_out,
                      std::int64_t other_length) {
    const double scale = static_cast<double>(length_out) / static_cast<double>(other_length);
    const auto first =
        std::min(static_cast<std::int64_t>(static_cast<double>(begin) * scale), length_out - 1);
    const auto end = static_cast<std::int64_t>(std::ceil(static_cast<double>(begin + length) * scale));
    return std::pair{first, std::clamp(end, first + 1, length_out) - first};
  };
  const auto [row, rows] = cut(part.row, part.rows, image.rows, other.rows);
  const auto [col, cols] = cut(part.col, part.cols, image.cols, other.cols);
  return {row, col, rows, cols};
}

Stretch stretch_of(PixelType type, std::vector<float> values) {
  if (type == PixelType::u8) return {};
  std::erase_if(values, [](float value) { return !std::isfinite(value); });
  if (values.empty()) return {0, 1};
  const auto percentile = [&](double fraction) {
    const auto nth =
        values.begin() + static_cast<std::ptrdiff_t>(fraction * static_cast<double>(values.size() - 1));
    std::ranges::nth_element(values, nth);
    return static_cast<double>(*nth);
  };
  return {percentile(0.005), percentile(0.995)};
}

std::vector<std::uint8_t> stretched(const std::vector<float>& values, const Stretch& stretch) {
  std::vector<std::uint8_t> greys;
  greys.reserve(values.size());
  for (const float value : values) greys.push_back(grey(value, stretch));
  return greys;
}

std::vector<std::byte> png_of(const SampledPixels& pixels, const Stretch& stretch) {
  std::vector<std::uint8_t> picture = stretched(pixels.values(), stretch);
  return encode_png_in_memory(view_of(picture.data(), pixels.grid(), pixels.channels()));
}

Histogram histogram_of(const SampledPixels& pixels) {
  const std::vector<double> values = pixels.exact_values();
  const auto channels = static_cast<std::size_t>(pixels.channels());
  const Bins bins = bins_of(pixels.type(), stretch_of(pixels.type(), pixels.values()));
  Histogram histogram{.low = bins.low,
                      .high = bins.high,
                      .samples = std::ssize(values),
                      .ends_count_outliers = pixels.type() != PixelType::u8};
  histogram.counts.assign(channels, std::vector<std::int64_t>(static_cast<std::size_t>(bins.count)));
  double count = 0, squares = 0;  // sum of squared deviations (Welford's algorithm)
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    if (std::isnan(value)) continue;
    const double bin = std::clamp((value - bins.low) / bins.width, 0.0, static_cast<double>(bins.count - 1));
    ++histogram.counts[i % channels][static_cast<std::size_t>(bin)];
    histogram.least = count == 0 ? value : std::min(histogram.least, value);
    histogram.most = count == 0 ? value : std::max(histogram.most, value);
    ++count;
    const double delta = value - histogram.mean;
    histogram.mean += delta / count;
    squares += delta * (value - histogram.mean);
  }
  if (count == 0) return {.samples = histogram.samples, .nan_fraction = 1};
  histogram.nan_fraction = 1 - count / static_cast<double>(values.size());
  histogram.deviation = std::sqrt(squares / count);
  return histogram;
}

}  // namespace sepconv
