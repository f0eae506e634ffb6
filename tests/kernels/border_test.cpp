// border_index against the diagrams in border.hpp.
#include "kernels/conv/border.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "kernels/conv/padded_row.hpp"

using namespace sepconv;

namespace {

/// The pixels at -8..11 of the image "abcd".
std::string extended(BorderMode mode, std::int64_t size = 4) {
  std::string letters;
  for (std::int64_t i = -8; i < 12; ++i) {
    const std::int64_t from = border_index(i, size, mode);
    letters += from < 0 ? 'v' : static_cast<char>('a' + from);
  }
  return letters;
}

}  // namespace

TEST_CASE("borders extend the image as their diagrams show, beyond the image's own size too") {
  CHECK(extended(BorderMode::constant) == "vvvvvvvvabcdvvvvvvvv");
  CHECK(extended(BorderMode::replicate) == "aaaaaaaaabcddddddddd");
  CHECK(extended(BorderMode::reflect) == "abcddcbaabcddcbaabcd");
  CHECK(extended(BorderMode::reflect101) == "cbabcdcbabcdcbabcdcb");
  CHECK(extended(BorderMode::wrap) == "abcdabcdabcdabcdabcd");
}

TEST_CASE("an image of one pixel is everywhere") {
  CHECK(extended(BorderMode::replicate, 1) == std::string(20, 'a'));
  CHECK(extended(BorderMode::reflect, 1) == std::string(20, 'a'));
  CHECK(extended(BorderMode::reflect101, 1) == std::string(20, 'a'));
  CHECK(extended(BorderMode::wrap, 1) == std::string(20, 'a'));
  CHECK(extended(BorderMode::constant, 1) == "vvvvvvvvavvvvvvvvvvv");
}

TEST_CASE("far from the image indices do not overflow") {
  const std::int64_t far = std::int64_t{1} << 40;
  for (const BorderMode mode :
       {BorderMode::replicate, BorderMode::reflect, BorderMode::reflect101, BorderMode::wrap}) {
    CHECK(border_index(far, 7, mode) >= 0);
    CHECK(border_index(far, 7, mode) < 7);
    CHECK(border_index(-far, 7, mode) >= 0);
    CHECK(border_index(-far, 7, mode) < 7);
  }
  CHECK(border_index(12 * 1000000 + 2, 7, BorderMode::reflect101) == 2);
  CHECK(border_index(-14 * 1000000 + 2, 7, BorderMode::reflect) == 2);
}

TEST_CASE("border names parse back") {
  for (const BorderMode mode : {BorderMode::constant, BorderMode::replicate, BorderMode::reflect,
                                BorderMode::reflect101, BorderMode::wrap}) {
    CHECK(parse_border_mode(name_of(mode)) == mode);
  }
  CHECK_FALSE(parse_border_mode("mirror").has_value());
}

TEST_CASE("a row is extended by what its border has at each column, run by run") {
  constexpr BorderMode kModes[] = {BorderMode::constant, BorderMode::replicate, BorderMode::reflect,
                                   BorderMode::reflect101, BorderMode::wrap};
  for (const BorderMode mode : kModes) {
    for (const std::int64_t cols : {1, 2, 3, 7, 40}) {
      for (const std::int64_t radius : {1, 2, 6, 45}) {
        for (const std::int64_t size : {1, 3}) {
          const PaddedColumns columns(0, cols, radius, cols);
          std::vector<std::int64_t> row(static_cast<std::size_t>((cols + 2 * radius) * size), -5);
          for (std::int64_t i = 0; i < cols * size; ++i) row[static_cast<std::size_t>(radius * size + i)] = i;
          extend_row(row.data(), columns, cols, mode, size, std::int64_t{-1});
          for (std::int64_t i = 0; i < std::ssize(row); ++i) {
            const std::int64_t from = border_index(i / size - radius, cols, mode);
            REQUIRE(row[static_cast<std::size_t>(i)] == (from < 0 ? -1 : from * size + i % size));
          }
        }
      }
    }
  }
}
