// Files that our own writer does not make: by libtiff itself, by hand, and damaged.
#include <fmt/format.h>
#include <tiffio.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdarg>
#include <optional>

#include "sepconv/core/error.hpp"
#include "sepconv/io/tiff/tiff.hpp"
#include "temporary_folder.hpp"
#include "test_image.hpp"

namespace sepconv {
namespace {

using Catch::Contains;

/// Libtiff's process-wide handlers, which are the test's own business: they swallow and count. Our readers
/// must never reach them.
class GlobalMessages {
 public:
  GlobalMessages() : error_(TIFFSetErrorHandler(count)), warning_(TIFFSetWarningHandler(count)) { seen_ = 0; }
  GlobalMessages(const GlobalMessages&) = delete;
  GlobalMessages& operator=(const GlobalMessages&) = delete;
  ~GlobalMessages() {
    TIFFSetErrorHandler(error_);
    TIFFSetWarningHandler(warning_);
  }
  int seen() const { return seen_; }

 private:
  static void count(const char*, const char*, va_list) { ++seen_; }
  static inline std::atomic<int> seen_ = 0;
  TIFFErrorHandler error_;
  TIFFErrorHandler warning_;
};

struct LibtiffFile {
  std::string mode = "wl";
  int compression = COMPRESSION_NONE;
  int predictor = PREDICTOR_NONE;
  int fill_order = FILLORDER_MSB2LSB;
  bool tiled = false;
  int rows_per_strip = 7;
};

void set_fields(TIFF* tiff, const ImageSpec& spec, const LibtiffFile& how) {
  const int format = is_floating(spec.type)        ? SAMPLEFORMAT_IEEEFP
                     : spec.type == PixelType::i16 ? SAMPLEFORMAT_INT
                                                   : SAMPLEFORMAT_UINT;
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(spec.extent.cols));
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(spec.extent.rows));
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, static_cast<int>(spec.channels));
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, static_cast<int>(8 * size_of(spec.type)));
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, format);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_FILLORDER, how.fill_order);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, how.compression);
  if (how.predictor != PREDICTOR_NONE) TIFFSetField(tiff, TIFFTAG_PREDICTOR, how.predictor);
  if (how.tiled) {
    TIFFSetField(tiff, TIFFTAG_TILEWIDTH, 32);
    TIFFSetField(tiff, TIFFTAG_TILELENGTH, 16);
  } else {
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, how.rows_per_strip);
  }
}

/// Appends `image` as a page, by scanlines or tile by tile.
void append_page(TIFF* tiff, const TestImage& image, const LibtiffFile& how) {
  const ImageSpec& spec = image.spec();
  set_fields(tiff, spec, how);
  if (!how.tiled) {
    for (std::int64_t row = 0; row < spec.extent.rows; ++row) {
      std::vector<std::byte> line(image.view().row_data(row), image.view().row_data(row) + spec.row_bytes());
      REQUIRE(TIFFWriteScanline(tiff, line.data(), static_cast<std::uint32_t>(row), 0) == 1);
    }
  } else {
    for (std::int64_t row = 0; row < spec.extent.rows; row += 16) {
      for (std::int64_t col = 0; col < spec.extent.cols; col += 32) {
        TestImage tile(ImageSpec{{16, 32}, spec.channels, spec.type});
        const Rect part = Rect{row, col, 16, 32}.intersect(Rect::whole(spec.extent));
        copy_pixels(image.view().crop(part), tile.view().crop(Rect::whole(part.extent())));
        REQUIRE(TIFFWriteTile(tiff, tile.view().data, static_cast<std::uint32_t>(col),
                              static_cast<std::uint32_t>(row), 0, 0) > 0);
      }
    }
  }
  REQUIRE(TIFFWriteDirectory(tiff) == 1);
}

std::filesystem::path libtiff_file(const TemporaryFolder& folder, const TestImage& image,
                                   const LibtiffFile& how) {
  const std::filesystem::path path = folder.path() / "made.tif";
  const GlobalMessages quiet;
  TIFF* tiff = TIFFOpen(path.c_str(), how.mode.c_str());
  REQUIRE(tiff != nullptr);
  append_page(tiff, image, how);
  TIFFClose(tiff);
  return path;
}

TEST_CASE("TIFF of both byte orders, by libtiff: every codec, predictor and type") {
  const TemporaryFolder folder;
  for (const char* mode : {"wl", "wb", "wb8"}) {
    for (const int compression : {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE,
                                  COMPRESSION_DEFLATE, COMPRESSION_ZSTD, COMPRESSION_PACKBITS}) {
      for (const PixelType type : kPixelTypes) {
        for (const int predictor : {PREDICTOR_NONE, PREDICTOR_HORIZONTAL, PREDICTOR_FLOATINGPOINT}) {
          const bool predicts = compression != COMPRESSION_NONE && compression != COMPRESSION_PACKBITS;
          if (predictor != PREDICTOR_NONE && !predicts) continue;
          // Libtiff's own encoder gets this predictor wrong in a foreign byte order; see the next test.
          if (predictor == PREDICTOR_FLOATINGPOINT && (!is_floating(type) || mode[1] == 'b')) continue;
          for (const bool tiled : {false, true}) {
            INFO(fmt::format("{} codec {} {} predictor {} tiled {}", mode, compression, name_of(type),
                             predictor, tiled));
            const TestImage image = TestImage::random({{33, 45}, 3, type}, 11);
            const auto path =
                libtiff_file(folder, image, {mode, compression, predictor, FILLORDER_MSB2LSB, tiled, 7});
            REQUIRE(reads_everywhere(*open_tiff(path, 0), image));
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
  const LibtiffFile little{"wl", COMPRESSION_LZW, PREDICTOR_FLOATINGPOINT, FILLORDER_MSB2LSB, false, 7};
  std::vector<std::byte> block(10'000);
  TIFF* from = TIFFOpen(libtiff_file(folder, image, little).c_str(), "r");
  const tmsize_t bytes = TIFFReadRawStrip(from, 0, block.data(), std::ssize(block));
  TIFFClose(from);
  const std::filesystem::path path = folder.path() / "big.tif";
  TIFF* to = TIFFOpen(path.c_str(), "wb");
  set_fields(to, image.spec(), little);
  REQUIRE(TIFFWriteRawStrip(to, 0, block.data(), bytes) == bytes);
  TIFFClose(to);
  CHECK_THAT(open_tiff(path, 0)->layout().description, Contains("big-endian"));
  CHECK(reads_everywhere(*open_tiff(path, 0), image));
}

TEST_CASE("TIFF with reversed bits in its bytes") {
  const TemporaryFolder folder;
  const TestImage image = TestImage::random({{33, 45}, 1, PixelType::u16}, 12);
  for (const int compression : {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE}) {
    const auto path =
        libtiff_file(folder, image, {"wl", compression, PREDICTOR_NONE, FILLORDER_LSB2MSB, false, 7});
    CHECK(reads_everywhere(*open_tiff(path, 0), image));
  }
}

TEST_CASE("TIFF layouts tell what a rectangle costs") {
  const TemporaryFolder folder;
  const TestImage image = TestImage::random({{33, 45}, 1, PixelType::u8});
  const auto layout = [&](const LibtiffFile& how) {
    return open_tiff(libtiff_file(folder, image, how), 0)->layout();
  };
  CHECK(layout({}).block == Extent{1, 1});
  LibtiffFile how;
  how.tiled = true;
  CHECK(layout(how).block == Extent{16, 32});
  how.tiled = false;
  how.compression = COMPRESSION_LZW;
  CHECK(layout(how).block == Extent{7, 45});
  CHECK(layout(how).streams);
  how.rows_per_strip = 33;
  CHECK(layout(how).block == Extent{33, 45});
  CHECK_FALSE(layout(how).streams);
  CHECK_THAT(layout(how).description, Contains("one strip, LZW"));
}

TEST_CASE("TIFF pages are counted and chosen") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "pages.tif";
  TIFF* tiff = TIFFOpen(path.c_str(), "w");
  std::vector<TestImage> images;
  for (int page = 0; page < 3; ++page) {
    images.push_back(
        TestImage::random({{10 + page, 20}, 1 + page, PixelType::u8}, static_cast<unsigned>(page)));
    append_page(tiff, images.back(), {});
  }
  TIFFClose(tiff);
  for (int page = 0; page < 3; ++page)
    CHECK(reads_everywhere(*open_tiff(path, page), images[static_cast<std::size_t>(page)]));
  CHECK_THROWS_WITH(open_tiff(path, 3), Contains("no page 3") && Contains("3 pages"));
  CHECK_THROWS_WITH(open_tiff(path, -1), Contains("no page -1"));
  const FileInfo info = tiff_info(path);
  CHECK(info.page_count == 3);
  REQUIRE(info.pages.size() == 3);
  CHECK(info.pages[2].spec == ImageSpec{{12, 20}, 3, PixelType::u8});
}

TEST_CASE("TIFF blocks that were left out are zero") {
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "sparse.tif";
  for (const int compression : {COMPRESSION_NONE, COMPRESSION_ADOBE_DEFLATE}) {
    TIFF* tiff = TIFFOpen(path.c_str(), "w");
    LibtiffFile how;
    how.tiled = true;
    how.compression = compression;
    set_fields(tiff, {{32, 64}, 2, PixelType::u16}, how);
    std::vector<std::uint16_t> tile(16 * 32 * 2, 7);
    REQUIRE(TIFFWriteTile(tiff, tile.data(), 32, 16, 0, 0) > 0);
    TIFFClose(tiff);
    const TestImage read = read_all(*open_tiff(path, 0));
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
    std::vector<std::uint16_t> map(256);
    if (photometric == PHOTOMETRIC_PALETTE)
      TIFFSetField(tiff, TIFFTAG_COLORMAP, map.data(), map.data(), map.data());
    std::vector<std::byte> data(256);
    TIFFWriteRawStrip(tiff, 0, data.data(), 256);
    TIFFClose(tiff);
    CHECK_THROWS_WITH(open_tiff(path, 0), Contains(message) && Contains("odd.tif") && Contains("support"));
  };
  const int black = PHOTOMETRIC_MINISBLACK;
  for (const int bits : {1, 4, 12})
    refused(bits, SAMPLEFORMAT_UINT, black, COMPRESSION_NONE, fmt::format("{}-bit unsigned", bits));
  refused(32, SAMPLEFORMAT_UINT, black, COMPRESSION_NONE, "32-bit unsigned");
  refused(8, SAMPLEFORMAT_INT, black, COMPRESSION_NONE, "8-bit signed");
  refused(16, SAMPLEFORMAT_IEEEFP, black, COMPRESSION_NONE, "16-bit floating-point");
  refused(64, SAMPLEFORMAT_COMPLEXIEEEFP, black, COMPRESSION_NONE, "64-bit complex");
  refused(8, SAMPLEFORMAT_UINT, PHOTOMETRIC_PALETTE, COMPRESSION_NONE, "palette");
  refused(8, SAMPLEFORMAT_UINT, PHOTOMETRIC_YCBCR, COMPRESSION_NONE, "YCbCr");
  refused(8, SAMPLEFORMAT_UINT, black, COMPRESSION_LZMA, "compression 34925");
}

TEST_CASE("TIFF: no TIFF at all") {
  const TemporaryFolder folder;
  CHECK_THROWS_AS(open_tiff(folder.path() / "missing.tif", 0), IoError);
  CHECK_THROWS_AS(open_tiff(folder.path(), 0), IoError);
  for (const std::string_view content : {"", "I", "II*", "hello, world", "II*\0\xff\xff\xff\xff"}) {
    CHECK_THROWS_AS(open_tiff(folder.write("a.tif", content), 0), IoError);
  }
  CHECK_THROWS_WITH(open_tiff(folder.write("a.tif", "hello, world"), 0), Contains("is no TIFF"));
}

/// A little-endian classic TIFF of entries (tag, type SHORT 3 or LONG 4, value).
std::string handmade(const std::vector<std::array<std::uint32_t, 3>>& entries) {
  std::string file = {'I', 'I', 42, 0, 8, 0, 0, 0};
  const auto put = [&](std::uint32_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) file.push_back(static_cast<char>(value >> (8 * i)));
  };
  put(static_cast<std::uint32_t>(entries.size()), 2);
  for (const auto& [tag, type, value] : entries) put(tag, 2), put(type, 2), put(1, 4), put(value, 4);
  put(0, 4);
  return file;
}

TEST_CASE("TIFF: impossible dimensions are refused before anything is allocated") {
  const TemporaryFolder folder;
  const auto open = [&](std::uint32_t side, std::uint32_t compression, std::uint32_t rows_per_strip,
                        std::uint32_t bytes) {
    return open_tiff(folder.write("a.tif", handmade({{256, 4, side},
                                                     {257, 4, side},
                                                     {258, 3, 8},
                                                     {259, 3, compression},
                                                     {262, 3, 1},
                                                     {273, 4, 8},
                                                     {277, 3, 1},
                                                     {278, 4, rows_per_strip},
                                                     {279, 4, bytes}})),
                     0);
  };
  for (const std::uint32_t side : {0u, 1u << 20, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
    for (const std::uint32_t compression : {1u, 5u, 8u, 50000u, 32773u, 7u}) {
      for (const std::uint32_t rows : {0u, 1u, side}) {
        INFO(fmt::format("side {} compression {} rows {}", side, compression, rows));
        CHECK_THROWS_AS(open(side, compression, rows, 20), IoError);
      }
    }
  }
  CHECK_NOTHROW(open(4, 1, 4, 16));
  CHECK_THROWS_WITH(open(4, 5, 4, 4000), Contains("truncated"));
}

/// Opens and reads what may be damaged: its pixels, or nothing when it is refused by an error that names it.
std::optional<TestImage> read_damaged(const std::filesystem::path& path) {
  try {
    tiff_info(path);
    const auto reader = open_tiff(path, 0);
    // A flipped bit may well make a larger image, which nobody asks us to hold.
    if (reader->spec().bytes() > (1 << 24)) return read_rect(*reader, {0, 0, 1, 1});
    return read_all(*reader);
  } catch (const Error& error) {
    CHECK(std::string_view(error.what()).find(path.native()) != std::string_view::npos);
    return std::nullopt;
  }
}

std::vector<CreateOptions> small_files() {
  std::vector<CreateOptions> all;
  for (const Compression compression : {Compression::none, Compression::lzw, Compression::deflate,
                                        Compression::zstd, Compression::jpeg, Compression::packbits}) {
    for (const bool tiled : {false, true}) {
      CreateOptions options;
      options.overwrite = true;
      options.big_tiff = tiled;
      options.layout.tiled = tiled;
      options.layout.tile = {16, 16};
      options.layout.rows_per_strip = 16;
      options.layout.compression = compression;
      options.metadata.description = "a remark";
      options.metadata.icc_profile.assign(40, std::byte{1});
      all.push_back(options);
    }
  }
  return all;
}

std::string small_file(const TemporaryFolder& folder, const CreateOptions& options) {
  const TestImage image = TestImage::random({{40, 33}, 3, PixelType::u8}, 4);
  write_all(*create_tiff(folder.path() / "whole.tif", image.spec(), options), image);
  return folder.read("whole.tif");
}

TEST_CASE("TIFF cut off anywhere is refused, or all of its pixels are there") {
  const TemporaryFolder folder;
  for (const CreateOptions& options : small_files()) {
    const std::string whole = small_file(folder, options);
    const TestImage expected = read_all(*open_tiff(folder.path() / "whole.tif", 0));
    const GlobalMessages messages;
    for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 97) {
      INFO(fmt::format("codec {} cut at {} of {}", static_cast<int>(options.layout.compression), length,
                       whole.size()));
      const auto read = read_damaged(folder.write("cut.tif", whole.substr(0, length)));
      // The directory comes last: without its end a remark or a profile may be lost.
      if (read) CHECK((same_pixels(read->view(), expected.view()) && length + 200 > whole.size()));
    }
    CHECK(messages.seen() == 0);
  }
}

TEST_CASE("TIFF cut off after its directory: the blocks that are missing are errors") {
  const TemporaryFolder folder;
  const TestImage image = TestImage::random({{64, 64}, 1, PixelType::u8});
  const auto path =
      libtiff_file(folder, image, {"wl", COMPRESSION_NONE, PREDICTOR_NONE, FILLORDER_MSB2LSB, true, 7});
  const auto reader = open_tiff(path, 0);
  std::filesystem::resize_file(path, 1000);
  CHECK_THROWS_WITH(read_all(*reader), Contains("made.tif"));
}

TEST_CASE("TIFF with flipped bits is read or refused") {
  const TemporaryFolder folder;
  std::mt19937 engine(20240501);
  int refused = 0;
  const GlobalMessages messages;
  for (const CreateOptions& options : small_files()) {
    const std::string whole = small_file(folder, options);
    const std::size_t directory_bytes = 400;
    for (int round = 0; round < 150; ++round) {
      std::string damaged = whole;
      const int flips = 1 + static_cast<int>(engine() % 3);
      for (int i = 0; i < flips; ++i) {
        // Every other one into the directory, which lies at the end; the rest anywhere.
        const std::size_t range = round % 2 == 0 ? std::min(directory_bytes, whole.size()) : whole.size();
        damaged[whole.size() - 1 - engine() % range] ^= static_cast<char>(1 << (engine() % 8));
      }
      INFO(fmt::format("codec {} tiled {} round {}", static_cast<int>(options.layout.compression),
                       options.layout.tiled, round));
      refused += read_damaged(folder.write("flipped.tif", damaged)) ? 0 : 1;
    }
  }
  CHECK(refused > 100);
  CHECK(messages.seen() == 0);
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
  const FileInfo info = tiff_info(folder.path() / "a.tif");
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
