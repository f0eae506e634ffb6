// One file of every variant of PNG, JPEG, PNM and BMP, with its pixels.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "png_bytes.hpp"
#include "test_image.hpp"

namespace sepconv::small_images {

struct Sample {
  std::string name;
  std::string content;
  ImageSpec spec;
  std::string pixels;  ///< packed rows, channels in the order R, G, B, A, little-endian
};

inline TestImage expected(const Sample& sample) {
  TestImage image(sample.spec);
  const auto row_bytes = static_cast<std::size_t>(sample.spec.row_bytes());
  for (std::int64_t row = 0; row < sample.spec.extent.rows; ++row) {
    std::memcpy(image.view().row_data(row), sample.pixels.data() + static_cast<std::size_t>(row) * row_bytes,
                row_bytes);
  }
  return image;
}

/// The bytes of a literal that may contain zeros.
template <std::size_t N>
std::string bytes(const char (&text)[N]) {
  return {text, N - 1};
}

inline std::string from_hex(std::string_view hex) {
  std::string result;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    result += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return result;
}

inline std::vector<Sample> png_samples() {
  enum { grey = 0, rgb = 2, palette = 3, grey_alpha = 4, rgb_alpha = 6 };
  using png_bytes::chunk;
  using png_bytes::file;
  const std::string colours = chunk("PLTE", "RGBrgb");
  const auto u8 = [](std::int64_t channels) { return ImageSpec{{2, 2}, channels, PixelType::u8}; };
  const auto u16 = [](std::int64_t channels) { return ImageSpec{{1, 2}, channels, PixelType::u16}; };
  return {
      {"grey.png", file(2, 2, 8, grey, bytes("\0ab\0cd")), u8(1), "abcd"},
      {"grey_interlaced.png", file(2, 2, 8, grey, bytes("\0a\0b\0cd"), "", true), u8(1), "abcd"},
      {"grey_1_bit.png", file(2, 2, 1, grey, bytes("\0\x80\0\x40")), u8(1), bytes("\xFF\0\0\xFF")},
      {"grey_4_bit.png", file(2, 2, 4, grey, bytes("\0\xF1\0\x20")), u8(1), bytes("\xFF\x11\x22\0")},
      {"grey_transparent.png", file(2, 2, 8, grey, bytes("\0ab\0cd"), chunk("tRNS", bytes("\0a"))), u8(1),
       "abcd"},
      {"grey_16.png", file(2, 1, 16, grey, bytes("\0abcd")), u16(1), "badc"},
      {"grey_alpha.png", file(2, 2, 8, grey_alpha, bytes("\0aAbB\0cCdD")), u8(4), "aaaAbbbBcccCdddD"},
      {"grey_alpha_16.png", file(2, 1, 16, grey_alpha, bytes("\0abABcdCD")), u16(4), "bababaBAdcdcdcDC"},
      {"rgb.png", file(2, 2, 8, rgb, bytes("\0abcdef\0ghijkl")), u8(3), "abcdefghijkl"},
      {"rgb_16.png", file(2, 1, 16, rgb, bytes("\0abcdefghijkl")), u16(3), "badcfehgjilk"},
      {"rgb_transparent.png",
       file(2, 2, 8, rgb, bytes("\0abcdef\0ghijkl"), chunk("tRNS", bytes("\0a\0b\0c"))), u8(4),
       bytes("abc\0def\xFFghi\xFFjkl\xFF")},
      {"rgba.png", file(2, 2, 8, rgb_alpha, bytes("\0abcdefgh\0ijklmnop")), u8(4), "abcdefghijklmnop"},
      {"rgba_16.png", file(2, 1, 16, rgb_alpha, bytes("\0abcdefghijklmnop")), u16(4), "badcfehgjilknmpo"},
      {"palette.png", file(2, 2, 8, palette, bytes("\0\0\1\0\1\0"), colours), u8(3), "RGBrgbrgbRGB"},
      {"palette_1_bit.png", file(2, 2, 1, palette, bytes("\0\x40\0\x80"), colours), u8(3), "RGBrgbrgbRGB"},
      {"palette_transparent.png", file(2, 2, 8, palette, bytes("\0\0\1\0\1\0"), colours + chunk("tRNS", "A")),
       u8(4), "RGBArgb\xFFrgb\xFFRGBA"},
  };
}

inline std::vector<Sample> pnm_samples() {
  const auto u8 = [](std::int64_t channels) { return ImageSpec{{1, 2}, channels, PixelType::u8}; };
  return {
      {"bits_text.pbm", "P1\n2 1\n1 0\n", u8(1), bytes("\0\xFF")},
      {"bits.pbm", bytes("P4\n# comment\n2 1\n\x80"), u8(1), bytes("\0\xFF")},
      {"grey_text.pgm", "P2 2 1 255\n7 200\n", u8(1), "\7\xC8"},
      {"grey.pgm", "P5\n2 1\n255\nab", u8(1), "ab"},
      {"grey_16.pgm", "P5 2 1 65535\nabcd", {{1, 2}, 1, PixelType::u16}, "badc"},
      {"colour_text.ppm", "P3 2 1 255\n1 2 3\n4 5 6\n", u8(3), "\1\2\3\4\5\6"},
      {"colour.ppm", "P6 2 1 255\nabcdef", u8(3), "abcdef"},
      {"colour_16.ppm", "P6 1 1 65535\nabcdef", {{1, 1}, 3, PixelType::u16}, "badcfe"},
  };
}

/// A BMP of two columns: file header, BITMAPINFOHEADER, palette or bit fields, pixels. With `header_bytes`
/// above 40 the header includes some of the bit fields.
inline std::string bmp(int bits, int compression, int palette_entries, int rows,
                       const std::string& before_pixels, const std::string& pixels, int header_bytes = 40) {
  const auto little32 = [](int value) {
    const auto unsigned_value = static_cast<std::uint32_t>(value);
    return std::string{static_cast<char>(unsigned_value), static_cast<char>(unsigned_value >> 8),
                       static_cast<char>(unsigned_value >> 16), static_cast<char>(unsigned_value >> 24)};
  };
  const int offset = 54 + static_cast<int>(before_pixels.size());
  return "BM" + little32(offset + static_cast<int>(pixels.size())) + little32(0) + little32(offset) +
         little32(header_bytes) + little32(2) + little32(rows) +
         std::string{1, 0, static_cast<char>(bits), 0} + little32(compression) +
         little32(static_cast<int>(pixels.size())) + little32(0) + little32(0) + little32(palette_entries) +
         little32(0) + before_pixels + pixels;
}

inline std::vector<Sample> bmp_samples() {
  const auto u8 = [](std::int64_t channels, std::int64_t rows = 1) {
    return ImageSpec{{rows, 2}, channels, PixelType::u8};
  };
  const std::string colours = bytes("BGR\0bgr\0");
  const std::string greys = bytes("aaa\0bbb\0");
  return {
      {"rgb.bmp", bmp(24, 0, 0, 1, "", bytes("BGRbgr\0\0")), u8(3), "RGBrgb"},
      {"rgb_top_down.bmp", bmp(24, 0, 0, -2, "", bytes("BGRbgr\0\0CHScsh\0\0")), u8(3, 2), "RGBrgbSHChsc"},
      {"rgbx.bmp", bmp(32, 0, 0, 1, "", bytes("BGR\0bgr\0")), u8(3), "RGBrgb"},
      {"bit_fields.bmp", bmp(32, 3, 0, 1, bytes("\0\0\xFF\0\0\xFF\0\0\xFF\0\0\0"), bytes("BGRAbgra")), u8(3),
       "RGBrgb"},
      {"alpha.bmp",
       bmp(32, 3, 0, 1, bytes("\0\0\xFF\0\0\xFF\0\0\xFF\0\0\0\0\0\0\xFF"), bytes("BGRAbgra"), 56), u8(4),
       "RGBArgba"},
      {"15_bits.bmp", bmp(16, 0, 0, 1, "", bytes("\x1F\0\xE0\x03")), u8(3), bytes("\0\0\xFF\0\xFF\0")},
      {"palette_8.bmp", bmp(8, 0, 2, 1, colours, bytes("\0\1\0\0")), u8(3), "RGBrgb"},
      {"palette_1.bmp", bmp(1, 0, 2, 1, colours, bytes("\x40\0\0\0")), u8(3), "RGBrgb"},
      {"palette_grey.bmp", bmp(8, 0, 2, 1, greys, bytes("\0\1\0\0")), u8(1), "ab"},
      {"run_lengths.bmp", bmp(8, 1, 2, 1, colours, bytes("\2\1\0\1")), u8(3), "rgbrgb"},
  };
}

/// 3 x 2 pixels of one value, encoded by libjpeg, for which decoding is exact. CMYK 50, 50, 50, 0 is (1 - 50
/// / 255) of white, 205, as in Pillow.
inline std::vector<Sample> jpeg_samples() {
  const Extent extent{2, 3};
  return {
      {"grey.jpg",
       from_hex("ffd8ffe000104a46494600010100000100010000ffdb004300030202030202030303030403030405080505040405"
                "0a070706080c0a0c0c0b0a0b0b0d0e12100d0e110e0b0b1016101113141515150c0f171816141812141514ffc000"
                "0b080002000301011100ffc40014000100000000000000000000000000000007ffc4001410010000000000000000"
                "0000000000000000ffda0008010100003f00347fffd9"),
       {extent, 1, PixelType::u8},
       std::string(6, 100)},
      {"progressive.jpg",
       from_hex("ffd8ffe000104a46494600010100000100010000ffdb004300030202030202030303030403030405080505040405"
                "0a070706080c0a0c0c0b0a0b0b0d0e12100d0e110e0b0b1016101113141515150c0f171816141812141514ffc200"
                "0b080002000301011100ffc40014000100000000000000000000000000000006ffda000801010000000133ffc400"
                "14100100000000000000000000000000000000ffda00080101000105027fffc40014100100000000000000000000"
                "000000000000ffda0008010100063f027fffc40014100100000000000000000000000000000000ffda0008010100"
                "013f217fffda0008010100000010ff00ffc40014100100000000000000000000000000000000ffda000801010001"
                "3f107fffd9"),
       {extent, 1, PixelType::u8},
       std::string(6, 100)},
      {"colour.jpg",
       from_hex("ffd8ffe000104a46494600010100000100010000ffdb004300030202030202030303030403030405080505040405"
                "0a070706080c0a0c0c0b0a0b0b0d0e12100d0e110e0b0b1016101113141515150c0f171816141812141514ffdb00"
                "430103040405040509050509140d0b0d141414141414141414141414141414141414141414141414141414141414"
                "1414141414141414141414141414141414141414ffc00011080002000303012200021101031101ffc40015000101"
                "00000000000000000000000000000005ffc40014100100000000000000000000000000000000ffc4001401010000"
                "0000000000000000000000000000ffc40014110100000000000000000000000000000000ffda000c030100021103"
                "11003f0094003fffd9"),
       {extent, 3, PixelType::u8},
       std::string(18, 120)},
      {"cmyk.jpg",
       from_hex("ffd8ffee000e41646f626500640000000000ffdb0043000302020302020303030304030304050805050404050a07"
                "0706080c0a0c0c0b0a0b0b0d0e12100d0e110e0b0b1016101113141515150c0f171816141812141514ffc0001408"
                "00020003044311004d11005911004b1100ffc4001500010100000000000000000000000000000809ffc400141001"
                "00000000000000000000000000000000ffda000e0443004d0059004b00003f006699a66aa9bfffd9"),
       {extent, 3, PixelType::u8},
       std::string(18, static_cast<char>(205))},
  };
}

inline std::vector<Sample> samples() {
  std::vector<Sample> all = png_samples();
  for (const auto& more : {pnm_samples(), bmp_samples(), jpeg_samples()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace sepconv::small_images
