#include "io/flat/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "io/sample_conversion.hpp"
#include "temporary_folder.hpp"
#include "test_image.hpp"

namespace sepconv {
namespace {

using Catch::Contains;

/// A file like numpy.save's, but without padding of the header.
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
        const std::string axes = channels > 1 ? "yxc" : "yx";
        const auto reader = open_npy(InputFile(folder.path() / "a.npy"), {.axes = axes});
        REQUIRE(reader->spec() == image.spec());
        CHECK(reads_everywhere(*reader, image));
        CHECK(parse_npy(InputFile(folder.path() / "a.npy"), axes).first.offset % 64 == 0);
      }
    }
  }
}

TEST_CASE("NPY files read in several pieces, and with rows longer than a bounce buffer") {
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

TEST_CASE("NPY errors name the file, the problem and a remedy") {
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
  CHECK_THAT(error_of(npy_file(dict_of("<M8", "(2, 3)"), pixels)),
             Contains("a.npy") && Contains("dtype <M8") && Contains("f8"));
  for (const std::string_view bad_descr :
       {"|u2", "<f16", "<u3", "<u", "u", "", "<b2", "<i8 ", "<u1 2", "<c4", "O"})
    CHECK_THAT(error_of(npy_file(dict_of(std::string(bad_descr), "(2, 3)"), pixels)),
               Contains(fmt::format("dtype {} is", bad_descr)));
  CHECK_THAT(error_of(npy_file(dict_of("|u1", "()"), pixels)), Contains("shape ()"));
  CHECK_THAT(error_of(npy_file(dict_of("|u1", "(6)"), pixels)), Contains("damaged"));
  CHECK_THAT(error_of(npy_file(dict_of("|u1", "(1, 2, 3, 4)"), pixels)), Contains("shape (1, 2, 3, 4)"));
  CHECK_THAT(error_of(npy_file(dict_of("|u1", "(0, 3)"), pixels)), Contains("0 rows"));
  CHECK_THAT(error_of(npy_file(dict_of("|u1", "(-1, 3)"), pixels)), Contains("-1 rows"));
  CHECK_THAT(error_of(npy_file(dict_of("|u1", "(8, 9)"), pixels)), Contains("truncated"));
  CHECK_THAT(error_of(npy_file(dict_of("|u1", "(2147483648, 2147483648)"), pixels)), Contains("at most"));
  CHECK_THAT(error_of(npy_file(dict_of("<f8", "(2147483647, 2147483647, 4)"), pixels)), Contains("at most"));
  CHECK_THAT(error_of(npy_file(dict_of("|u1", "(99999999999999999999, 1)"), pixels)), Contains("damaged"));
  CHECK_THAT(error_of(npy_file("{'descr': [('a', '<u2')], 'fortran_order': False, 'shape': (2,)}", pixels)),
             Contains("structured"));
  CHECK_THAT(error_of(npy_file("{'descr': '<u2', 'descr': '<u2', 'shape': (2,)}", pixels)),
             Contains("damaged"));
  CHECK_THAT(error_of(npy_file("{}", pixels)), Contains("damaged"));
  CHECK_THAT(error_of(npy_file(dict_of("|u1", "(2, 3)"), pixels, 4)), Contains("version 4.0"));
  CHECK_THAT(error_of(std::string("\x93NUMPY\2\0\xFF\xFF\xFF\x7F", 12) + pixels), Contains("damaged"));
  CHECK_THAT(error_of("not an array"), Contains("not an NPY file"));
}

/// The value of part `part` (real or imaginary) of element `index` in a test's array.
std::int64_t value_of(SampleType type, std::int64_t index, std::int64_t part) {
  const std::int64_t value_count = type.kind == SampleType::Kind::boolean ? 2 : 251;
  return (index * 7 + 17 * part) % value_count - (type.kind == SampleType::Kind::integer ? 125 : 0);
}

/// Writes `value` to `to` as a pixel of `type`.
void put_value(PixelType type, std::int64_t value, std::byte* to) {
  visit_pixel_type(type, [&]<class T>(std::type_identity<T>) {
    const auto number = static_cast<T>(value);
    std::memcpy(to, &number, sizeof(T));
  });
}

std::string numbered_elements(SampleType type, std::int64_t count, bool big_endian) {
  std::string bytes;
  for (std::int64_t i = 0; i < count; ++i) {
    std::array<std::byte, 16> pixel{}, element{};
    for (std::int64_t part = 0; part < type.parts(); ++part)
      put_value(type.pixels(), value_of(type, i, part), pixel.data() + part * size_of(type.pixels()));
    store_elements(type, pixel.data(), type.parts(), 1, element.data());
    const auto part_bytes = static_cast<std::size_t>(type.bits_of_part() / 8);
    for (std::size_t at = 0; big_endian && at < element.size(); at += part_bytes)
      std::reverse(element.begin() + static_cast<std::ptrdiff_t>(at),
                   element.begin() + static_cast<std::ptrdiff_t>(at + part_bytes));
    bytes.append(reinterpret_cast<const char*>(element.data()), static_cast<std::size_t>(type.bytes_of(1)));
  }
  return bytes;
}

TEST_CASE("NPY arrays of any type, order and axes: every rectangle has the expected pixels") {
  const TemporaryFolder folder;
  const std::string descr = GENERATE("|b1", "|u1", "|i1", ">u2", "<f4", "<u4", ">i8", "<f2", "<c8", ">c16");
  const std::string axes = GENERATE("yx", "xy", "yxc", "xyc");
  const bool fortran = GENERATE(false, true);
  for (const Extent extent :
       {Extent{1, 1}, Extent{1, 13}, Extent{31, 1}, Extent{37, 29}, Extent{3, 9001}, Extent{9001, 5}}) {
    CAPTURE(descr, axes, fortran, extent.rows, extent.cols);
    const SampleType type = npy_elements(descr)->type;
    std::array<std::int64_t, 256> side{}, step{};
    side['y'] = extent.rows, side['x'] = extent.cols, side['c'] = axes.size() == 3 ? 3 : 1;
    std::string order = axes;  // from the slowest axis to the fastest
    if (fortran) std::ranges::reverse(order);
    std::int64_t count = 1;
    for (std::size_t i = order.size(); i-- > 0;) {
      const auto letter = static_cast<std::size_t>(order[i]);
      step[letter] = count;
      count *= side[letter];
    }
    std::string shape;
    for (const char letter : axes) shape += fmt::format("{}, ", side[static_cast<std::size_t>(letter)]);
    const std::string dict = dict_of(descr, "(" + shape + ")", fortran ? "True" : "False");
    const auto path = folder.write("a.npy", npy_file(dict, numbered_elements(type, count, descr[0] == '>')));
    const auto reader = open_npy(InputFile(path), {.axes = axes});
    REQUIRE(reader->spec() == ImageSpec{extent, side['c'] * type.parts(), type.pixels()});
    TestImage expected(reader->spec());
    for (std::int64_t row = 0; row < extent.rows; ++row) {
      for (std::int64_t col = 0; col < extent.cols; ++col) {
        for (std::int64_t channel = 0; channel < reader->spec().channels; ++channel) {
          const std::int64_t index = row * step['y'] + col * step['x'] + channel / type.parts() * step['c'];
          put_value(type.pixels(), value_of(type, index, channel % type.parts()),
                    expected.view().row_data(row) +
                        (col * reader->spec().channels + channel) * size_of(type.pixels()));
        }
      }
    }
    CHECK(reads_everywhere(*reader, expected));
  }
}

TEST_CASE("NPY files cut anywhere are an error, never a crash or a wrong image") {
  const TemporaryFolder folder;
  const std::string complete_file = npy_file(dict_of("<u2", "(2, 3)"), std::string(12, 'x'));
  for (std::size_t length = 1; length < complete_file.size(); ++length) {
    CAPTURE(length);
    CHECK_THROWS_AS(open(folder, complete_file.substr(0, length)), IoError);
  }
  CHECK_NOTHROW(open(folder, complete_file));
}

TEST_CASE("NPY headers with flipped bits are read or refused with an error") {
  const TemporaryFolder folder;
  const std::string complete_file = npy_file(dict_of("<u2", "(2, 3)"), std::string(12, 'x'));
  std::mt19937 random(20);
  int read = 0;
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string damaged = complete_file;
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
