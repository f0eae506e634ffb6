// Observers of a run on the CPU and on a GPU, and the pixels that they sample.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <mutex>

#include "../support/gpu.hpp"
#include "../support/image.hpp"
#include "../support/small_run.hpp"
#include "pipeline/report/preview_collector.hpp"
#include "pipeline/run/run.hpp"

using namespace sepconv;
using namespace sepconv::test;

namespace {

/// Copies all observed pixels into its images.
class CopyingObserver final : public BandObserver {
 public:
  CopyingObserver(const ImageSpec& source, const ImageSpec& sink) : source_(source), sink_(sink) {
    for (const Image* image : {&source_, &sink_})
      std::fill_n(image->view().data, image->spec().bytes(), std::byte{0xA5});
  }
  void observe_source(const Rect& rect, const ConstPixelView& pixels) override {
    copy_part(rect, pixels, source_);
  }
  void observe_result(const Rect& rect, const ConstPixelView& pixels) override {
    copy_part(rect, pixels, sink_);
    result_pixels_ += rect.area();
  }
  const Image& source() const { return source_; }
  const Image& sink() const { return sink_; }
  std::int64_t result_pixels() const { return result_pixels_; }

 private:
  void copy_part(const Rect& rect, const ConstPixelView& pixels, const Image& image) {
    const std::scoped_lock lock(mutex_);
    const Rect inside = rect.intersect(Rect::whole(image.spec().extent));
    copy_pixels(pixels.crop({inside.row - rect.row, inside.col - rect.col, inside.rows, inside.cols}),
                image.view().crop(inside));
  }

  std::mutex mutex_;
  Image source_, sink_;
  std::int64_t result_pixels_ = 0;
};

void check_sees_all(const std::vector<std::string>& stages, RunOptions options) {
  const Chain chain = Chain::parse(stages);
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 1);
  const Image result(chain.result_spec(kSpec));
  CopyingObserver copying_observer(kSpec, result.spec());
  options.observer = &copying_observer;
  const RunReport report = run(*source.reader(), *result.writer(), chain, options);
  CHECK(report.plan.band_count() > 3);
  CHECK(copying_observer.source() == source);
  CHECK(copying_observer.sink() == result);
  CHECK(copying_observer.result_pixels() == result.spec().extent.area());
}

}  // namespace

#ifndef SEPCONV_SIMULATED_GPU
TEST_CASE("an observer sees every pixel of source and result, however the image is cut") {
  check_sees_all({"gaussian:sigma=2"}, small_bands());
  check_sees_all({"gaussian:sigma=2", "transpose", "abs"}, small_bands(1));
  check_sees_all({"gaussian:sigma=2,border=wrap"}, small_bands(2));
  RunOptions columns = small_bands();
  columns.band_cols = 40;
  check_sees_all({"gaussian:sigma=2,border=wrap"}, columns);
}

TEST_CASE("a run samples its memory use, with a bounded number of samples") {
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 1), result(kSpec);
  const RunReport report = run(*source.reader(), *result.writer(), two_stages(), small_bands());
  const std::vector<MemorySample> samples = report.timeline.memory();
  REQUIRE(!samples.empty());
  CHECK(std::ranges::all_of(samples, [](const MemorySample& sample) { return sample.bytes > 1 << 20; }));
  CHECK(std::ranges::is_sorted(samples, {}, &MemorySample::seconds));
  Timeline timeline;
  while (timeline.now() < 0.1) timeline.sample_memory();
  CHECK(timeline.memory().size() < 110);
}

TEST_CASE("previews of large images use a few MiB at most") {
  const Image unused({{1, 1}, 1, PixelType::u8});
  for (const PixelType type : kPixelTypes) {
    for (const std::int64_t channels : {1, 3, 4, 9}) {
      const SampledPixels pixels({{100'000, 70'000}, channels, type}, {0, 0, 100'000, 70'000}, 1 << 20);
      CHECK(pixels.grid().area() <= 1 << 20);
      CHECK(pixels.grid().area() > 1 << 19);
      CHECK(pixels.channels() == (channels == 3 || channels == 4 ? 3 : 1));
      CHECK_FALSE(pixels.seen());
    }
  }
  // One row, one column, one pixel.
  for (const Extent extent : {Extent{1, 10'000'000}, Extent{10'000'000, 1}, Extent{1, 1}}) {
    const SampledPixels pixels({extent, 1, PixelType::u8}, Rect::whole(extent), 1 << 17);
    CHECK(pixels.grid().area() <= 1 << 17);
    CHECK(pixels.grid().area() >= 1);
  }
}

TEST_CASE("histograms leave out pixels hidden by alpha and missing pixels") {
  // RGBA: a valid pixel, one hidden by alpha, one missing by its value.
  const std::vector<std::uint16_t> pixels{10, 20, 30, 9, 5000, 6000, 7000, 0, 77, 77, 77, 9};
  const ConstPixelView view = view_of(pixels.data(), {1, 3}, 4);
  const Rect all{0, 0, 1, 3};
  const ImageSpec image{{1, 3}, 4, PixelType::u16};
  SampledPixels sampled(image, all, 100, {.value = 77, .alpha = 3});
  sampled.see(all, view);
  CHECK(sampled.may_have_missing());
  const Histogram histogram = histogram_of(sampled);
  CHECK(histogram.least == 10);
  CHECK(histogram.most == 30);
  CHECK(histogram.mean == 20);
  CHECK(histogram.nan_fraction == Approx(2.0 / 3));
  // Without missing options alpha hides no pixel.
  SampledPixels plain(image, all, 100);
  plain.see(all, view);
  CHECK(histogram_of(plain).most == 7000);
}

TEST_CASE("means of cells do not depend on the cut, on the order or on what is seen twice") {
  for (const PixelType type : kPixelTypes) {
    const Image image = Image::of_pattern({{101, 67}, 4, type}, Pattern::noise, 1);
    const Rect area{3, 5, 90, 60};
    const MissingSamples missing{.alpha = 3};
    AreaMeans whole(image.spec(), area, 200, missing), pieces(image.spec(), area, 200, missing);
    whole.see(Rect::whole(image.spec().extent), image.view());
    CHECK(whole.grid().area() <= 200);
    CHECK(whole.grid().area() > 100);
    for (const Rect& rect : {Rect{40, 0, 61, 30}, Rect{0, 0, 50, 40}, Rect{0, 30, 33, 37},
                             Rect{20, 20, 81, 47}, Rect{0, 0, 101, 67}})
      pieces.see(rect, image.view().crop(rect));
    const std::vector<float> expected = whole.values(), found = pieces.values();
    REQUIRE(found.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      INFO(name_of(type) << " " << i);
      if (std::isnan(expected[i]))
        CHECK(std::isnan(found[i]));
      else
        CHECK(found[i] == expected[i]);
    }
  }
}

TEST_CASE("means of cells leave out missing pixels and NaN") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> pixels{1, nan, 3, 7, 7, nan, 5, 6};
  AreaMeans means({{2, 4}, 1, PixelType::f32}, {0, 0, 2, 4}, 2, {.value = 7.0});
  means.see({0, 0, 2, 4}, view_of(pixels.data(), {2, 4}, 1));
  REQUIRE(means.grid() == Extent{1, 2});
  CHECK(means.values() == std::vector<float>{1, 14.0F / 3});
}

TEST_CASE("percentiles of values, and of an empty set") {
  std::vector<float> values;
  for (int i = 0; i <= 1000; ++i) values.push_back(static_cast<float>(i));
  CHECK(stretch_of(PixelType::u16, values).low == 5);
  CHECK(stretch_of(PixelType::f32, values).high == 995);
  CHECK(stretch_of(PixelType::u8, values).high == 255);
  CHECK(stretch_of(PixelType::f32, {}).high == 1);
  CHECK(stretch_of(PixelType::f32, {std::numeric_limits<float>::quiet_NaN(), 3.0F}).low == 3);
}
#endif

TEST_CASE("an observer of a run on a GPU sees all pixels that pass through host memory", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  check_sees_all({"gaussian:sigma=2"}, small_bands(3, {0}));
  check_sees_all({"gaussian:sigma=2,border=wrap"}, small_bands(2, {0}));
}
