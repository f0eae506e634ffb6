// Filters an image that is never whole in memory or in a file: run() asks this program for rows and returns
// the rows of the result. Uses the first GPU if one exists, else the CPU; the results are identical.
//
//   example_run_with_callbacks
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "sepconv/sepconv.hpp"

namespace {

constexpr sepconv::Extent kExtent{6000, 3001};

/// The source image: a formula instead of a detector.
std::uint16_t source_pixel(std::int64_t row, std::int64_t col) {
  return static_cast<std::uint16_t>((row * 31 + col * 17 + row * col % 13) % 4096);
}

/// (1 2 1)/4 down the columns with replicated edges, on integers, rounded half to even.
std::uint16_t expected_pixel(std::int64_t row, std::int64_t col) {
  const auto at = [&](std::int64_t r) {
    return source_pixel(std::clamp<std::int64_t>(r, 0, kExtent.rows - 1), col);
  };
  const int sum = at(row - 1) + 2 * at(row) + at(row + 1);
  const int down = sum / 4;
  const int rest = sum % 4;
  return static_cast<std::uint16_t>(rest < 2 || (rest == 2 && down % 2 == 0) ? down : down + 1);
}

void read_rows(std::int64_t first_row, const sepconv::PixelView& out) {
  for (std::int64_t row = 0; row < out.extent.rows; ++row) {
    auto* const pixels = out.row<std::uint16_t>(row);
    for (std::int64_t col = 0; col < out.extent.cols; ++col) pixels[col] = source_pixel(first_row + row, col);
  }
}

std::int64_t wrong_pixels(std::int64_t first_row, const sepconv::ConstPixelView& rows) {
  std::int64_t wrong = 0;
  for (std::int64_t row = 0; row < rows.extent.rows; ++row) {
    const auto* const pixels = rows.row<std::uint16_t>(row);
    for (std::int64_t col = 0; col < rows.extent.cols; ++col)
      wrong += pixels[col] != expected_pixel(first_row + row, col);
  }
  return wrong;
}

/// Whether all rows were returned with the expected values.
bool filter_own_rows() {
  const sepconv::ImageSpec spec{kExtent, 1, sepconv::PixelType::u16};
  std::int64_t rows_seen = 0;
  std::int64_t wrong = 0;
  const auto reader = sepconv::make_rows_reader(spec, read_rows);
  const auto writer =
      sepconv::make_rows_writer(spec, [&](std::int64_t first_row, const sepconv::ConstPixelView& rows) {
        wrong += wrong_pixels(first_row, rows);
        rows_seen += rows.extent.rows;
      });

  const std::vector<std::string> stages{"convolve:col=0.25,0.5,0.25,border=replicate"};
  sepconv::RunOptions options;
  options.max_memory_bytes = 64 << 20;
  if (!sepconv::list_devices().empty()) options.devices = {0};
  const sepconv::RunReport report = sepconv::run(*reader, *writer, sepconv::Chain::parse(stages), options);

  std::cout << rows_seen << " rows in bands of " << report.plan.band.rows << " on " << report.device << ", "
            << wrong << " pixels wrong\n";
  return rows_seen == kExtent.rows && wrong == 0;
}

}  // namespace

int main() {
  try {
    return filter_own_rows() ? 0 : 1;
  } catch (const sepconv::Error& error) {
    std::cerr << "example_run_with_callbacks: " << error.what() << '\n';
    return 1;
  }
}
