// JPEGs encoded and decoded by libjpeg, for tests of sepconv's decoders.
#pragma once

// clang-format off
#include <cstdio>
#include <jpeglib.h>
#include <jerror.h>
// clang-format on

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <vector>

#include "kernels/jpeg/decode_on_host.hpp"
#include "random_image.hpp"

namespace sepconv::test {

/// Settings of an encoder.
struct JpegEncoderSettings {
  jpeg::Geometry geometry;
  bool is_ycbcr = true;
  int quality = 75;
  unsigned restart_interval = 0;  ///< in MCUs
  bool optimises = false, is_progressive = false;
  bool is_baseline = true;  ///< else quantization tables may have 16-bit values
};

struct JpegErrors : jpeg_error_mgr {
  std::jmp_buf jump;
  int warnings = 0;
};

inline void handle_errors(JpegErrors& errors) {
  jpeg_std_error(&errors);
  errors.error_exit = [](j_common_ptr info) { std::longjmp(static_cast<JpegErrors*>(info->err)->jump, 1); };
  errors.emit_message = [](j_common_ptr info, int level) {
    // Extraneous bytes between markers change no pixel.
    if (level < 0 && info->err->msg_code != JWRN_EXTRANEOUS_DATA)
      ++static_cast<JpegErrors*>(info->err)->warnings;
  };
}

/// Encodes dense rows of interleaved components.
inline std::vector<std::byte> jpeg_of(const std::vector<std::byte>& pixels,
                                      const JpegEncoderSettings& settings) {
  jpeg_compress_struct info;
  JpegErrors errors;
  handle_errors(errors);
  info.err = &errors;
  if (setjmp(errors.jump) != 0) std::abort();
  jpeg_create_compress(&info);
  unsigned char* stream = nullptr;
  unsigned long bytes = 0;
  jpeg_mem_dest(&info, &stream, &bytes);
  info.image_width = static_cast<JDIMENSION>(settings.geometry.cols);
  info.image_height = static_cast<JDIMENSION>(settings.geometry.rows);
  info.input_components = settings.geometry.components;
  info.in_color_space = settings.geometry.components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  if (!settings.is_ycbcr && settings.geometry.components == 3) jpeg_set_colorspace(&info, JCS_RGB);
  info.comp_info[0].h_samp_factor = settings.geometry.across;
  info.comp_info[0].v_samp_factor = settings.geometry.down;
  jpeg_set_quality(&info, settings.quality, settings.is_baseline ? TRUE : FALSE);
  info.restart_interval = settings.restart_interval;
  info.optimize_coding = settings.optimises ? TRUE : FALSE;
  if (settings.is_progressive) jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  const std::size_t row_bytes = info.image_width * static_cast<std::size_t>(info.input_components);
  while (info.next_scanline < info.image_height) {
    auto* row = reinterpret_cast<JSAMPROW>(const_cast<std::byte*>(&pixels[info.next_scanline * row_bytes]));
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  std::vector<std::byte> result(reinterpret_cast<std::byte*>(stream),
                                reinterpret_cast<std::byte*>(stream) + bytes);
  std::free(stream);
  return result;
}

/// Decodes as libtiff does, ignoring the stream's colour space. Returns false after an error or a warning.
inline bool decode_by_libjpeg(const std::vector<std::byte>& stream, const jpeg::Geometry& geometry,
                              bool is_ycbcr, std::byte* to) {
  jpeg_decompress_struct info;
  JpegErrors errors;
  handle_errors(errors);
  info.err = &errors;
  if (setjmp(errors.jump) != 0) {
    jpeg_destroy_decompress(&info);
    return false;
  }
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(stream.data()), stream.size());
  jpeg_read_header(&info, TRUE);
  info.jpeg_color_space = is_ycbcr ? JCS_YCbCr : JCS_UNKNOWN;
  info.out_color_space = is_ycbcr ? JCS_RGB : JCS_UNKNOWN;
  const bool fits = static_cast<std::int32_t>(info.image_width) == geometry.cols &&
                    static_cast<std::int32_t>(info.image_height) == geometry.rows &&
                    info.num_components == geometry.components;
  if (fits) {
    jpeg_start_decompress(&info);
    const std::size_t row_bytes = info.output_width * static_cast<std::size_t>(info.output_components);
    while (info.output_scanline < info.output_height) {
      auto* row = reinterpret_cast<JSAMPROW>(to + info.output_scanline * row_bytes);
      jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
  }
  jpeg_destroy_decompress(&info);
  return fits && errors.warnings == 0;
}

inline std::size_t jpeg_pixel_bytes(const jpeg::Geometry& geometry) {
  return static_cast<std::size_t>(geometry.rows) * static_cast<std::size_t>(geometry.cols) *
         static_cast<std::size_t>(geometry.components);
}

/// Decodes with the GPU's decoder on one thread, in buffers of exactly the needed size. Empty if it rejects
/// the stream.
inline std::vector<std::byte> decode_on_one_thread(const std::vector<std::byte>& stream,
                                                   const JpegEncoderSettings& settings) {
  const jpeg::Geometry& geometry = settings.geometry;
  const auto in = std::make_unique<std::byte[]>(stream.size());
  std::ranges::copy(stream, in.get());
  const auto bytes = static_cast<std::size_t>(geometry.blocks() * jpeg::kBlockBytes);
  const auto coefficients = std::make_unique<std::byte[]>(bytes);
  std::fill_n(coefficients.get(), bytes, std::byte{0xA5});
  std::vector<std::byte> pixels(jpeg_pixel_bytes(geometry), std::byte{0xA5});
  pixels.shrink_to_fit();
  return jpeg::decode_on_host(in.get(), std::ssize(stream), geometry, settings.is_ycbcr, coefficients.get(),
                              pixels.data())
             ? pixels
             : std::vector<std::byte>();
}

/// Decodes with libjpeg; empty after an error or a warning.
inline std::vector<std::byte> decode_with_libjpeg(const std::vector<std::byte>& stream,
                                                  const JpegEncoderSettings& settings) {
  std::vector<std::byte> pixels(jpeg_pixel_bytes(settings.geometry));
  return decode_by_libjpeg(stream, settings.geometry, settings.is_ycbcr, pixels.data())
             ? pixels
             : std::vector<std::byte>();
}

/// Pixels with noise, ramps and edges; in some images saturated to 0 and 255.
inline std::vector<std::byte> jpeg_pixels(Random& random, const jpeg::Geometry& geometry) {
  std::vector<std::byte> pixels(jpeg_pixel_bytes(geometry));
  const auto spread = static_cast<int>(random_between(random, 1, 256));
  const auto slope = static_cast<int>(random_between(random, 0, 9));
  const bool saturates = random() % 4 == 0;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const auto index = static_cast<int>(i);
    const int ramp = index / geometry.components % geometry.cols * slope + index / 97 % 5 * 40;
    const int value = (ramp + static_cast<int>(random() % static_cast<unsigned>(spread))) & 255;
    pixels[i] = static_cast<std::byte>(saturates ? (value > 128 ? 255 : 0) : value);
  }
  return pixels;
}

/// Random settings that TIFF encoders use, and a random size.
inline JpegEncoderSettings random_jpeg(Random& random) {
  JpegEncoderSettings settings;
  const std::int32_t sides[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 40, 64, 97};
  const std::pair<int, int> samplings[] = {{1, 1}, {2, 1}, {2, 2}};
  const int components = random() % 4 == 0 ? 1 : 3;
  settings.is_ycbcr = components == 3 && random() % 4 != 0;
  const auto [across, down] = settings.is_ycbcr ? random_choice(random, samplings) : samplings[0];
  settings.geometry = {random_choice(random, sides), random_choice(random, sides), components, across, down};
  const int qualities[] = {1, 10, 30, 50, 75, 90, 95, 100};
  settings.quality = random_choice(random, qualities);
  settings.restart_interval = random() % 3 == 0 ? static_cast<unsigned>(random_between(random, 1, 20)) : 0;
  settings.optimises = random() % 2 == 0;
  settings.is_baseline = random() % 2 == 0;
  return settings;
}

}  // namespace sepconv::test
