#include "bench/conv/tiled_convolver.hpp"

#include <algorithm>
#include <cstring>

#include "core/error.hpp"

namespace sepconv {
namespace {

/// Extents of the three images, including the zero border.
struct Shapes {
  Extent source, filtered, result;
  std::int64_t area() const { return source.area() + filtered.area() + result.area(); }
};
Shapes shapes_of(std::int64_t row_radius, std::int64_t col_radius, Extent image) {
  return {{image.rows, image.cols + 2 * row_radius}, {image.rows + 2 * col_radius, image.cols}, image};
}

std::int64_t rows_of_band(Extent image, std::int64_t tile_elements) {
  return std::clamp<std::int64_t>(tile_elements / image.cols, 1, image.rows);
}

/// Elements of a lane's input buffer: the maximum of what the two passes read.
std::int64_t band_input_elements(std::int64_t row_radius, std::int64_t col_radius, std::int64_t cols,
                                 std::int64_t band_rows) {
  return std::max(band_rows * (cols + 2 * row_radius), (band_rows + 2 * col_radius) * cols);
}

void fill_with_zeros(const PixelView& view) {
  for (std::int64_t row = 0; row < view.extent.rows; ++row)
    std::memset(view.row_data(row), 0, static_cast<std::size_t>(view.row_bytes()));
}

}  // namespace

TiledConvolverImage::TiledConvolverImage(std::int64_t row_radius, std::int64_t col_radius, Extent image,
                                         Arithmetic arithmetic)
    : row_radius_(row_radius), col_radius_(col_radius) {
  const Shapes shapes = shapes_of(row_radius, col_radius, image);
  const auto allocate = [&](Extent extent, Buffer& memory) {
    const ImageSpec spec{extent, 1, pixel_type_of(arithmetic)};
    memory = Buffer(spec.bytes(), pinned_resource());
    return dense_view(memory.data(), spec);
  };
  source_ = allocate(shapes.source, source_memory_);
  filtered_ = allocate(shapes.filtered, filtered_memory_);
  result_ = allocate(shapes.result, result_memory_);
  fill_with_zeros(source_.crop({0, 0, image.rows, row_radius}));
  fill_with_zeros(source_.crop({0, row_radius + image.cols, image.rows, row_radius}));
  fill_with_zeros(filtered_.crop({0, 0, col_radius, image.cols}));
  fill_with_zeros(filtered_.crop({col_radius + image.rows, 0, col_radius, image.cols}));
}

std::int64_t TiledConvolverImage::host_bytes(std::int64_t row_radius, std::int64_t col_radius, Extent image,
                                             Arithmetic arithmetic) {
  return shapes_of(row_radius, col_radius, image).area() * size_of(pixel_type_of(arithmetic));
}

PixelView TiledConvolverImage::source() const noexcept {
  return source_.crop({0, row_radius_, result_.extent.rows, result_.extent.cols});
}

TiledConvolver::TiledConvolver(const TiledConvolverImage& image, const SeparableTaps& taps,
                               ConvVariant variant, std::int64_t tile_elements, int streams)
    : image_(image),
      variant_(variant),
      row_taps_(taps.row, image.result_.type == PixelType::f64 ? Arithmetic::f64 : Arithmetic::f32),
      col_taps_(taps.col, image.result_.type == PixelType::f64 ? Arithmetic::f64 : Arithmetic::f32),
      band_rows_(rows_of_band(image.result_.extent, tile_elements)) {
  if (taps.row_radius() != image.row_radius_ || taps.col_radius() != image.col_radius_ || streams < 1) {
    throw InvalidArgument("a tiled convolver needs an image made for its taps, and at least one stream");
  }
  const std::int64_t cols = image.result_.extent.cols, element_bytes = size_of(image.result_.type);
  for (int i = 0; i < streams; ++i) {
    lanes_.push_back(
        {Buffer(band_input_elements(image.row_radius_, image.col_radius_, cols, band_rows_) * element_bytes,
                device_resource()),
         Buffer(band_rows_ * cols * element_bytes, device_resource()), Stream()});
  }
}

std::int64_t TiledConvolver::device_bytes(std::int64_t row_radius, std::int64_t col_radius, Extent image,
                                          Arithmetic arithmetic, std::int64_t tile_elements, int streams) {
  const std::int64_t rows = rows_of_band(image, tile_elements);
  return streams * (band_input_elements(row_radius, col_radius, image.cols, rows) + rows * image.cols) *
         size_of(pixel_type_of(arithmetic));
}

void TiledConvolver::run() const {
  const Extent image = image_.result_.extent;
  run_pass(ConvPass::rows, row_taps_, image_.source_,
           image_.filtered_.crop({image_.col_radius_, 0, image.rows, image.cols}));
  run_pass(ConvPass::cols, col_taps_, image_.filtered_, image_.result_);
}

void TiledConvolver::run_pass(ConvPass pass, const VariantTaps& taps, const PixelView& source,
                              const PixelView& destination) const {
  const std::int64_t halo_rows = pass == ConvPass::cols ? 2 * taps.radius() : 0;
  std::size_t band = 0;
  for (std::int64_t row = 0; row < destination.extent.rows; row += band_rows_, ++band) {
    const Lane& lane = lanes_[band % lanes_.size()];
    const std::int64_t rows = std::min(band_rows_, destination.extent.rows - row);
    // Rows are contiguous on the host and on the device, so a band is one copy. Stream order is the only
    // synchronisation.
    const PixelView host_in = source.crop({row, 0, rows + halo_rows, source.extent.cols});
    const PixelView host_out = destination.crop({row, 0, rows, destination.extent.cols});
    PixelView in = host_in, out = host_out;
    in.data = lane.in.data(), out.data = lane.out.data();
    copy_rows(in.data, in.pitch_bytes, host_in.data, in.pitch_bytes, in.row_bytes(), in.extent.rows,
              lane.stream.get());
    convolve_pass(variant_, pass, taps, in, out, lane.stream.get());
    copy_rows(host_out.data, out.pitch_bytes, out.data, out.pitch_bytes, out.row_bytes(), rows,
              lane.stream.get());
  }
  // The column pass reads rows that all streams have downloaded.
  for (const Lane& lane : lanes_) lane.stream.synchronize();
}

}  // namespace sepconv
