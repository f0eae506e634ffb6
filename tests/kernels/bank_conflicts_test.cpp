// The bank conflict counter on cases that can be counted by hand, on 8 x 8 x 8 tiles, and on the tiles of the
// CUDA kernels.
#include "kernels/transpose/bank_conflicts.hpp"

#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

#include "core/error.hpp"
#include "kernels/transpose/tiles.hpp"

using namespace sepconv;

namespace {

std::vector<std::int64_t> strided(int count, std::int64_t stride_bytes) {
  std::vector<std::int64_t> addresses(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < addresses.size(); ++i)
    addresses[i] = static_cast<std::int64_t>(i) * stride_bytes;
  return addresses;
}

/// Wavefronts beyond the minimum, summed over all accesses of transpose_tile as tile_kernel.cuh assigns them
/// to threads.
template <class Tile>
int conflicts_of() {
  const auto address = [](int plane, int word, int row) {
    return static_cast<std::int64_t>((plane * Tile::kInWords + word) * Tile::kPitch + row) * Tile::kWordBytes;
  };
  const int min_wavefronts = Tile::kWordBytes / 4;
  int extra = 0;
  // A warp writes the 32 words that it loaded, from one or more input rows, and reads 32 words of output
  // rows.
  for (int first = 0; first < Tile::kInWords * Tile::kOutWords; first += 32) {
    for (int plane = 0; plane < Tile::kMicro; ++plane) {
      std::vector<std::int64_t> writes;
      std::vector<std::int64_t> reads;
      for (int i = first; i < first + 32; ++i) {
        writes.push_back(address(plane, i % Tile::kInWords, i / Tile::kInWords));
        reads.push_back(address(plane, i / Tile::kOutWords, i % Tile::kOutWords));
      }
      extra += wavefronts(writes, Tile::kWordBytes) - min_wavefronts + wavefronts(reads, Tile::kWordBytes) -
               min_wavefronts;
    }
  }
  return extra;
}

}  // namespace

TEST_CASE("wavefronts of a warp's access to shared memory") {
  CHECK(wavefronts(strided(32, 4), 4) == 1);
  CHECK(wavefronts(strided(32, 8), 4) == 2);
  CHECK(wavefronts(strided(32, 12), 4) == 1);
  CHECK(wavefronts(strided(32, 128), 4) == 32);
  CHECK(wavefronts(strided(32, 132), 4) == 1);
  CHECK(wavefronts(strided(32, 0), 4) == 1);  // all threads access one word
  CHECK(wavefronts(strided(32, 1), 1) == 1);  // four threads per word
  CHECK(wavefronts(strided(32, 128), 1) == 32);
  CHECK(wavefronts(strided(32, 8), 8) == 2);  // half warps
  CHECK(wavefronts(strided(32, 256), 8) == 32);
  CHECK(wavefronts(strided(32, 16), 16) == 4);  // quarter warps
  CHECK(wavefronts(strided(5, 128), 4) == 5);   // part of a warp
  CHECK(wavefronts({}, 4) == 0);
}

TEST_CASE("conflicts of square tiles and the column of padding that removes them") {
  const Permutation transpose{{0, 2, 1}};
  for (const int bytes : {4, 8, 16}) {
    const TileAccess access{{1, 32, 32}, transpose, bytes};
    CAPTURE(bytes);
    const double all = 32.0 - bytes / 4.0;  // no two threads of a warp share a wavefront
    CHECK(count_conflicts(access, {1, 32, 32}).write == 0);
    CHECK(count_conflicts(access, {1, 32, 32}).read == all);
    CHECK(count_conflicts(access, {1, 32, 33}).read == 0);
    CHECK(smallest_padding(access, Conflicts::read_and_write) == TileExtent{1, 32, 33});
  }
  // Rows of 16: a warp reads two columns of 16 elements, each of which falls into two banks.
  CHECK(count_conflicts({{1, 16, 16}, transpose, 4}, {1, 16, 16}).read == 7);
}

TEST_CASE("conflicts of an 8 x 8 x 8 tile and the smallest tile without") {
  struct Row {
    Permutation permutation;
    double read;
    TileExtent padded;
  };
  const std::vector<Row> table{{{{0, 1, 2}}, 0, {8, 8, 8}}, {{{0, 2, 1}}, 1, {8, 8, 12}},
                               {{{1, 0, 2}}, 3, {8, 9, 8}}, {{{1, 2, 0}}, 7, {8, 10, 10}},
                               {{{2, 0, 1}}, 7, {8, 8, 9}}, {{{2, 1, 0}}, 7, {8, 12, 9}}};
  for (const Row& row : table) {
    const TileAccess access{{8, 8, 8}, row.permutation, 4};
    CAPTURE(to_string(row.permutation));
    CHECK(count_conflicts(access, {8, 8, 8}).write == 0);
    CHECK(count_conflicts(access, {8, 8, 8}).read == row.read);
    CHECK(smallest_padding(access, Conflicts::read) == row.padded);
  }
}

TEST_CASE("a padding that is returned removes all conflicts") {
  // Reading rows of 8 along columns needs a pitch of 12, at which four rows written simultaneously hit the
  // same bank.
  CHECK(count_conflicts({{8, 8, 8}, {{0, 2, 1}}, 4}, {8, 8, 12}).write > 0);
  const auto padded = smallest_padding({{8, 8, 8}, {{0, 2, 1}}, 4}, Conflicts::read_and_write);
  if (padded) {
    CHECK(count_conflicts({{8, 8, 8}, {{0, 2, 1}}, 4}, *padded).write == 0);
    CHECK(count_conflicts({{8, 8, 8}, {{0, 2, 1}}, 4}, *padded).read == 0);
  }
}

TEST_CASE("the bank conflict counter refuses what is not a tile") {
  CHECK_THROWS_AS(count_conflicts({{8, 8, 8}, {}, 4}, {8, 7, 8}), InvalidArgument);
  CHECK_THROWS_AS(count_conflicts({{0, 8, 8}, {}, 4}, {8, 8, 8}), InvalidArgument);
  CHECK_THROWS_AS(smallest_padding({{8, 8, 8}, {}, 3}, Conflicts::read), InvalidArgument);
}

TEST_CASE("the tiles of the CUDA kernels are free of bank conflicts") {
  CHECK(conflicts_of<transposing::Tile1>() == 0);
  CHECK(conflicts_of<transposing::Tile2>() == 0);
  CHECK(conflicts_of<transposing::Tile4>() == 0);
  CHECK(conflicts_of<transposing::Tile8>() == 0);
  CHECK(conflicts_of<transposing::Tile16>() == 0);
}
