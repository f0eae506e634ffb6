// Images as byte streams: reading gives the same pixels as a file of these bytes, however the stream is
// split.
#include "io/stream/stream.hpp"

#include <catch2/catch.hpp>
#include <cstring>

#include "core/error.hpp"
#include "core/memory.hpp"

namespace sepconv {
namespace {

/// A byte source that returns at most `piece` bytes per call.
ReadBytes in_pieces(std::vector<std::byte> bytes, std::size_t piece) {
  return [bytes = std::move(bytes), piece, at = std::size_t{0}](std::span<std::byte> to) mutable {
    const std::size_t count = std::min({piece, to.size(), bytes.size() - at});
    std::memcpy(to.data(), bytes.data() + at, count);
    at += count;
    return count;
  };
}

WriteBytes append_to(std::vector<std::byte>& all) {
  return [&all](std::span<const std::byte> bytes) { all.insert(all.end(), bytes.begin(), bytes.end()); };
}

Buffer counted_pixels(const ImageSpec& spec) {
  Buffer pixels(spec.bytes());
  for (std::int64_t i = 0; i < spec.bytes(); ++i) pixels.data()[i] = static_cast<std::byte>(i * 37 + i / 251);
  return pixels;
}

/// A stream whose rasters all have `pixels`, written in bands of two rows.
std::vector<std::byte> written(StreamFormat format, const RasterSetSpec& spec, const Buffer& pixels) {
  std::vector<std::byte> all;
  const auto set = create_stream("the test", append_to(all), format, spec, {});
  SerialExecutor executor;
  for (std::int64_t raster = 0; raster < spec.count(); ++raster) {
    const auto writer = set->next({});
    for (std::int64_t row = 0; row < spec.raster.extent.rows; row += 2) {
      const std::int64_t rows = std::min<std::int64_t>(2, spec.raster.extent.rows - row);
      const Rect rect{row, 0, rows, spec.raster.extent.cols};
      writer->write(rect, dense_view(const_cast<std::byte*>(pixels.data()), spec.raster).crop(rect),
                    executor);
    }
    writer->finish();
  }
  set->finish();
  return all;
}

TEST_CASE("A stream round-trips, however it is split") {
  const auto format = GENERATE(StreamFormat::npy, StreamFormat::raw, StreamFormat::ppm);
  const auto type = GENERATE(PixelType::u8, PixelType::u16, PixelType::f64);
  const auto channels = GENERATE(1, 3);
  if (format == StreamFormat::ppm && type == PixelType::f64) return;
  const ImageSpec spec{{7, 31}, channels, type};
  const Buffer pixels = counted_pixels(spec);
  const std::vector<std::byte> bytes = written(format, {spec}, pixels);
  for (const std::size_t piece : {1U, 13U, 100000U}) {
    OpenOptions options;
    if (format == StreamFormat::raw) options.raw = spec;
    if (format == StreamFormat::npy && channels == 3) options.axes = "yxc";
    const InputStream in = open_stream("the test", in_pieces(bytes, piece), options);
    CHECK(in.format == format);
    REQUIRE(in.rasters->spec() == spec);
    const auto reader = in.rasters->raster(0);
    CHECK(reader->layout().access == Access::sequential);
    Buffer result(spec.bytes());
    std::memset(result.data(), 0xA5, static_cast<std::size_t>(result.size()));
    SerialExecutor executor;
    const PixelView view = dense_view(result.data(), spec);
    reader->read({0, 0, 4, 31}, view.crop({0, 0, 4, 31}), executor);
    CHECK_THROWS_AS(reader->read({3, 0, 1, 31}, view.crop({3, 0, 1, 31}), executor), InvalidArgument);
    reader->read({4, 0, 3, 31}, view.crop({4, 0, 3, 31}), executor);
    CHECK(std::memcmp(result.data(), pixels.data(), static_cast<std::size_t>(spec.bytes())) == 0);
  }
}

TEST_CASE("Rasters of a stream that are not selected are skipped") {
  const ImageSpec spec{{5, 8}, 1, PixelType::u16};
  const Buffer pixels = counted_pixels(spec);
  const std::vector<std::byte> bytes = written(StreamFormat::npy, {spec, {{"z", 6}}}, pixels);
  const InputStream in = open_stream("the test", in_pieces(bytes, 17), {.page = 3, .axes = "zyx"});
  REQUIRE(in.rasters->count() == 1);
  Buffer result(spec.bytes());
  SerialExecutor executor;
  in.rasters->raster(0)->read(Rect::whole(spec.extent), dense_view(result.data(), spec), executor);
  CHECK(std::memcmp(result.data(), pixels.data(), static_cast<std::size_t>(spec.bytes())) == 0);
}

TEST_CASE("A stream that is too short or too long is an error when its end is read") {
  const ImageSpec spec{{5, 8}, 1, PixelType::u8};
  const std::vector<std::byte> bytes = written(StreamFormat::npy, {spec}, counted_pixels(spec));
  for (const int change : {-1, +1}) {
    std::vector<std::byte> modified = bytes;
    modified.resize(static_cast<std::size_t>(std::ssize(bytes) + change));
    const auto reader = open_stream("the test", in_pieces(modified, 9)).rasters->raster(0);
    Buffer result(spec.bytes());
    SerialExecutor executor;
    CHECK_THROWS_AS(reader->read(Rect::whole(spec.extent), dense_view(result.data(), spec), executor),
                    IoError);
  }
}

TEST_CASE("Rows of a stream are written in order, all of them, and nothing before the first") {
  const ImageSpec spec{{4, 8}, 1, PixelType::u8};
  std::vector<std::byte> all;
  const auto set = create_stream("the test", append_to(all), StreamFormat::npy, {spec}, {});
  const auto writer = set->next({});
  CHECK(all.empty());
  const Buffer pixels = counted_pixels(spec);
  const PixelView view = dense_view(const_cast<std::byte*>(pixels.data()), spec);
  SerialExecutor executor;
  CHECK_THROWS_AS(writer->write({1, 0, 1, 8}, view.crop({1, 0, 1, 8}), executor), InvalidArgument);
  writer->write({0, 0, 2, 8}, view.crop({0, 0, 2, 8}), executor);
  CHECK_THROWS_AS(writer->finish(), IoError);
}

}  // namespace
}  // namespace sepconv
