#include "sepconv/io/flat/npy.hpp"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "sepconv/core/error.hpp"
#include "temporary_folder.hpp"
#include "test_image.hpp"

namespace sepconv {
namespace {

using Catch::Contains;

/// A file as numpy.save writes it, but for the padding of its header.
std::string npy_file(const std::string& dict, const std::string& pixels, int major = 1) {
  const std::string text = dict + "\n";
  std::string file = "\x93NUMPY";
  file += {static_cast<char>(major), '\0', static_cast<char>(text.size() & 0xFF),
           static_cast<char>(text.size() >> 8)};
  if (major > 1) file += std::string(2, '\0');
  return file + text + pixels;
}

std::string dict_of(const std::string& descr, const std::string& shape,
                    const std::string& fortran = "False") {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", descr, fortran, shape);
}

std::unique_ptr<Reader> open(const TemporaryFolder& folder, const std::string& content) {
  return open_npy(InputFile(folder.write("a.npy", content)));
}

TEST_CASE("NPY files read as NumPy wrote them") {
  const TemporaryFolder folder;
  const std::string pixels = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  for (const int major : {1, 2, 3}) {
    const auto reader = open(folder, npy_file(dict_of("<u2", "(2, 3)"), pixels, major));
    CHECK(reader->spec() == ImageSpec{{2, 3}, 1, PixelType::u16});
    CHECK(read_all(*reader).view().row<std::uint16_t>(1)[2] == 0x0B0A);
    CHECK_THAT(reader->layout().description,
               Contains(fmt::format("NPY {}.0", major)) && Contains("little-endian"));
  }
  const auto big = open(folder, npy_file(dict_of(">i2", "(2, 1, 3)"), pixels));
  CHECK(big->spec() == ImageSpec{{2, 1}, 3, PixelType::i16});
  CHECK(read_all(*big).view().row<std::int16_t>(1)[2] == 0x0A0B);
  CHECK(open(folder, npy_file(dict_of("|u1", "(12,)"), pixels))->spec() ==
        ImageSpec{{1, 12}, 1, PixelType::u8});
  CHECK(open(folder, npy_file(dict_of("<f4", "(3L, 1L)"), pixels))->spec() ==
        ImageSpec{{3, 1}, 1, PixelType::f32});
  CHECK(
      open(folder, npy_file("{\"shape\":(1,),\"fortran_order\":False,\"descr\":\"<f8\"}", pixels))->spec() ==
      ImageSpec{{1, 1}, 1, PixelType::f64});
}

TEST_CASE("NPY round trip: every type, channels, any rectangle") {
  const TemporaryFolder folder;
  for (const PixelType type : kPixelTypes) {
    for (const std::int64_t channels : {1, 2, 5}) {
      for (const Extent extent : {Extent{1, 1}, Extent{7, 1}, Extent{1, 13}, Extent{31, 17}}) {
        CAPTURE(name_of(type), channels, extent.rows, extent.cols);
        const TestImage image = TestImage::random({extent, channels, type}, 7, 24);
        const auto writer = create_npy(folder.path() / "a.npy", image.spec(), {.overwrite = true});
        write_in_quarters(*writer, image);
        const auto reader = open_npy(InputFile(folder.path() / "a.npy"));
        REQUIRE(reader->spec() == image.spec());
        CHECK(reads_everywhere(*reader, image));
        CHECK(parse_npy(InputFile(folder.path() / "a.npy")).offset % 64 == 0);
      }
    }
  }
}

TEST_CASE("NPY files of several pieces and of rows longer than a bounce buffer") {
  const TemporaryFolder folder;
  for (const Extent extent : {Extent{3, 3'000'001}, Extent{3'000'001, 3}, Extent{1500, 70'001 / 8}}) {
    CAPTURE(extent.rows, extent.cols);
    const TestImage image = TestImage::random({extent, 1, PixelType::u16}, 3, 6);
    write_in_quarters(*create_npy(folder.path() / "a.npy", image.spec(), {.overwrite = true}), image);
    CHECK(reads_everywhere(*open_npy(InputFile(folder.path() / "a.npy")), image));
  }
}

TEST_CASE("NPY big-endian pixels of several pieces are swapped everywhere") {
  const TemporaryFolder folder;
  for (const PixelType type : kPixelTypes) {
    const TestImage image = TestImage::random({{700, 1100}, 1, type});
    std::string swapped;
    const auto size = static_cast<std::size_t>(size_of(type));
    for (std::int64_t row = 0; row < 700; ++row) {
      const char* const bytes = reinterpret_cast<const char*>(image.view().row_data(row));
      for (std::size_t i = 0; i < 1100; ++i)
        swapped.append(std::make_reverse_iterator(bytes + (i + 1) * size),
                       std::make_reverse_iterator(bytes + i * size));
    }
    const std::string code = is_floating(type) ? "f" : type == PixelType::i16 ? "i" : "u";
    const auto reader =
        open(folder, npy_file(dict_of(fmt::format(">{}{}", code, size), "(700, 1100)"), swapped));
    CHECK(reads_everywhere(*reader, image));
  }
}

TEST_CASE("NPY errors name the file, the fact and the way out") {
  const TemporaryFolder folder;
  const std::string pixels(64, 'x');
  const auto error_of = [&](const std::string& content) {
    try {
      open(folder, content);
    } catch (const IoError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  CHECK_THAT(error_of(npy_file(dict_of("<c8", "(2, 3)"), pixels)),
             Contains("a.npy") && Contains("dtype <c8") && Contains("f8"));
  CHECK_THAT(error_of(npy_file(dict_of("|u2", "(2, 3)"), pixels)), Contains("dtype |u2"));
  CHECK_THAT(error_of(npy_file(dict_of("<u2", "(2, 3)", "True"), pixels)), Contains("ascontiguousarray"));
  CHECK_THAT(error_of(npy_file(dict_of("|u1", "()"), pixels)), Contains("shape ()"));
  CHECK_THAT(error_of(npy_file(dict_of("|u1", "(6)"), pixels)), Contains("damaged"));
  CHECK_THAT(error_of(npy_file(dict_of("|u1", "(1, 2, 3, 4)"), pixels)), Contains("shape (1, 2, 3, 4)"));
  CHECK_THAT(error_of(npy_file(dict_of("|u1", "(0, 3)"), pixels)), Contains("0 rows"));
  CHECK_THAT(error_of(npy_file(dict_of("|u1", "(-1, 3)"), pixels)), Contains("-1 rows"));
  CHECK_THAT(error_of(npy_file(dict_of("|u1", "(8, 9)"), pixels)), Contains("truncated"));
  CHECK_THAT(error_of(npy_file(dict_of("|u1", "(2147483648, 2147483648)"), pixels)), Contains("at most"));
  CHECK_THAT(error_of(npy_file(dict_of("<f8", "(2147483647, 2147483647, 60000)"), pixels)),
             Contains("at most"));
  CHECK_THAT(error_of(npy_file(dict_of("|u1", "(99999999999999999999, 1)"), pixels)), Contains("damaged"));
  CHECK_THAT(error_of(npy_file("{'descr': [('a', '<u2')], 'fortran_order': False, 'shape': (2,)}", pixels)),
             Contains("structured"));
  CHECK_THAT(error_of(npy_file("{'descr': '<u2', 'descr': '<u2', 'shape': (2,)}", pixels)),
             Contains("damaged"));
  CHECK_THAT(error_of(npy_file("{}", pixels)), Contains("damaged"));
  CHECK_THAT(error_of(npy_file(dict_of("|u1", "(2, 3)"), pixels, 4)), Contains("version 4.0"));
  CHECK_THAT(error_of(std::string("\x93NUMPY\2\0\xFF\xFF\xFF\x7F", 12) + pixels), Contains("damaged"));
  CHECK_THAT(error_of("not an array"), Contains("no NPY file"));
}

TEST_CASE("NPY files cut anywhere are an error, never a crash or a wrong image") {
  const TemporaryFolder folder;
  const std::string whole = npy_file(dict_of("<u2", "(2, 3)"), std::string(12, 'x'));
  for (std::size_t length = 1; length < whole.size(); ++length) {
    CAPTURE(length);
    CHECK_THROWS_AS(open(folder, whole.substr(0, length)), IoError);
  }
  CHECK_NOTHROW(open(folder, whole));
}

TEST_CASE("NPY headers with flipped bits either read or say what is wrong") {
  const TemporaryFolder folder;
  const std::string whole = npy_file(dict_of("<u2", "(2, 3)"), std::string(12, 'x'));
  std::mt19937 random(20);
  int read = 0;
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = whole;
    for (int flips = 1 + round % 3; flips > 0; --flips)
      damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
    try {
      const auto reader = open(folder, damaged);
      REQUIRE(reader->spec().bytes() <= 12);
      read_all(*reader);
      ++read;
    } catch (const IoError&) {
      ++refused;
    }
  }
  CHECK(read > 0);
  CHECK(refused > 1000);
}

TEST_CASE("NPY writer leaves nothing when it is not finished") {
  const TemporaryFolder folder;
  {
    const TestImage image = TestImage::random({{5, 5}, 1, PixelType::u8});
    const auto writer = create_npy(folder.path() / "a.npy", image.spec(), {});
    SerialExecutor executor;
    writer->write(Rect::whole(image.spec().extent), image.view(), executor);
    CHECK(folder.files().size() == 1);
  }
  CHECK(folder.files().empty());
}

}  // namespace
}  // namespace sepconv
