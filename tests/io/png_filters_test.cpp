#include "io/png/png_filters.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <set>

namespace sepconv {
namespace {

using Row = std::vector<std::byte>;

/// The PNG standard's reconstruction (9.2), byte by byte.
Row reconstructed(const Row& filtered, const Row& above, std::size_t pixel) {
  Row row(filtered.size() - 1);
  const auto at = [](const Row& bytes, std::size_t i, std::size_t back) {
    return i < back ? 0 : std::to_integer<int>(bytes[i - back]);
  };
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int a = at(row, i, pixel), b = at(above, i, 0), c = at(above, i, pixel);
    const int p = a + b - c, pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
    const int predictions[] = {0, a, b, (a + b) / 2, pa <= pb && pa <= pc ? a : pb <= pc ? b : c};
    row[i] = static_cast<std::byte>(std::to_integer<int>(filtered[i + 1]) +
                                    predictions[std::to_integer<std::size_t>(filtered[0])]);
  }
  return row;
}

Row filtered_by(PngFilters& filters, const Row& row) {
  std::copy(row.begin(), row.end(), filters.row());
  Row filtered(row.size() + 1 + PngFilters::kRoom);
  filters.filter_to(filtered.data());
  filtered.resize(row.size() + 1);
  return filtered;
}

TEST_CASE("The PNG filter that generated a row is chosen for it") {
  std::mt19937 random(2);
  for (const std::size_t pixel : {1u, 3u, 8u}) {
    for (const std::size_t size : {999u, 1024u, 20'000u}) {
      PngFilters filters(static_cast<std::int64_t>(size), static_cast<std::int64_t>(pixel));
      for (int kind = 0; kind < 5; ++kind) {
        CAPTURE(pixel, size, kind);
        Row above(size), filtered(size + 1);
        std::ranges::generate(above, [&] { return static_cast<std::byte>(random()); });
        std::ranges::generate(filtered, [&] { return static_cast<std::byte>(random() % 5 - 2); });
        filtered[0] = static_cast<std::byte>(kind);
        filtered_by(filters, above);
        const Row row = reconstructed(filtered, above, pixel), found = filtered_by(filters, row);
        // For a row that is nearly the one above, Paeth's predictor is mostly that row too and can win by
        // chance.
        const bool chose_paeth = kind == 2 && found[0] == std::byte{4};
        const bool same = chose_paeth ? reconstructed(found, above, pixel) == row : found == filtered;
        CHECK(same);
      }
    }
  }
}

TEST_CASE("The standard's reconstruction undoes PNG's filters, and each filter is chosen for suitable rows") {
  std::mt19937 random(1);
  std::set<std::byte> kinds;
  for (const std::size_t pixel : {1u, 2u, 3u, 4u, 6u, 8u}) {
    for (const std::size_t cols : {1u, 2u, 15u, 16u, 17u, 63u, 64u, 65u, 300u}) {
      CAPTURE(pixel, cols);
      PngFilters filters(static_cast<std::int64_t>(pixel * cols), static_cast<std::int64_t>(pixel));
      Row above(pixel * cols);
      for (int y = 0; y < 60; ++y) {
        Row row(pixel * cols);
        for (std::size_t i = 0; i < row.size(); ++i) {
          const auto x = static_cast<int>(i / pixel);
          const int shapes[] = {static_cast<int>(random()), 3 * x, 40 * (x * x % 7), 5 * x + 7 * y,
                                static_cast<int>(random() % 3) * (x % 5 == 0 ? 80 : 1)};
          row[i] = static_cast<std::byte>(shapes[y / 4 % 5]);
        }
        const Row filtered = filtered_by(filters, row);
        kinds.insert(filtered[0]);
        const bool same = reconstructed(filtered, above, pixel) == row;
        CHECK(same);
        above = row;
      }
    }
  }
  CHECK(kinds.size() == 5);
}

}  // namespace
}  // namespace sepconv
