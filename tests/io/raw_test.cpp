#include "io/flat/raw.hpp"

#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "temporary_folder.hpp"
#include "test_image.hpp"

namespace sepconv {
namespace {

using Catch::Contains;

TEST_CASE("Names of raw files state shape and type") {
  CHECK(parse_raw_name("scan_640x480_u8.raw") == ImageSpec{{480, 640}, 1, PixelType::u8});
  CHECK(parse_raw_name("/a/b_c_640x480x3_f32.bin") == ImageSpec{{480, 640}, 3, PixelType::f32});
  for (const char* const name :
       {"scan.raw", "scan_u8.raw", "scan_640x480.raw", "scan_640x480_u8.tif", "scan_640x480x_u8.raw",
        "scan_640x480x3x2_u8.raw", "scan_640_u8.raw", "scan_0x480_u8.raw", "scan_-4x4_u8.raw",
        "scan_4x4_u9.raw", "scan_4x99999999999999999999_u8.raw", "640x480_u8.raw"}) {
    CAPTURE(name);
    CHECK_FALSE(parse_raw_name(name).has_value());
  }
}

TEST_CASE("Raw round trip: every type and any rectangle") {
  const TemporaryFolder folder;
  for (const PixelType type : kPixelTypes) {
    for (const Extent extent : {Extent{1, 1}, Extent{3, 70'001}, Extent{1009, 37}}) {
      const TestImage image = TestImage::random({extent, 2, type}, 5, 16);
      write_in_quarters(*create_raw(folder.path() / "a.raw", image.spec(), {.overwrite = true}), image);
      CHECK(std::filesystem::file_size(folder.path() / "a.raw") ==
            static_cast<std::uintmax_t>(image.spec().bytes()));
      CHECK(reads_everywhere(*open_raw(InputFile(folder.path() / "a.raw"), {.raw = image.spec()}), image));
    }
  }
}

TEST_CASE("Raw pixels from an offset and in the other byte order") {
  const TemporaryFolder folder;
  const auto path = folder.write("a.bin", std::string("HEAD\x01\x02\x03\x04TAIL"));
  const auto reader =
      open_raw(InputFile(path),
               {.raw = ImageSpec{{1, 2}, 1, PixelType::u16}, .raw_offset = 4, .raw_big_endian = true});
  const TestImage image = read_all(*reader);
  CHECK(image.view().row<std::uint16_t>(0)[0] == 0x0102);
  CHECK(image.view().row<std::uint16_t>(0)[1] == 0x0304);
  CHECK_THAT(reader->layout().description,
             Contains("from byte 4 on") && Contains("4 bytes at the end left out"));
}

TEST_CASE("Raw files whose size contradicts their shape are an error") {
  const TemporaryFolder folder;
  const InputFile exact(folder.write("a_3x2_u8.raw", "123456"));
  CHECK_NOTHROW(open_raw(InputFile(exact.path()), {}));
  CHECK_THROWS_WITH(open_raw(InputFile(folder.write("b_3x2_u8.raw", "12345")), {}),
                    Contains("need 6 bytes and the file has 5"));
  CHECK_THROWS_WITH(open_raw(InputFile(folder.write("c_3x2_u8.raw", "1234567")), {}),
                    Contains("1 bytes are left over"));
  CHECK_THROWS_WITH(open_raw(InputFile(folder.write("d.raw", "123456")), {}),
                    Contains("does not say its shape"));
  const auto open_as = [&](ImageSpec spec, std::int64_t offset) {
    open_raw(InputFile(exact.path()), {.raw = spec, .raw_offset = offset});
  };
  CHECK_THROWS_AS(open_as({{2, 3}, 1, PixelType::u8}, 1), IoError);
  CHECK_THROWS_AS(open_as({{2, 3}, 1, PixelType::u8}, -1), InvalidArgument);
  CHECK_THROWS_AS(open_as({{0, 3}, 1, PixelType::u8}, 0), InvalidArgument);
  CHECK_THROWS_AS(open_as({{kMaxSide, kMaxSide}, 4, PixelType::f64}, 0), InvalidArgument);
  CHECK_THROWS_AS(open_as({{2, 3}, 1, PixelType::u8}, std::numeric_limits<std::int64_t>::max()),
                  InvalidArgument);
}

TEST_CASE("Raw writer refuses a name that states another shape") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(create_raw(folder.path() / "a_3x2_u8.raw", {{3, 2}, 1, PixelType::u8}, {}),
                    Contains("2x3x1_u8"));
  CHECK_NOTHROW(create_raw(folder.path() / "a_3x2_u8.raw", {{2, 3}, 1, PixelType::u8}, {}));
}

}  // namespace
}  // namespace sepconv
