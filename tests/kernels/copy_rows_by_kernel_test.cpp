// A kernel that stores rows to page-locked memory gives the same bytes as a copy and changes no others.
#include "kernels/device/copy_rows_by_kernel.hpp"

#include <catch2/catch.hpp>
#include <cstring>
#include <vector>

#include "../support/gpu.hpp"

namespace sepconv {
namespace {

struct Case {
  std::int64_t rows, row_bytes, to_pitch, from_pitch, to_offset, from_offset;
};

/// Runs `copy` on a case, from numbered bytes to poisoned memory, and returns the whole destination. `to_host`:
/// from device to host, else from host to device.
template <class Copy>
std::vector<std::byte> copied(const Case& c, bool to_host, const Copy& copy) {
  const std::int64_t from_bytes = c.from_offset + c.rows * c.from_pitch + c.row_bytes;
  const std::int64_t to_bytes = c.to_offset + c.rows * c.to_pitch + c.row_bytes;
  const Buffer numbered(from_bytes, pinned_resource()), result(to_bytes, pinned_resource()),
      device(to_host ? from_bytes : to_bytes, device_resource());
  for (std::int64_t i = 0; i < from_bytes; ++i) numbered.data()[i] = static_cast<std::byte>(i * 7 + i / 251);
  std::memset(result.data(), 0xa5, static_cast<std::size_t>(to_bytes));
  const Stream stream;
  const auto copy_dense = [&](std::byte* to, const std::byte* from, std::int64_t bytes) {
    copy_rows(to, 0, from, 0, bytes, 1, stream.get());
  };
  to_host ? copy_dense(device.data(), numbered.data(), from_bytes)
          : copy_dense(device.data(), result.data(), to_bytes);
  const std::byte* const from = to_host ? device.data() : numbered.data();
  std::byte* const to = to_host ? result.data() : device.data();
  copy(to + c.to_offset, c.to_pitch, from + c.from_offset, c.from_pitch, c.row_bytes, c.rows, stream.get());
  if (!to_host) copy_dense(result.data(), device.data(), to_bytes);
  stream.synchronize();
  return {result.data(), result.data() + to_bytes};
}

TEST_CASE("rows copied by a kernel are those that a copy brings", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  // Rows of 16-byte pieces, more and fewer than one pass of all threads; then sizes, pitches and offsets that
  // are not multiples of 16.
  const std::vector<Case> cases{{300, 4096, 65536, 4096, 0, 0}, {1, 16, 16, 16, 0, 0},
                                {257, 48, 1040, 64, 16, 32},    {3, 1 << 20, 1 << 21, 1 << 20, 0, 0},
                                {40000, 16, 32, 16, 0, 0},      {1, 4096, 7, 5, 0, 0},
                                {50, 100, 128, 112, 0, 0},      {50, 96, 130, 112, 0, 0},
                                {50, 96, 128, 97, 0, 0},        {50, 96, 128, 112, 8, 0},
                                {50, 96, 128, 112, 0, 4},       {0, 96, 128, 112, 0, 0}};
  for (const Case& c : cases) {
    CAPTURE(c.rows, c.row_bytes, c.to_pitch, c.from_pitch, c.to_offset, c.from_offset);
    for (const bool to_host : {false, true})
      CHECK(copied(c, to_host, copy_rows_by_kernel) == copied(c, to_host, copy_rows));
  }
}

}  // namespace
}  // namespace sepconv
