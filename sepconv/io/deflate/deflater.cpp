#include "sepconv/io/deflate/deflater.hpp"

#include <algorithm>
#include <new>

#include "sepconv/core/error.hpp"

namespace sepconv::deflate {
namespace {

constexpr int kSampleLevel = 1, kQuickLevel = 2, kUsualLevel = 6;

std::int64_t searched(libdeflate_compressor* search, std::span<const std::byte> in,
                      std::span<std::byte> out) {
  return static_cast<std::int64_t>(
      libdeflate_zlib_compress(search, in.data(), in.size(), out.data(), out.size()));
}

libdeflate_compressor* make_search(int level) {
  libdeflate_compressor* const search = libdeflate_alloc_compressor(level);
  if (search == nullptr) throw OutOfMemory("no memory for a deflate encoder; ask for fewer threads");
  return search;
}

/// From the middle, where no border is: enough to judge by, and little beside the whole.
std::span<const std::byte> sample_of(std::span<const std::byte> in) {
  constexpr std::size_t kPart = 32, kLeast = 4096, kMost = 16384;
  const std::size_t size = std::min(in.size(), std::clamp(in.size() / kPart, kLeast, kMost));
  return in.subspan((in.size() - size) / 2, size);
}

}  // namespace

Deflater::Deflater(int level) : level_(level) {
  if (level == kFast) return;
  if (level == kAutomatic) {
    of_sample_.reset(make_search(kSampleLevel));
    quick_.reset(make_search(kQuickLevel));
  }
  thorough_.reset(make_search(level == kAutomatic ? kUsualLevel : level));
}

std::int64_t Deflater::encode(std::span<const std::byte> in, Raster raster, std::span<std::byte> out) {
  const Search* const search = level_ == kFast        ? nullptr
                               : level_ == kAutomatic ? look(in, raster, out)
                                                      : &thorough_;
  return search == nullptr ? coder_.encode(in, raster, out) : searched(search->get(), in, out);
}

// The bounds are measured, docs/measurements/2026-11-23-deflate.md: they keep real images, as they are and
// lightly blurred, within 3 % of the usual level's and leave photographs unsearched. A sample has less before
// it to find strings in than the whole, so near the bound the usual level is asked, too.
Deflater::Search* Deflater::look(std::span<const std::byte> in, Raster raster, std::span<std::byte> out) {
  const std::span<const std::byte> sample = sample_of(in);
  const auto coded = static_cast<double>(coder_.encode(sample, raster, out));
  const double bits = 8 * coded / static_cast<double>(sample.size());
  if (bits < 3) return &thorough_;  // smooth or drawn: strings repeat
  const double gain = coded / static_cast<double>(searched(of_sample_.get(), sample, out));
  if (gain > 1) return gain <= 1.05 && bits >= 4.5 ? &quick_ : &thorough_;
  if (gain <= 0.965 || bits >= 5.3) return nullptr;
  return coded > 0.99 * static_cast<double>(searched(thorough_.get(), sample, out)) ? &thorough_ : nullptr;
}

std::int64_t Deflater::max_bytes(std::int64_t bytes) noexcept {
  const auto size = static_cast<std::size_t>(bytes);
  return std::max(RasterCoder::max_bytes(bytes),
                  static_cast<std::int64_t>(libdeflate_zlib_compress_bound(nullptr, size)));
}

std::int64_t Deflater::memory_bytes(int level) noexcept {
  constexpr std::int64_t kKiB = 1 << 10;  // of libdeflate 1.14, measured
  const std::int64_t coder = level == kFast || level == kAutomatic ? 256 * kKiB : 0;
  const std::int64_t others = level == kAutomatic ? (200 + 656) * kKiB : 0;
  const std::int64_t search = level == kFast ? 0 : level < 10 ? 656 * kKiB : 8800 * kKiB;
  return coder + others + search;
}

}  // namespace sepconv::deflate
