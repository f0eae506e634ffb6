// The CUDA transposition kernels against the reference, byte for byte, with poison around the output and an
// input buffer of exactly the needed size. Every kernel that supports a case runs it.
#include "kernels/transpose/transpose_cuda.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "../support/gpu.hpp"
#include "kernels/transpose/permutation.hpp"

using namespace sepconv;
using Kernel = transposing::CudaPlan::Kernel;

namespace {

constexpr Kernel kKernels[] = {Kernel::copy, Kernel::tile,  Kernel::shifted, Kernel::pixels,
                               Kernel::comb, Kernel::small, Kernel::staged,  Kernel::runs};

/// The memory layout of the input or the output.
struct Layout {
  std::int64_t pitch_padding = 0, item_padding = 0;
  std::int64_t offset = 0;   ///< bytes of the first matrix from an aligned address
  bool interleaved = false;  ///< rows interleaved, not one matrix after another

  template <class Byte>
  BasicMatrices<Byte> matrices(Byte* memory, std::int64_t items, std::int64_t rows,
                               std::int64_t row_bytes) const {
    if (!interleaved)
      return {memory + offset, row_bytes + pitch_padding, rows * (row_bytes + pitch_padding) + item_padding};
    return {memory + offset, items * (row_bytes + item_padding) + pitch_padding, row_bytes + item_padding};
  }
  /// Bytes up to the end of the last element.
  std::int64_t bytes(std::int64_t items, std::int64_t rows, std::int64_t row_bytes) const {
    const ConstMatrices m = matrices<const std::byte>(nullptr, items, rows, row_bytes);
    return offset + (items - 1) * m.item_bytes + (rows - 1) * m.pitch_bytes + row_bytes;
  }
};

struct Case {
  TransposeShape shape;
  Layout in, out;
};

std::vector<std::byte> random_bytes(std::int64_t count) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  std::mt19937_64 random(static_cast<std::uint64_t>(count));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

void copy(void* to, const void* from, std::int64_t bytes, const Stream& stream) {
  copy_rows(to, 0, from, 0, bytes, 1, stream.get());
  stream.synchronize();
}

/// Runs the case with transpose_device and with every kernel that supports it. Returns those kernels.
std::vector<Kernel> check(const Case& c) {
  const TransposeShape& shape = c.shape;
  const std::int64_t in_bytes = c.in.bytes(shape.items, shape.rows, shape.cols * shape.element_bytes);
  const std::int64_t out_bytes = c.out.bytes(shape.items, shape.cols, shape.rows * shape.element_bytes);
  const auto in_of = [&](const std::byte* memory) {
    return c.in.matrices<const std::byte>(memory, shape.items, shape.rows, shape.cols * shape.element_bytes);
  };
  const auto out_of = [&](std::byte* memory) {
    return c.out.matrices<std::byte>(memory, shape.items, shape.cols, shape.rows * shape.element_bytes);
  };
  constexpr std::int64_t kTrailingBytes = 64;  // poison after the last element
  const std::vector<std::byte> in = random_bytes(in_bytes);
  const std::vector<std::byte> poison(static_cast<std::size_t>(out_bytes + kTrailingBytes), std::byte{0xa5});
  std::vector<std::byte> expected = poison;
  transpose_reference(shape, in_of(in.data()), out_of(expected.data()));

  const Stream stream;
  const Buffer device_in(in_bytes,
                         device_resource());  // exact size: compute-sanitizer detects reads beyond it
  const Buffer device_out(out_bytes + kTrailingBytes, device_resource());
  copy(device_in.data(), in.data(), in_bytes, stream);
  const auto run = [&](const auto& enqueue) {
    std::vector<std::byte> result = poison;
    copy(device_out.data(), poison.data(), out_bytes + kTrailingBytes, stream);
    enqueue();
    stream.synchronize();
    copy(result.data(), device_out.data(), out_bytes + kTrailingBytes, stream);
    return result == expected;
  };
  CAPTURE(shape.items, shape.rows, shape.cols, shape.element_bytes, c.in.interleaved, c.out.interleaved,
          c.in.pitch_padding, c.out.pitch_padding, c.in.offset, c.out.offset);
  CHECK(run(
      [&] { transpose_device(shape, in_of(device_in.data()), out_of(device_out.data()), stream.get()); }));
  std::vector<Kernel> ran;
  for (const Kernel kernel : kKernels) {
    const auto plan =
        transposing::plan_transpose(kernel, shape, in_of(device_in.data()), out_of(device_out.data()));
    if (plan.kernel != kernel) continue;
    CAPTURE(static_cast<int>(kernel));
    CHECK(run([&] { transposing::launch(plan, stream.get()); }));
    ran.push_back(kernel);
  }
  return ran;
}

bool has(const std::vector<Kernel>& kernels, Kernel kernel) {
  return std::find(kernels.begin(), kernels.end(), kernel) != kernels.end();
}

}  // namespace

TEST_CASE("transpose_device of every element size", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  for (const std::int64_t bytes :
       {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 24, 64, 100, 513, 4096, 20000}) {
    const std::int64_t rows = bytes > 1000 ? 5 : 129;
    const std::int64_t cols = bytes > 1000 ? 3 : 70;
    const auto ran = check({.shape = {2, rows, cols, bytes}, .in = {}, .out = {}});
    CHECK(has(ran, Kernel::runs));
    CHECK(has(ran, Kernel::staged) == (bytes <= 8192));
    CHECK(has(ran, Kernel::tile) ==
          (bytes == 4 || bytes == 8 || bytes == 16));  // rows of 70 and 129 bytes are not aligned
    CHECK(has(ran, Kernel::shifted) == (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8));
    CHECK(has(ran, Kernel::pixels) == (bytes == 3 || bytes == 6 || bytes == 12));
  }
}

TEST_CASE("transpose_device around the edges of tiles", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const std::int64_t sizes[] = {1, 2, 3, 8, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257};
  for (const std::int64_t bytes : {1, 2, 3, 4, 8, 12, 16}) {
    for (const std::int64_t rows : sizes) {
      for (const std::int64_t cols : sizes) {
        const Layout padded{.pitch_padding = 16 - (cols * bytes) % 16};
        const Layout padded_out{.pitch_padding = 16 - (rows * bytes) % 16};
        check({{1, rows, cols, bytes}, {}, {}});
        const auto ran = check({{1, rows, cols, bytes}, padded, padded_out});
        if (bytes != 3 && bytes != 12 && rows > 1 && cols > 1) CHECK(has(ran, Kernel::tile));
      }
    }
  }
}

TEST_CASE("transpose_device of whole tiles and their neighbours", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  for (const std::int64_t bytes : {1, 2, 3, 4, 6, 8, 12, 16}) {
    for (const std::int64_t padding : {std::int64_t{0}, bytes, std::int64_t{1}}) {
      const Layout in{.pitch_padding = padding, .offset = padding};
      const Layout out{.pitch_padding = 3 * padding, .item_padding = padding, .offset = padding};
      const auto ran = check({{2, 1031, 527, bytes}, in, out});
      const bool aligned = padding % (bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1) == 0;
      if (bytes <= 2 || (bytes % 3 != 0 && bytes < 16 && padding % bytes == 0))
        CHECK(has(ran, Kernel::shifted));
      if (bytes % 3 == 0 && aligned) CHECK(has(ran, Kernel::pixels));
    }
  }
}

TEST_CASE("transpose_device at any address, pitch and order of items", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  std::mt19937 random(5);
  const auto pick = [&](std::initializer_list<std::int64_t> list) {
    return list.begin()[random() % list.size()];
  };
  for (int i = 0; i < 150; ++i) {
    const std::int64_t bytes = pick({1, 2, 3, 4, 6, 8, 12, 16, 24});
    const auto layout = [&] {
      return Layout{.pitch_padding = pick({0, 0, 1, bytes, 16, 37}),
                    .item_padding = pick({0, 0, 1, bytes, 48}),
                    .offset = pick({0, 0, 1, 2, bytes, 16, 3}),
                    .interleaved = random() % 2 == 0};
    };
    check({{pick({1, 2, 3, 40}), pick({1, 2, 5, 16, 60, 130}), pick({1, 2, 3, 17, 64, 100}), bytes},
           layout(),
           layout()});
  }
}

TEST_CASE("transpose_device of short and of many small matrices", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  for (const std::int64_t bytes : {1, 2, 3, 4, 8, 16}) {
    for (const std::int64_t short_side : {1, 2, 3, 4, 5, 7, 8, 9, 16}) {
      for (const std::int64_t offset : {std::int64_t{0}, bytes, 5 * bytes}) {
        const Layout at{.offset = offset};
        const std::int64_t long_side = bytes < 4 ? 20011 : 4099;
        const auto tall = check({{1, long_side, short_side, bytes}, at, {.pitch_padding = offset}});
        const auto wide = check({{1, short_side, long_side, bytes}, {.pitch_padding = offset}, at});
        const auto small = check({{3001, short_side, 8, bytes}, at, {}});
        if (short_side == 1) continue;
        CHECK((bytes == 3 || (has(tall, Kernel::comb) && has(wide, Kernel::comb))));
        CHECK(has(small, Kernel::small));
      }
      check({{3001, 3, short_side, bytes}, {}, {.pitch_padding = bytes}});
    }
  }
}

TEST_CASE("transpose_device of pixels and planes that begin with a chunk", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  for (const std::int64_t bytes : {1, 2, 4, 8}) {
    for (const std::int64_t planes : {2, 3, 4, 5, 6, 7, 8, 9}) {
      for (const std::int64_t pixels : {16, 2048, 2064, 5001, 6144}) {
        const Layout padded{.pitch_padding = 16 - pixels * bytes % 16, .item_padding = 32};
        const auto to = check({{3, pixels, planes, bytes}, {.offset = 2 * bytes}, padded});
        const auto from =
            check({{3, planes, pixels, bytes}, padded, {.item_padding = 48 - pixels * planes * bytes % 16}});
        CHECK(has(to, Kernel::comb));
        CHECK(has(from, Kernel::comb));
      }
    }
  }
}

TEST_CASE("permute_device: the six permutations", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  const TensorExtent extents[] = {{5, 70, 66}, {64, 32, 128}, {130, 3, 67}, {67, 41, 3}, {1, 50, 60},
                                  {50, 1, 60}, {50, 60, 1},   {1, 1, 7},    {1, 1, 1}};
  for (const TensorExtent& extent : extents) {
    for (const Permutation& permutation : all_permutations()) {
      for (const std::int64_t bytes : {1, 2, 3, 4, 8, 16}) {
        const std::int64_t size = extent[0] * extent[1] * extent[2] * bytes;
        const std::vector<std::byte> in = random_bytes(size);
        std::vector<std::byte> expected(in.size());
        std::vector<std::byte> result(in.size(), std::byte{0xa5});
        permute_reference(extent, permutation, bytes, in.data(), expected.data());
        const Stream stream;
        const Buffer from(size, device_resource());
        const Buffer to(size, device_resource());
        copy(from.data(), in.data(), size, stream);
        copy(to.data(), result.data(), size, stream);
        permute_device(extent, permutation, bytes, from.data(), to.data(), stream.get());
        stream.synchronize();
        copy(result.data(), to.data(), size, stream);
        CAPTURE(to_string(permutation), extent[0], extent[1], extent[2], bytes);
        CHECK(result == expected);
      }
    }
  }
}

TEST_CASE("transpose_device of nothing does nothing", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Stream stream;
  CHECK_NOTHROW(transpose_device({0, 5, 5, 4}, {}, {}, stream.get()));
  CHECK_NOTHROW(transpose_device({1, 0, 5, 4}, {}, {}, stream.get()));
  CHECK_THROWS_AS(transpose_device({1, -1, 5, 4}, {}, {}, stream.get()), InvalidArgument);
  CHECK_THROWS_AS(transpose_device({1, 5, 5, 0}, {}, {}, stream.get()), InvalidArgument);
  stream.synchronize();
}

TEST_CASE("transpose_device of more than 2^31 and 2^32 elements", "[gpu][slow]") {
  SEPCONV_NEEDS_GPU();
  struct Large {
    TransposeShape shape;
    Kernel kernel;
  };
  for (const auto& [shape, kernel] :
       {Large{{1, 65536, 65600, 1}, Kernel::tile}, Large{{1, 65537, 65551, 1}, Kernel::shifted},
        Large{{1, 1431655777, 3, 1}, Kernel::comb}, Large{{1, 3, 1431655777, 1}, Kernel::comb},
        Large{{1, 37871, 37811, 3}, Kernel::pixels}}) {
    const std::int64_t bytes = shape.bytes();
    if (free_device_memory_bytes(current_device()) < 2 * bytes + (std::int64_t{1} << 28)) {
      WARN("left out: not enough device memory");
      continue;
    }
    const Stream stream;
    const Buffer from(bytes, device_resource());
    const Buffer to(bytes, device_resource());
    std::vector<std::byte> in = random_bytes(bytes);
    copy(from.data(), in.data(), bytes, stream);
    const std::int64_t s = shape.element_bytes;
    const ConstMatrices in_device{from.data(), shape.cols * s, bytes};
    const Matrices out_device{to.data(), shape.rows * s, bytes};
    CHECK(transposing::plan_transpose(shape, in_device, out_device).kernel == kernel);
    transpose_device(shape, in_device, out_device, stream.get());
    stream.synchronize();
    std::vector<std::byte> result(in.size());
    copy(result.data(), to.data(), bytes, stream);
    // Every output row, at columns that differ from row to row.
    bool same = true;
    for (std::int64_t col = 0; col < shape.cols; ++col) {
      const std::int64_t step = shape.cols < 100 ? 997 : shape.rows < 100 ? 1 : 61;
      for (std::int64_t row = col % step; row < shape.rows; row += step) {
        same = same && result[static_cast<std::size_t>((col * shape.rows + row) * s)] ==
                           in[static_cast<std::size_t>((row * shape.cols + col) * s)];
      }
    }
    CAPTURE(shape.rows, shape.cols);
    CHECK(same);
    CHECK(result.back() == in.back());
  }
}
