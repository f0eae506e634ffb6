// Pyramid levels computed in the image's pass equal those of `reduce`, level by level.
#include "pipeline/job/pyramid_writer.hpp"

#include <catch2/catch.hpp>

#include "../support/image.hpp"
#include "pipeline/run/run.hpp"

using namespace sepconv;
using test::Image;

namespace {

/// A sink in memory with blocks like a file's.
class BlockWriter final : public Writer {
 public:
  BlockWriter(const Image& image, Extent block) : inner_(image.writer()), layout_(inner_->layout()) {
    layout_.block = {std::min(block.rows, image.spec().extent.rows),
                     std::min(block.cols, image.spec().extent.cols)};
  }

  const ImageSpec& spec() const noexcept override { return inner_->spec(); }
  const SinkLayout& layout() const noexcept override { return layout_; }
  void write(const Rect& rect, const ConstPixelView& in, Executor& executor) override {
    const Extent unit = layout_.unit();
    REQUIRE(rect.row % unit.rows == 0);
    REQUIRE((rect.row_end() % unit.rows == 0 || rect.row_end() == spec().extent.rows));
    inner_->write(rect, in, executor);
    pixels_ += rect.area();
  }
  std::vector<Writer*> levels() override {
    std::vector<Writer*> all;
    for (const auto& level : smaller) all.push_back(level.get());
    return all;
  }
  void finish() override {
    REQUIRE(pixels_ == spec().extent.area());
    for (const auto& level : smaller) level->finish();
    inner_->finish();
  }
  std::int64_t buffer_bytes(int) const override { return 1000; }

  std::vector<std::unique_ptr<Writer>> smaller;

 private:
  std::unique_ptr<Writer> inner_;
  SinkLayout layout_;
  std::int64_t pixels_ = 0;
};

std::vector<Image> level_images(const ImageSpec& spec, std::int64_t max_side) {
  std::vector<Image> images;
  for (ImageSpec level = spec; std::max(level.extent.rows, level.extent.cols) > max_side;) {
    level.extent = {ceil_div(level.extent.rows, 2), ceil_div(level.extent.cols, 2)};
    images.emplace_back(level);
  }
  return images;
}

}  // namespace

TEST_CASE("levels are what reduce makes of the level before, whatever bands and blocks") {
  const Chain chain = Chain::parse({"gaussian:sigma=2"});
  for (const Extent extent :
       {Extent{517, 301}, Extent{1, 999}, Extent{700, 1}, Extent{64, 64}, Extent{1025, 33}}) {
    for (const PixelType type : {PixelType::u8, PixelType::f32, PixelType::f64}) {
      const ImageSpec spec{extent, type == PixelType::u8 ? 3 : 1, type};
      const Image source = Image::of_pattern(spec, Pattern::noise, 5);
      for (const Extent block : {Extent{1, 1}, Extent{7, 16}, Extent{16, 16}, Extent{128, 128}}) {
        for (const std::int64_t band_rows : {1, 50, 256}) {
          INFO(extent.rows << " x " << extent.cols << " " << name_of(type) << ", blocks of " << block.rows
                           << ", bands of " << band_rows);
          const Image result(spec);
          const std::vector<Image> images = level_images(spec, 16);
          auto writer = std::make_unique<BlockWriter>(result, block);
          for (const Image& image : images)
            writer->smaller.push_back(std::make_unique<BlockWriter>(image, block));
          RunOptions options;
          options.band_rows = band_rows;
          options.threads = 3;
          run(*source.reader(), *fill_levels(std::move(writer)), chain, options);
          const Image* larger = &result;
          for (const Image& image : images) {
            const Image expected(image.spec());
            run_whole_image(*larger->reader(), *expected.writer(), Chain::parse({"reduce:factor=2"}));
            REQUIRE(image == expected);
            larger = &image;
          }
          const Image whole(spec);
          run_whole_image(*source.reader(), *whole.writer(), chain);
          REQUIRE(result == whole);
        }
      }
    }
  }
}

TEST_CASE("what levels take is part of the plan's memory, and holds") {
  const ImageSpec spec{{3000, 2000}, 1, PixelType::u8};
  const Image source = Image::of_pattern(spec, Pattern::noise, 5);
  const Image result(spec);
  const std::vector<Image> images = level_images(spec, 16);
  const auto make_writer = [&] {
    auto writer = std::make_unique<BlockWriter>(result, Extent{128, 128});
    for (const Image& image : images)
      writer->smaller.push_back(std::make_unique<BlockWriter>(image, Extent{128, 128}));
    return fill_levels(std::move(writer));
  };
  const auto sink = make_writer();
  RunOptions options;
  options.max_memory_bytes = spec.bytes() / 2;
  const RunReport report = run(*source.reader(), *sink, Chain::parse({"gaussian:sigma=2"}), options);
  CHECK(report.plan.memory.sink > 128 * 2000);  // at least a row of blocks of every level
  CHECK(report.plan.memory.total() <= options.max_memory_bytes);
  CHECK(report.plan.band.cols == spec.extent.cols);
}

TEST_CASE("a sink without levels stays what it is") {
  const Image image({{5, 5}, 1, PixelType::u8});
  auto writer = image.writer();
  const Writer* const original = writer.get();
  CHECK(fill_levels(std::move(writer)).get() == original);
}
