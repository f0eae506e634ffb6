// Files with impossible headers, truncated files, and files with flipped bits.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <optional>
#include <random>

#include "core/error.hpp"
#include "io/byte_file.hpp"
#include "io/tiff/tiff.hpp"
#include "libtiff_file.hpp"
#include "temporary_folder.hpp"
#include "test_image.hpp"

namespace sepconv {
namespace {

using Catch::Contains;

TEST_CASE("TIFF: impossible dimensions are refused before anything is allocated") {
  const TemporaryFolder folder;
  const auto open = [&](std::uint32_t side, std::uint32_t compression, std::uint32_t rows_per_strip,
                        std::uint32_t bytes) {
    return open_tiff(InputFile(folder.write("a.tif", handmade_tiff({{256, 4, side},
                                                                    {257, 4, side},
                                                                    {258, 3, 8},
                                                                    {259, 3, compression},
                                                                    {262, 3, 1},
                                                                    {273, 4, 8},
                                                                    {277, 3, 1},
                                                                    {278, 4, rows_per_strip},
                                                                    {279, 4, bytes}}))),
                     {.page = 0});
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

TEST_CASE("TIFF: an error names a required tag that is too large") {
  const TemporaryFolder folder;
  constexpr std::uint32_t kCount = 9 << 20;  // values of two bytes
  std::string file = handmade_tiff({{256, 4, 1},
                                    {257, 4, 1},
                                    {258, 3, 8},
                                    {262, 3, 1},
                                    {273, 4, 8},
                                    {278, 4, 1},
                                    {279, 4, 1},
                                    {339, 3, 0}});
  const std::size_t sample_format = 10 + 7 * 12;
  for (std::size_t byte = 0; byte < 4; ++byte) {
    file[sample_format + 4 + byte] = static_cast<char>(kCount >> (8 * byte));
    file[sample_format + 8 + byte] = static_cast<char>(file.size() >> (8 * byte));
  }
  for (std::uint32_t i = 0; i < kCount; ++i) file += std::string_view("\1\0", 2);
  CHECK_THROWS_WITH(open_tiff(InputFile(folder.write("a.tif", file)), {.page = 0}),
                    Contains("page 0 cannot be read without its tag 339, too large to hold"));
}

TEST_CASE("TIFF: a GeoTIFF tag of a type that it cannot have is left out") {
  const TemporaryFolder folder;
  for (const std::uint32_t type :
       {5u, 10u, 13u}) {  // rationals and a directory's offset, which libtiff stores in other widths
    const auto file = handmade_tiff({{256, 4, 1},
                                     {257, 4, 1},
                                     {258, 3, 8},
                                     {262, 3, 1},
                                     {273, 4, 8},
                                     {278, 4, 1},
                                     {279, 4, 1},
                                     {33550, type, 8}});
    CHECK(open_tiff(InputFile(folder.write("a.tif", file)), {.page = 0})->metadata().geo_tags.empty());
  }
}

/// Opens and reads a file that may be damaged. Returns its pixels, or nothing if an error that names the file
/// refuses it.
std::optional<TestImage> read_damaged(const std::filesystem::path& path) {
  try {
    file_info(path);
    const auto reader = open_tiff(InputFile(path), {.page = 0});
    // A flipped bit can give a larger image, which is not read completely.
    if (reader->spec().bytes() > (1 << 24)) return read_rect(*reader, {0, 0, 1, 1});
    return read_all(*reader);
  } catch (const Error& error) {
    CHECK(std::string_view(error.what()).find(path.native()) != std::string_view::npos);
    return std::nullopt;
  }
}

std::vector<CreateOptions> small_file_options() {
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

std::string write_small_file(const TemporaryFolder& folder, const CreateOptions& options) {
  const TestImage image = TestImage::random({{40, 33}, 3, PixelType::u8}, 4);
  write_all(*create_tiff(folder.path() / "whole.tif", image.spec(), options), image);
  return folder.read("whole.tif");
}

TEST_CASE("TIFF without a directory is said to be incomplete") {
  using namespace std::string_literals;
  const TemporaryFolder folder;
  const auto message = Contains("a.tif: holds no image: it is truncated or was never completed");
  for (const std::string& content : {"II*\0\0\0\0\0"s, "MM\0*\0\0\0\0"s, "II+\0\x08\0\0\0\0\0\0\0\0\0\0\0"s,
                                     "II*\0\0\x10\0\0 pixels, then nothing"s}) {
    const auto path = folder.write("a.tif", content);
    CHECK_THROWS_WITH(open_tiff(InputFile(path), {.page = 0}), message);
    CHECK_THROWS_WITH(open_tiff(InputFile(path), {.page = 1}), message);
    CHECK_THROWS_WITH(file_info(path), message);
  }
}

TEST_CASE("TIFF cut off anywhere is refused, or all of its pixels are there") {
  const TemporaryFolder folder;
  for (const CreateOptions& options : small_file_options()) {
    const std::string whole = write_small_file(folder, options);
    const TestImage expected = read_all(*open_tiff(InputFile(folder.path() / "whole.tif"), {.page = 0}));
    const GlobalMessages messages;
    for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 97) {
      INFO(fmt::format("codec {} cut at {} of {}", static_cast<int>(options.layout.compression), length,
                       whole.size()));
      const auto read = read_damaged(folder.write("cut.tif", whole.substr(0, length)));
      // The directory is last in the file: without its end the description or the profile may be lost.
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
  const auto reader = open_tiff(InputFile(path), {.page = 0});
  std::filesystem::resize_file(path, 1000);
  CHECK_THROWS_WITH(read_all(*reader), Contains("made.tif"));
}

TEST_CASE("TIFF with flipped bits is read or refused") {
  const TemporaryFolder folder;
  std::mt19937 engine(20240501);
  int refused = 0;
  const GlobalMessages messages;
  for (const CreateOptions& options : small_file_options()) {
    const std::string whole = write_small_file(folder, options);
    const std::size_t directory_bytes = 400;
    for (int round = 0; round < 150; ++round) {
      std::string damaged = whole;
      const int flips = 1 + static_cast<int>(engine() % 3);
      for (int i = 0; i < flips; ++i) {
        // Every other round flips bits in the directory at the end of the file, the others anywhere.
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

}  // namespace
}  // namespace sepconv
