// The GPU's JPEG decoder on one thread, in buffers of exactly the needed size: the pixels equal libjpeg's bit
// for bit, and streams for which libjpeg reports an error or a warning are rejected.
#include <catch2/catch.hpp>
#include <vector>

#include "decode_tiles_case.hpp"
#include "jpeg_case.hpp"

using namespace sepconv;
using namespace sepconv::test;

namespace {

std::size_t marker_offset(const Bytes& stream, int marker) {
  for (std::size_t i = 0; i + 1 < stream.size(); ++i)
    if (stream[i] == std::byte{0xFF} && stream[i + 1] == static_cast<std::byte>(marker)) return i;
  return stream.size();
}

const JpegEncoderSettings kPlain{.geometry = {40, 50, 3, 2, 2}};

}  // namespace

TEST_CASE("Pixels of a JPEG are libjpeg's, whatever its size, sampling, quality and restarts") {
  Random random(41);
  for (int i = 0; i < 3000; ++i) {
    const JpegEncoderSettings settings = random_jpeg(random);
    const jpeg::Geometry& g = settings.geometry;
    CAPTURE(i, g.rows, g.cols, g.components, g.across, g.down, settings.is_ycbcr, settings.quality,
            settings.restart_interval, settings.optimises);
    const Bytes stream = jpeg_of(jpeg_pixels(random, g), settings);
    const Bytes expected = decode_with_libjpeg(stream, settings),
                found = decode_on_one_thread(stream, settings);
    REQUIRE(!expected.empty());
    REQUIRE(!found.empty());
    const bool same = found == expected;
    REQUIRE(same);
  }
}

TEST_CASE("What is taken of damaged JPEGs is what libjpeg makes of them without a complaint") {
  Random random(42);
  int accepted = 0, refused = 0;
  for (int i = 0; i < 6000; ++i) {
    const JpegEncoderSettings settings = random_jpeg(random);
    Bytes stream = jpeg_of(jpeg_pixels(random, settings.geometry), settings);
    const std::size_t scan = marker_offset(stream, 0xDA);
    if (random() % 2 == 0) {
      stream = damaged(std::move(stream), random);
    } else {  // in the entropy-coded data, most of a file
      const auto at = static_cast<std::size_t>(
          random_between(random, static_cast<std::int64_t>(scan), std::ssize(stream) - 1));
      stream[at] = static_cast<std::byte>(random());
    }
    const Bytes found = decode_on_one_thread(stream, settings);
    ++(found.empty() ? refused : accepted);
    if (found.empty()) continue;
    CAPTURE(i);
    const bool same = found == decode_with_libjpeg(stream, settings);
    REQUIRE(same);
  }
  CHECK(accepted > 500);
  CHECK(refused > 2000);
}

TEST_CASE("JPEGs that are not of the common kind are refused") {
  Random random(43);
  const Bytes pixels = jpeg_pixels(random, kPlain.geometry);
  const Bytes good = jpeg_of(pixels, kPlain);
  REQUIRE(decode_on_one_thread(good, kPlain) == decode_with_libjpeg(good, kPlain));
  const auto refuses = [&](const Bytes& stream) { return decode_on_one_thread(stream, kPlain).empty(); };
  const auto changed = [&](std::size_t at, int value) {
    Bytes stream = good;
    stream[at] = static_cast<std::byte>(value);
    return stream;
  };
  JpegEncoderSettings other_settings = kPlain;
  other_settings.is_progressive = true;
  CHECK(refuses(jpeg_of(pixels, other_settings)));
  other_settings = kPlain;
  other_settings.geometry.down = 1;
  CHECK(refuses(jpeg_of(pixels, other_settings)));
  const std::size_t frame = marker_offset(good, 0xC0), scan = marker_offset(good, 0xDA),
                    app = marker_offset(good, 0xE0);
  CHECK(refuses(changed(frame + 1, 0xC9)));   // arithmetic coding
  CHECK(refuses(changed(frame + 4, 12)));     // bits per sample
  CHECK(refuses(changed(frame + 6, 48)));     // rows
  CHECK(refuses(changed(frame + 8, 48)));     // columns
  CHECK(refuses(changed(frame + 11, 0x12)));  // sampling
  CHECK(refuses(changed(frame + 12, 3)));     // a quantization table that does not exist
  CHECK(refuses(changed(scan + 6, 0x22)));
  CHECK(refuses(changed(scan + 12, 10)));  // the last coefficient of the scan
  CHECK(refuses(changed(app + 9, 2)));     // JFIF 2
  CHECK(refuses(Bytes(good.begin(), good.end() - 2)));
  CHECK(refuses({}));
  Bytes extended = good;
  extended.insert(extended.end() - 2, std::byte{0});  // before the EOI marker; bytes after it are ignored
  CHECK(refuses(extended));
  extended = good;
  extended.push_back(std::byte{0});
  CHECK(!refuses(extended));
  // The same entropy-coded data, but coefficients beyond those of 8-bit images.
  const std::size_t quant = marker_offset(good, 0xDB);
  Bytes steep = good;
  std::fill_n(steep.begin() + static_cast<std::ptrdiff_t>(quant) + 5, 64, std::byte{255});
  CHECK(refuses(steep));
}
