// TIFFs that our own writer does not create.
#include <fmt/format.h>
#include <tiffio.h>

#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "io/byte_file.hpp"
#include "io/tiff/tiff.hpp"
#include "libtiff_file.hpp"
#include "temporary_folder.hpp"
#include "test_image.hpp"

namespace sepconv {
namespace {

using Catch::Contains;

TEST_CASE("TIFF of both byte orders, by libtiff: every codec, predictor and type") {
  const TemporaryFolder folder;
  for (const char* mode : {"wl", "wb", "wb8"}) {
    for (const int compression : {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE,
                                  COMPRESSION_DEFLATE, COMPRESSION_ZSTD, COMPRESSION_PACKBITS}) {
      for (const PixelType type : kPixelTypes) {
        for (const int predictor : {PREDICTOR_NONE, PREDICTOR_HORIZONTAL, PREDICTOR_FLOATINGPOINT}) {
          const bool predicts = compression != COMPRESSION_NONE && compression != COMPRESSION_PACKBITS;
          if (predictor != PREDICTOR_NONE && !predicts) continue;
          // libtiff's encoder applies this predictor wrongly in a foreign byte order; see the next test.
          if (predictor == PREDICTOR_FLOATINGPOINT && (!is_floating(type) || mode[1] == 'b')) continue;
          for (const bool tiled : {false, true}) {
            INFO(fmt::format("{} codec {} {} predictor {} tiled {}", mode, compression, name_of(type),
                             predictor, tiled));
            const TestImage image = TestImage::random({{33, 45}, 3, type}, 11);
            const auto path =
                libtiff_file(folder, image, {mode, compression, predictor, FILLORDER_MSB2LSB, tiled, 7});
            REQUIRE(reads_everywhere(*open_tiff(InputFile(path), {.page = 0}), image));
          }
        }
      }
    }
  }
}

// The floating-point predictor stores bytes by significance, so a block is the same in both byte orders.
TEST_CASE("TIFF, big-endian with floating-point predictor") {
  const TemporaryFolder folder;
  const TestImage image = TestImage::random({{7, 45}, 3, PixelType::f32}, 11);
  const LibtiffFile little_endian{"wl", COMPRESSION_LZW, PREDICTOR_FLOATINGPOINT, FILLORDER_MSB2LSB, false,
                                  7};
  std::vector<std::byte> block(10'000);
  TIFF* from = TIFFOpen(libtiff_file(folder, image, little_endian).c_str(), "r");
  const tmsize_t bytes = TIFFReadRawStrip(from, 0, block.data(), std::ssize(block));
  TIFFClose(from);
  const std::filesystem::path path = folder.path() / "big.tif";
  TIFF* to = TIFFOpen(path.c_str(), "wb");
  set_fields(to, image.spec(), little_endian);
  REQUIRE(TIFFWriteRawStrip(to, 0, block.data(), bytes) == bytes);
  TIFFClose(to);
  CHECK_THAT(open_tiff(InputFile(path), {.page = 0})->layout().description, Contains("big-endian"));
  CHECK(reads_everywhere(*open_tiff(InputFile(path), {.page = 0}), image));
}

TEST_CASE("TIFF with reversed bits in its bytes") {
  const TemporaryFolder folder;
  const TestImage image = TestImage::random({{33, 45}, 1, PixelType::u16}, 12);
  for (const int compression : {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE}) {
    const auto path =
        libtiff_file(folder, image, {"wl", compression, PREDICTOR_NONE, FILLORDER_LSB2MSB, false, 7});
    CHECK(reads_everywhere(*open_tiff(InputFile(path), {.page = 0}), image));
  }
}

TEST_CASE("TIFF layouts give the blocks and units of reads") {
  const TemporaryFolder folder;
  const TestImage image = TestImage::random({{33, 45}, 1, PixelType::u8});
  const auto layout = [&](const LibtiffFile& file_options) {
    return open_tiff(InputFile(libtiff_file(folder, image, file_options)), {.page = 0})->layout();
  };
  CHECK(layout({}).block == Extent{1, 1});
  LibtiffFile file_options;
  file_options.tiled = true;
  CHECK(layout(file_options).block == Extent{16, 32});
  CHECK(layout(file_options).unit() == Extent{1, 32});
  file_options.tiled = false;
  file_options.compression = COMPRESSION_LZW;
  CHECK(layout(file_options).block == Extent{7, 45});
  CHECK(layout(file_options).unit() == Extent{7, 45});
  CHECK(layout(file_options).streams);
  file_options.rows_per_strip = 33;
  CHECK(layout(file_options).block == Extent{33, 45});
  CHECK_FALSE(layout(file_options).streams);
  CHECK_THAT(layout(file_options).description, Contains("one strip, LZW"));
}

TEST_CASE("TIFF pages are counted and selected") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "pages.tif";
  TIFF* tiff = TIFFOpen(path.c_str(), "w");
  std::vector<TestImage> images;
  constexpr int kPages = 66;
  for (int page = 0; page < kPages; ++page) {
    images.push_back(
        TestImage::random({{10 + page, 20}, 1 + page, PixelType::u8}, static_cast<unsigned>(page)));
    append_page(tiff, images.back(), {});
  }
  TIFFClose(tiff);
  for (int page = 0; page < 3; ++page)
    CHECK(reads_everywhere(*open_tiff(InputFile(path), {.page = page}),
                           images[static_cast<std::size_t>(page)]));
  CHECK_THROWS_WITH(open_tiff(InputFile(path), {.page = kPages}),
                    Contains("no page 66") && Contains("66 pages"));
  CHECK_THROWS_WITH(open_tiff(InputFile(path), {.page = -1}), Contains("no page -1"));
  const FileInfo info = file_info(path);
  CHECK(info.page_count == kPages);
  REQUIRE(info.pages.size() == 64);
  CHECK(info.pages[2].spec == ImageSpec{{12, 20}, 3, PixelType::u8});
  const FileInfo last = file_info(path, {.page = kPages - 1});  // beyond the listed pages
  CHECK(last.page_count == kPages);
  REQUIRE(last.pages.size() == 1);
  CHECK(last.pages[0].spec.extent.rows == 10 + kPages - 1);
  CHECK(last.pages[0].facts.size() == info.pages[0].facts.size());
  CHECK_THROWS_WITH(file_info(path, {.page = kPages}), Contains("no page 66"));
}

TEST_CASE("TIFF blocks that were left out are zero") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "sparse.tif";
  for (const int compression : {COMPRESSION_NONE, COMPRESSION_ADOBE_DEFLATE}) {
    TIFF* tiff = TIFFOpen(path.c_str(), "w");
    LibtiffFile file_options;
    file_options.tiled = true;
    file_options.compression = compression;
    set_fields(tiff, {{32, 64}, 2, PixelType::u16}, file_options);
    std::vector<std::uint16_t> tile(16 * 32 * 2, 7);
    REQUIRE(TIFFWriteTile(tiff, tile.data(), 32, 16, 0, 0) > 0);
    TIFFClose(tiff);
    const TestImage read = read_all(*open_tiff(InputFile(path), {.page = 0}));
    CHECK(read.view().row<std::uint16_t>(0)[0] == 0);
    CHECK(read.view().row<std::uint16_t>(31)[63] == 0);
    CHECK(read.view().row<std::uint16_t>(16)[64] == 7);
    CHECK(read.view().row<std::uint16_t>(31)[127] == 7);
  }
}

TEST_CASE("TIFF: what is not read is refused by name") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "odd.tif";
  const auto refused = [&](int bits, int format, int photometric, int compression,
                           const std::string& message) {
    TIFF* tiff = TIFFOpen(path.c_str(), "w");
    set_fields(tiff, {{4, 4}, photometric == PHOTOMETRIC_YCBCR ? 3 : 1, PixelType::u8}, {});
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, format);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, photometric);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, compression);
    std::vector<std::byte> data(256);
    TIFFWriteRawStrip(tiff, 0, data.data(), 256);
    TIFFClose(tiff);
    CHECK_THROWS_WITH(open_tiff(InputFile(path), {.page = 0}),
                      Contains(message) && Contains("odd.tif") && Contains("support"));
  };
  const int black = PHOTOMETRIC_MINISBLACK;
  for (const int bits : {17, 24, 48})
    refused(bits, SAMPLEFORMAT_UINT, black, COMPRESSION_NONE, fmt::format("{}-bit unsigned", bits));
  refused(12, SAMPLEFORMAT_INT, black, COMPRESSION_NONE, "12-bit signed");
  refused(24, SAMPLEFORMAT_IEEEFP, black, COMPRESSION_NONE, "24-bit floating-point");
  refused(32, SAMPLEFORMAT_COMPLEXINT, black, COMPRESSION_NONE, "32-bit complex integer");
  refused(32, SAMPLEFORMAT_COMPLEXIEEEFP, black, COMPRESSION_NONE, "32-bit complex");
  refused(8, SAMPLEFORMAT_UINT, PHOTOMETRIC_YCBCR, COMPRESSION_NONE, "YCbCr");
  refused(8, SAMPLEFORMAT_UINT, black, COMPRESSION_LZMA, "compression 34925");
}

TEST_CASE("TIFF: volumes are refused, as only their first slice would be read") {
  const TemporaryFolder folder;
  using Entries = std::vector<std::array<std::uint32_t, 3>>;
  const Entries image = {{256, 4, 16}, {257, 4, 16}, {258, 3, 8}, {262, 3, 1}};
  const Entries strips = {{273, 4, 8}, {278, 4, 16}, {279, 4, 256}};
  const Entries tiles = {{322, 4, 16}, {323, 4, 16}, {324, 4, 8}, {325, 4, 256}};
  const auto open = [&](const Entries& blocks, std::uint32_t tag, std::uint32_t depth) {
    Entries entries = image;
    entries.insert(entries.end(), blocks.begin(), blocks.end());
    entries.push_back({tag, 4, depth});
    return open_tiff(InputFile(folder.write("volume.tif", handmade_tiff(entries) + std::string(256, 'x'))),
                     {.page = 0});
  };
  const auto message = Contains("volume.tif: volumes (here of 3 slices");
  CHECK_THROWS_WITH(open(strips, TIFFTAG_IMAGEDEPTH, 3), message);
  CHECK_THROWS_WITH(open(tiles, TIFFTAG_IMAGEDEPTH, 3), message);
  CHECK_THROWS_WITH(open(tiles, TIFFTAG_TILEDEPTH, 3), message);
  CHECK_NOTHROW(open(strips, TIFFTAG_IMAGEDEPTH, 1));
  CHECK_NOTHROW(open(tiles, TIFFTAG_TILEDEPTH, 1));
}

TEST_CASE("TIFF: files that are not TIFFs are refused") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(open_tiff(InputFile(folder.path() / "missing.tif"), {.page = 0}), IoError);
  CHECK_THROWS_AS(open_tiff(InputFile(folder.path()), {.page = 0}), IoError);
  for (const std::string_view content : {"", "I", "II*", "hello, world", "II*\0\xff\xff\xff\xff"}) {
    CHECK_THROWS_AS(open_tiff(InputFile(folder.write("a.tif", content)), {.page = 0}), IoError);
  }
  CHECK_THROWS_WITH(open_tiff(InputFile(folder.write("a.tif", "hello, world")), {.page = 0}),
                    Contains("is not a TIFF"));
}

TEST_CASE("TIFF facts for people") {
  const TemporaryFolder folder;
  CreateOptions options;
  options.layout.tiled = true;
  options.layout.tile = {16, 32};
  options.layout.compression = Compression::zstd;
  options.metadata.description = std::string(70, 'x') + "\xc3\xa9\xc3\xa9\nlong";
  options.metadata.resolution = Resolution{96, 96};
  const TestImage image = TestImage::random({{40, 33}, 3, PixelType::u16});
  write_all(*create_tiff(folder.path() / "a.tif", image.spec(), options), image);
  const FileInfo info = file_info(folder.path() / "a.tif");
  CHECK(info.format == "TIFF");
  CHECK(info.file_bytes == static_cast<std::int64_t>(std::filesystem::file_size(folder.path() / "a.tif")));
  REQUIRE(info.pages.size() == 1);
  const auto fact = [&](const std::string& name) {
    for (const auto& [key, text] : info.pages[0].facts) {
      if (key == name) return text;
    }
    return std::string("(missing)");
  };
  CHECK(fact("compression") == "zstd");
  CHECK(fact("predictor") == "horizontal");
  CHECK(fact("blocks") == "6 tiles of 32 x 16");
  CHECK(fact("byte order") == "little-endian");
  CHECK(fact("photometric") == "RGB");
  CHECK(fact("resolution") == "96 x 96 per inch");
  CHECK(fact("description") == std::string(70, 'x') + "\xc3\xa9...");
  CHECK(fact("streams") == "yes");
}

}  // namespace
}  // namespace sepconv
