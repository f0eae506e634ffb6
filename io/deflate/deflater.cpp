#include "io/deflate/deflater.hpp"

#include <algorithm>
#include <new>

#include "core/error.hpp"

namespace sepconv::deflate {
namespace {

constexpr int kQuickLevel = 2;

std::int64_t searched(libdeflate_compressor* search, std::span<const std::byte> in,
                      std::span<std::byte> out) {
  return static_cast<std::int64_t>(
      libdeflate_zlib_compress(search, in.data(), in.size(), out.data(), out.size()));
}

// What a look decides by: measured, docs/measurements/2026-11-23-deflate.md. The bounds keep real images, as
// they are and lightly blurred, within 3 % of the usual level's size and leave photographs unsearched.
// "Gain": the size without a search over that with the quickest one.
constexpr double kSmoothBits = 3;         // a byte: smooth or drawn, strings repeat
constexpr double kQuickGain = 1.04;       // up to it a quick search has what the usual one has,
constexpr double kQuickBits = 4.5;        // of noisy images
constexpr double kHopelessGain = 0.96;    // the usual level finds no more either,
constexpr double kHopelessBits = 5.3;     // nor does it where a byte takes so much
constexpr double kUsualLevelGain = 0.99;  // over the usual level itself: the whole has more strings to find

/// Enough to judge by, and little compared with the whole: pieces spread over a block, whose parts may be a page's
/// text and its photograph. Each has room for strings to repeat in, and holds a row, or floating types would
/// be judged by some of their planes of bytes; the gaps between them are not whole rows for the same reason.
std::span<const std::byte> sample_of(std::span<const std::byte> in, Raster raster,
                                     std::span<std::byte, kMaxSample> room) {
  constexpr std::size_t kPart = 32, kMin = 4096, kMaxPieces = 4, kMinPiece = 2048;
  const std::size_t size = std::min(in.size(), std::clamp(in.size() / kPart, kMin, kMaxSample));
  const auto row = static_cast<std::size_t>(std::max<std::int64_t>(1, raster.row_bytes));
  const auto pixel = static_cast<std::size_t>(std::max<std::int64_t>(1, raster.pixel_bytes));
  const std::size_t pieces = std::clamp<std::size_t>(size / std::max(row, kMinPiece), 1, kMaxPieces);
  const std::size_t piece = pieces == 1 ? size : size / pieces / pixel * pixel;
  const std::size_t gap = (in.size() - pieces * piece) / (pieces + 1) / pixel * pixel;
  for (std::size_t i = 0; i < pieces; ++i)
    std::ranges::copy(in.subspan(gap + i * (gap + piece), piece), room.begin() + i * piece);
  return room.first(pieces * piece);
}

}  // namespace

Search make_search(int level) {
  Search search(libdeflate_alloc_compressor(level));
  if (!search) throw OutOfMemory("no memory for a deflate encoder; ask for fewer threads");
  return search;
}

Deflater::Deflater(int level) : level_(level) {
  if (level == kFast) return;
  if (level == kAutomatic) {
    of_sample_ = make_search(kSampleLevel);
    quick_ = make_search(kQuickLevel);
  }
  thorough_ = make_search(level == kAutomatic ? kUsualLevel : level);
}

std::int64_t Deflater::encode(std::span<const std::byte> in, Raster raster, std::span<std::byte> out) {
  const Search* const search = level_ == kFast        ? nullptr
                               : level_ == kAutomatic ? look(in, raster, out)
                                                      : &thorough_;
  return search == nullptr ? coder_.encode(in, raster, out) : searched(search->get(), in, out);
}

// A sample has less before it to find strings in than the whole, so near the bound the usual level is asked,
// too.
Search* Deflater::look(std::span<const std::byte> in, Raster raster, std::span<std::byte> out) {
  const std::span<const std::byte> sample = sample_of(in, raster, sample_);
  const auto coded = static_cast<double>(coder_.encode(sample, raster, out));
  const double bits = 8 * coded / static_cast<double>(sample.size());
  if (bits < kSmoothBits) return &thorough_;
  const double gain = coded / static_cast<double>(searched(of_sample_.get(), sample, out));
  if (gain > 1) return gain <= kQuickGain && bits >= kQuickBits ? &quick_ : &thorough_;
  if (gain <= kHopelessGain || bits >= kHopelessBits) return nullptr;
  const auto usual = static_cast<double>(searched(thorough_.get(), sample, out));
  return coded > kUsualLevelGain * usual ? &thorough_ : nullptr;
}

std::int64_t Deflater::max_bytes(std::int64_t bytes) noexcept {
  const auto size = static_cast<std::size_t>(bytes);
  return std::max(RasterCoder::max_bytes(bytes),
                  static_cast<std::int64_t>(libdeflate_zlib_compress_bound(nullptr, size)));
}

std::int64_t Deflater::memory_bytes(int level) noexcept {
  constexpr std::int64_t kKiB = 1 << 10;  // of libdeflate 1.14, measured
  const std::int64_t coder = level == kFast || level == kAutomatic ? 256 * kKiB : 0;
  const std::int64_t others = (level == kAutomatic ? (200 + 656) * kKiB : 0) + std::int64_t{kMaxSample};
  const std::int64_t search = level == kFast ? 0 : level < 10 ? 656 * kKiB : 8800 * kKiB;
  return coder + others + search;
}

}  // namespace sepconv::deflate
