#include "sepconv/pipeline/report/run_pictures.hpp"

#include <algorithm>
#include <cmath>

#include "sepconv/io/png/png_pixels.hpp"

namespace sepconv {
namespace {

/// Of an overview: as many pixels as make a picture, more where the run takes long, and never more bytes than
/// that.
constexpr std::int64_t kFewPixels = std::int64_t{1} << 17;
constexpr std::int64_t kMostBytes = std::int64_t{2} << 20;
constexpr std::int64_t kPixelsAPixel = 256;
constexpr std::int64_t kManyPixels = std::int64_t{1} << 20;
/// Of the detail, in pixels of the result.
constexpr Extent kDetail{480, 720};

std::int64_t shown_channels(const ImageSpec& image) {
  return image.channels == 3 || image.channels == 4 ? 3 : 1;
}

std::int64_t overview_pixels(const ImageSpec& image) {
  const std::int64_t most = std::min(kManyPixels, kMostBytes / (shown_channels(image) * size_of(image.type)));
  return std::min(most, std::max(kFewPixels, image.extent.area() / kPixelsAPixel));
}

/// The middles of `count` equal parts of [begin, begin + length).
std::vector<std::int64_t> middles(std::int64_t begin, std::int64_t length, std::int64_t count) {
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < count; ++i)
    places.push_back(begin +
                     static_cast<std::int64_t>((static_cast<double>(i) + 0.5) * static_cast<double>(length) /
                                               static_cast<double>(count)));
  return places;
}

/// Those of `places`, which ascend, in [begin, end), as indices.
std::pair<std::size_t, std::size_t> within(const std::vector<std::int64_t>& places, std::int64_t begin,
                                           std::int64_t end) {
  const auto first = std::ranges::lower_bound(places, begin);
  return {static_cast<std::size_t>(first - places.begin()),
          static_cast<std::size_t>(std::ranges::lower_bound(places, end) - places.begin())};
}

bool moves_pixels(const Chain& chain) {
  return std::ranges::any_of(chain.stages(), [](const StagePtr& stage) {
    const StageTraits& traits = stage->traits();
    return traits.moves_only || traits.is_transpose || traits.product != Product::none;
  });
}

/// The part of the source that lies where this part of the result does, in proportion to their sides.
Rect part_of_source(const Plan& plan, Rect part) {
  Extent result = plan.result().extent;
  const Extent source = plan.source().extent;
  if (plan.given.turns()) {
    part = {part.col, part.row, part.cols, part.rows};
    result = {result.cols, result.rows};
  }
  return part_of(source, part, result);
}

/// In the middle of the sink.
Rect detail_of(const ImageSpec& sink) {
  Extent most = kDetail;
  if (most.area() * shown_channels(sink) * size_of(sink.type) > kMostBytes)
    most = {most.rows / 2, most.cols / 2};
  const Extent part{std::min(most.rows, sink.extent.rows), std::min(most.cols, sink.extent.cols)};
  return {(sink.extent.rows - part.rows) / 2, (sink.extent.cols - part.cols) / 2, part.rows, part.cols};
}

Rect in_result(const Plan& plan, const Rect& part) {
  return {part.row + plan.region.row, part.col + plan.region.col, part.rows, part.cols};
}

std::uint8_t grey(double value, const Stretch& stretch) {
  const double width = stretch.high > stretch.low ? stretch.high - stretch.low : 1;
  const double share = (value - stretch.low) / width;
  return share > 0 ? static_cast<std::uint8_t>(std::lround(255 * std::min(share, 1.0))) : 0;  // NaN: 0
}

}  // namespace

SampledPixels::SampledPixels(const ImageSpec& image, const Rect& area, std::int64_t most)
    : area_(area), channels_(shown_channels(image)), type_(image.type) {
  const double step = std::max(1.0, std::sqrt(static_cast<double>(area.area()) / static_cast<double>(most)));
  const auto count = [step, most](std::int64_t length) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(static_cast<double>(length) / step), 1, most);
  };
  rows_ = middles(area.row, area.rows, count(area.rows));
  cols_ = middles(area.col, area.cols,
                  std::min(count(area.cols), std::max<std::int64_t>(1, most / std::ssize(rows_))));
  pixels_.resize(static_cast<std::size_t>(grid().area() * channels_ * size_of(type_)));
}

void SampledPixels::see(const Rect& rect, const ConstPixelView& pixels) {
  const auto [first_row, end_row] = within(rows_, rect.row, rect.row_end());
  const auto [first_col, end_col] = within(cols_, rect.col, rect.col_end());
  if (first_row == end_row || first_col == end_col) return;
  seen_ = true;
  const bool whole_rows = std::ssize(cols_) == area_.cols;
  visit_pixel_type(type_, [&]<class T>(std::type_identity<T>) {
    const auto channels = static_cast<std::size_t>(channels_);
    for (std::size_t i = first_row; i < end_row; ++i) {
      const T* const from = pixels.row<T>(rows_[i] - rect.row);
      T* to = reinterpret_cast<T*>(pixels_.data()) + (i * cols_.size() + first_col) * channels;
      if (whole_rows && pixels.channels == channels_) {
        std::copy_n(from + (cols_[first_col] - rect.col) * channels_, (end_col - first_col) * channels, to);
        continue;
      }
      for (std::size_t j = first_col; j < end_col; ++j, to += channels) {
        const T* const pixel = from + (cols_[j] - rect.col) * pixels.channels;
        for (std::size_t channel = 0; channel < channels; ++channel) to[channel] = pixel[channel];
      }
    }
  });
}

std::vector<float> SampledPixels::values() const {
  std::vector<float> all(static_cast<std::size_t>(grid().area() * channels_));
  visit_pixel_type(type_, [&]<class T>(std::type_identity<T>) {
    const T* const from = reinterpret_cast<const T*>(pixels_.data());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(from[i]);
  });
  return all;
}

RunPictures::RunPictures(const Plan& plan)
    : same_places_(!moves_pixels(plan.given)),
      source_{{plan.source(), part_of_source(plan, plan.region), overview_pixels(plan.source())},
              {plan.source(), part_of_source(plan, in_result(plan, detail_of(plan.sink()))), kDetail.area()}},
      result_{{plan.sink(), Rect::whole(plan.sink().extent), overview_pixels(plan.sink())},
              {plan.sink(), detail_of(plan.sink()), kDetail.area()}} {}

void RunPictures::see(std::mutex& mutex, Side& side, const Rect& rect, const ConstPixelView& pixels) {
  const std::scoped_lock lock(mutex);
  side.all.see(rect, pixels);
  side.detail.see(rect, pixels);
}

void RunPictures::see_source(const Rect& rect, const ConstPixelView& pixels) {
  see(source_mutex_, source_, rect, pixels);
}

void RunPictures::see_result(const Rect& rect, const ConstPixelView& pixels) {
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
  constexpr int kBins = 128;
  const std::vector<float> values = pixels.values();
  const auto channels = static_cast<std::size_t>(pixels.channels());
  const Stretch stretch = stretch_of(pixels.type(), values);
  const double margin = pixels.type() == PixelType::u8 ? 0 : 0.05 * (stretch.high - stretch.low);
  Histogram found{.low = stretch.low - margin,
                  .high = stretch.high + margin,
                  .samples = std::ssize(values),
                  .ends_hold_others = margin > 0};
  found.counts.assign(channels, std::vector<std::int64_t>(kBins));
  const double width = found.high > found.low ? found.high - found.low : 1;
  double count = 0, sum = 0, squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = values[i];
    if (std::isnan(value)) continue;
    const double bin = std::clamp(kBins * (value - found.low) / width, 0.0, kBins - 1.0);
    ++found.counts[i % channels][static_cast<std::size_t>(bin)];
    found.least = count == 0 ? value : std::min(found.least, value);
    found.most = count == 0 ? value : std::max(found.most, value);
    ++count;
    sum += value;
    squares += value * value;
  }
  if (count == 0) return {.samples = found.samples, .nan_share = 1};
  found.nan_share = 1 - count / static_cast<double>(values.size());
  found.mean = sum / count;
  found.deviation = std::sqrt(std::max(0.0, squares / count - found.mean * found.mean));
  return found;
}

}  // namespace sepconv
