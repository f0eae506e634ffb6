#include "io/pnm/pnm.hpp"

#include <catch2/catch.hpp>

#include "io/formats.hpp"
#include "small_images.hpp"
#include "temporary_folder.hpp"

namespace sepconv {
namespace {

using Catch::Contains;
using small_images::bytes;

template <class T>
std::vector<T> values_of(Reader& reader) {
  const TestImage image = read_all(reader);
  std::vector<T> values;
  for (std::int64_t row = 0; row < image.spec().extent.rows; ++row) {
    const T* const first = image.view().row<T>(row);
    values.insert(values.end(), first, first + image.view().row_elements());
  }
  return values;
}

TEST_CASE("PNM: text and binary are scaled to the whole range alike, with a warning") {
  const TemporaryFolder folder;
  for (const std::string& content :
       {std::string("P2 4 1 15\n0 5 7 15\n"), bytes("P5 4 1 15\n\0\x05\x07\x0F")}) {
    const auto reader = open_reader(folder.write("a.pgm", content));
    CHECK(values_of<std::uint8_t>(*reader) == std::vector<std::uint8_t>{0, 85, 119, 255});
    CHECK(reader->layout().warnings == std::vector<std::string>{"values of 0 to 15 are scaled to 0 to 255"});
  }
  for (const std::string& content :
       {std::string("P2 4 1 1000 0 1 500 1000\n"), bytes("P5 4 1 1000\n\0\0\0\x01\x01\xF4\x03\xE8")}) {
    const auto reader = open_reader(folder.write("a.pgm", content));
    CHECK(values_of<std::uint16_t>(*reader) == std::vector<std::uint16_t>{0, 66, 32768, 65535});
    CHECK_THAT(reader->layout().warnings.at(0), Contains("0 to 1000 are scaled to 0 to 65535"));
  }
  const auto rounded = open_reader(folder.write("a.pgm", bytes("P5 2 1 2\n\x01\x02")));
  CHECK(values_of<std::uint8_t>(*rounded) == std::vector<std::uint8_t>{128, 255});
  CHECK(open_reader(folder.write("a.pgm", "P5 1 1 255\nx"))->layout().warnings.empty());
  CHECK(open_reader(folder.write("a.pgm", "P5 1 1 65535\nxy"))->layout().warnings.empty());
}

TEST_CASE("PNM: values above the greatest are damage") {
  const TemporaryFolder folder;
  for (const std::string& content :
       {std::string("P2 1 2 15 3 16\n"), bytes("P5 1 2 15\n\x03\x10"), std::string("P2 1 2 255 3 256\n"),
        std::string("P2 1 2 65535 3 65536\n"), std::string("P2 1 2 65535 3 99999999999999999999\n"),
        bytes("P5 1 2 1000\n\x03\xE8\x03\xE9")}) {
    CAPTURE(content);
    const auto reader = open_reader(folder.write("a.pgm", content));
    CHECK_THROWS_WITH(read_all(*reader),
                      Contains("a.pgm") && Contains("row 1 holds") && Contains("maximum value"));
  }
}

TEST_CASE("PNM: white space, comments and bits without gaps") {
  const TemporaryFolder folder;
  CHECK(values_of<std::uint8_t>(
            *open_reader(folder.write("a.pbm", "P1#c\n3 # rows follow\n 2\n1 0#\n1\t011"))) ==
        std::vector<std::uint8_t>{0, 255, 0, 255, 0, 0});
  CHECK(values_of<std::uint8_t>(*open_reader(folder.write("a.pgm", "P2\r\n2\r\n1\r\n255\r\n1\r\n2\r\n"))) ==
        std::vector<std::uint8_t>{1, 2});
  // Exactly one white space precedes binary pixels, whatever their bytes.
  CHECK(values_of<std::uint8_t>(*open_reader(folder.write("a.pgm", "P5 2 1 255\n\n#"))) ==
        std::vector<std::uint8_t>{'\n', '#'});
  const std::string long_comment = "P5 #" + std::string(100'000, 'x') + "\n1 1 255\ny";
  CHECK(values_of<std::uint8_t>(*open_reader(folder.write("a.pgm", long_comment))) ==
        std::vector<std::uint8_t>{'y'});
}

TEST_CASE("PNM: further images are left out with a warning") {
  const TemporaryFolder folder;
  const auto two = open_reader(folder.write("a.pgm", "P5 1 1 255\nxP5 1 1 255\ny"));
  CHECK_THAT(two->layout().warnings.at(0), Contains("further images"));
  CHECK(values_of<std::uint8_t>(*two) == std::vector<std::uint8_t>{'x'});
  CHECK(open_reader(folder.write("a.pgm", "P5 1 1 255\nx\n"))->layout().warnings.empty());
}

TEST_CASE("PNM: headers that cannot be and pixels that are missing are errors") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& content, const std::string& fact) {
    CAPTURE(content);
    CHECK_THROWS_WITH(open_reader(folder.write("a.pgm", content)), Contains("a.pgm") && Contains(fact));
  };
  refused("P5 2147483647 2147483647 255\nx", "truncated");
  refused("P5 2147483648 1 255\nx", "damaged");
  refused("P5 99999999999999999999 1 255\nx", "damaged");
  refused("P6 999999 1000 255\nx", "truncated");
  refused("P5 0 10 255\nx", "damaged");
  refused("P5 -1 10 255\nx", "damaged");
  refused("P5 1 1 0\nx", "maximum value");
  refused("P5 1 1 65536\nx", "maximum value");
  refused("P5 1 1x255\nx", "damaged");
  refused("P5 1 1", "truncated");
  refused("P4 9 2\nabc", "truncated");
  refused("P5 2 1 256\nabc", "truncated");
  CHECK_THROWS_WITH(read_all(*open_reader(folder.write("a.pgm", "P2 2 1 255\n1 20"))),
                    Contains("truncated"));  // or 200?
  const auto text = open_reader(folder.write("a.pgm", "P2 2 1 255\n1     "));
  CHECK_THROWS_WITH(read_all(*text), Contains("truncated"));
  CHECK_THROWS_WITH(read_all(*open_reader(folder.write("a.pgm", "P2 2 1 255\n1 2x"))), Contains("damaged"));
  CHECK_THROWS_WITH(read_all(*open_reader(folder.write("a.pbm", "P1 2 1\n12"))), Contains("damaged"));
}

TEST_CASE("PNM: two-byte values are written in big-endian order") {
  const TemporaryFolder folder;
  TestImage image({{1, 2}, 1, PixelType::u16});
  image.view().row<std::uint16_t>(0)[0] = 0x4142;
  image.view().row<std::uint16_t>(0)[1] = 0x4344;
  write_all(*create_pnm(folder.path() / "a.pgm", image.spec(), {}), image);
  CHECK(folder.read("a.pgm") == "P5\n2 1\n65535\nABCD");
}

}  // namespace
}  // namespace sepconv
