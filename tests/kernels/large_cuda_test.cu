// Images of more than 2^32 elements, too large for a host to compare in reasonable time: Thrust fills and
// compares them on the device.
#include <thrust/equal.h>
#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/mismatch.h>
#include <thrust/tabulate.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "../support/gpu.hpp"
#include "kernels/conv/conv.hpp"
#include "kernels/transpose/transpose.hpp"

namespace sepconv {
namespace {

constexpr Extent kImage{70001, 65537};  // 4.6e9 pixels of u8
constexpr ImageSpec kSpec{kImage, 1, PixelType::u8};

/// A pseudo-random byte for each position: the upper bits of a multiplicative hash (Knuth, volume 3, 6.4).
struct Noise {
  __host__ __device__ std::byte operator()(std::int64_t position) const {
    return static_cast<std::byte>((static_cast<std::uint64_t>(position) * 0x9e3779b97f4a7c15ULL) >> 56);
  }
};

/// Bytes of device memory that Thrust processes in stream order.
class DeviceBytes {
 public:
  explicit DeviceBytes(std::int64_t bytes) : memory_(bytes, device_resource()) {}

  std::byte* begin() const { return memory_.data(); }
  std::byte* end() const { return begin() + memory_.size(); }
  PixelView view() const { return dense_view(begin(), kSpec); }
  Region whole() const { return Region::whole(view()); }

  void fill_with_noise(DeviceStream stream) const {
    thrust::tabulate(thrust::cuda::par.on(stream), begin(), end(), Noise{});
  }
  void fill(std::byte value, DeviceStream stream) const {
    thrust::fill(thrust::cuda::par.on(stream), begin(), end(), value);
  }
  /// The first position at which they differ, or the number of bytes.
  std::int64_t first_difference(const DeviceBytes& other, DeviceStream stream) const {
    return thrust::mismatch(thrust::cuda::par.on(stream), begin(), end(), other.begin()).first - begin();
  }

 private:
  Buffer memory_;
};

bool has_free_memory(std::int64_t bytes) {
  return free_device_memory_bytes(0) > bytes + (std::int64_t{1} << 30);
}

TEST_CASE("an image of more than 2^32 pixels is convolved by both designs alike, and by parts", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const SeparableTaps taps{{0.25, 0.5, 0.25}, {0.125, 0.75, 0.125}};
  const Border border{BorderMode::reflect101, 0};
  const std::int64_t scratch = convolve_device_bytes(taps, kImage, 1, Arithmetic::f32);
  if (!has_free_memory(3 * kSpec.bytes() + scratch)) {
    WARN("skipped: no GPU with " << 3 * kSpec.bytes() + scratch << " bytes of free memory");
    return;
  }
  const Stream stream;
  const DeviceBytes in(kSpec.bytes()), fused(kSpec.bytes()), two_passes(kSpec.bytes());
  Arena arena(Buffer(scratch, device_resource()));
  const auto convolve = [&](ConvolutionDesign design, const Region& out) {
    convolve_device(design, taps, border, ConstRegion::whole(in.view()), out, Arithmetic::f32, arena,
                    stream.get());
  };
  in.fill_with_noise(stream.get());
  fused.fill(std::byte{0x5A}, stream.get());
  two_passes.fill(std::byte{0xA5}, stream.get());
  convolve(ConvolutionDesign::fused, fused.whole());
  convolve(ConvolutionDesign::two_passes, two_passes.whole());
  CHECK(fused.first_difference(two_passes, stream.get()) == kSpec.bytes());
  CHECK_FALSE(thrust::equal(thrust::cuda::par.on(stream.get()), fused.begin(), fused.end(), in.begin()));

  // The last rows as a separate band, whose offsets all fit in 32 bits.
  const Rect last{kImage.rows - 100, 0, 100, kImage.cols};
  const Rect needed{last.row - 1, 0, last.rows + 1, last.cols};
  two_passes.fill(std::byte{0xA5}, stream.get());
  convolve_device(ConvolutionDesign::fused, taps, border, {in.view().crop(needed), needed, kImage},
                  {two_passes.view().crop(last), last, kImage}, Arithmetic::f32, arena, stream.get());
  const std::int64_t first = last.row * kImage.cols;
  CHECK(thrust::equal(thrust::cuda::par.on(stream.get()), fused.begin() + first, fused.end(),
                      two_passes.begin() + first));
}

TEST_CASE("an image of more than 2^32 pixels is transposed, and back", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  if (!has_free_memory(3 * kSpec.bytes())) {
    WARN("skipped: no GPU with " << 3 * kSpec.bytes() << " bytes of free memory");
    return;
  }
  const Stream stream;
  const DeviceBytes in(kSpec.bytes()), transposed(kSpec.bytes()), back(kSpec.bytes());
  in.fill_with_noise(stream.get());
  transposed.fill(std::byte{0x5A}, stream.get());
  back.fill(std::byte{0xA5}, stream.get());
  transpose_device({1, kImage.rows, kImage.cols, 1}, {in.begin(), kImage.cols, 0},
                   {transposed.begin(), kImage.rows, 0}, stream.get());
  transpose_device({1, kImage.cols, kImage.rows, 1}, {transposed.begin(), kImage.rows, 0},
                   {back.begin(), kImage.cols, 0}, stream.get());
  CHECK(back.first_difference(in, stream.get()) == kSpec.bytes());
  CHECK(transposed.first_difference(in, stream.get()) < kImage.cols);
}

}  // namespace
}  // namespace sepconv
