// Rows stored by a kernel into page-locked memory are those that a copy brings, and nothing beside them is
// touched.
#include "sepconv/kernels/cuda/store_rows.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "../support/gpu.hpp"

namespace sepconv {
namespace {

struct Case {
  std::int64_t rows, row_bytes, to_pitch, from_pitch, to_offset, from_offset;
};

/// `copy` of a case: from device memory of counting bytes to page-locked memory full of poison, all of which
/// is returned.
template <class Copy>
std::vector<std::byte> stored(const Case& c, const Copy& copy) {
  const std::int64_t from_bytes = c.from_offset + c.rows * c.from_pitch + c.row_bytes;
  const std::int64_t to_bytes = c.to_offset + c.rows * c.to_pitch + c.row_bytes;
  Buffer counting(from_bytes, pinned_resource()), result(to_bytes, pinned_resource()),
      device(from_bytes, device_resource());
  for (std::int64_t i = 0; i < from_bytes; ++i) counting.data()[i] = static_cast<std::byte>(i * 7 + i / 251);
  std::memset(result.data(), 0xa5, static_cast<std::size_t>(to_bytes));
  const Stream stream;
  copy_rows(device.data(), 0, counting.data(), 0, from_bytes, 1, stream.get());
  copy(result.data() + c.to_offset, c.to_pitch, device.data() + c.from_offset, c.from_pitch, c.row_bytes,
       c.rows, stream.get());
  stream.synchronize();
  return {result.data(), result.data() + to_bytes};
}

TEST_CASE("rows stored by a kernel are those that a copy brings", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  // Rows of pieces of 16 bytes, more and fewer than a round of all threads; then everything that is no
  // multiple of 16.
  const std::vector<Case> cases{{300, 4096, 65536, 4096, 0, 0}, {1, 16, 16, 16, 0, 0},
                                {257, 48, 1040, 64, 16, 32},    {3, 1 << 20, 1 << 21, 1 << 20, 0, 0},
                                {40000, 16, 32, 16, 0, 0},      {1, 4096, 7, 5, 0, 0},
                                {50, 100, 128, 112, 0, 0},      {50, 96, 130, 112, 0, 0},
                                {50, 96, 128, 97, 0, 0},        {50, 96, 128, 112, 8, 0},
                                {50, 96, 128, 112, 0, 4},       {0, 96, 128, 112, 0, 0}};
  for (const Case& c : cases) {
    CAPTURE(c.rows, c.row_bytes, c.to_pitch, c.from_pitch, c.to_offset, c.from_offset);
    CHECK(stored(c, store_rows) == stored(c, copy_rows));
  }
}

}  // namespace
}  // namespace sepconv
