#include "io/deflate/deflater.hpp"

#include <algorithm>
#include <new>

#include "core/error.hpp"

namespace sepconv::deflate {
namespace {

constexpr int kQuickLevel = 2;

std::int64_t compress(libdeflate_compressor* search, std::span<const std::byte> in,
                      std::span<std::byte> out) {
  return static_cast<std::int64_t>(
      libdeflate_zlib_compress(search, in.data(), in.size(), out.data(), out.size()));
}

// Thresholds of the choice by a sample, measured in docs/measurements/2026-11-23-deflate.md. They keep real
// images, original and lightly blurred, within 3 % of the default level's size and leave photographs
// unsearched. "Gain": the size without a search divided by that of the quickest search.
constexpr double kSmoothBits = 3;       // bits per byte: smooth or drawn, strings repeat
constexpr double kQuickGain = 1.04;     // up to this gain a quick search equals the default one
constexpr double kQuickBits = 4.5;      // for noisy images of at least this many bits per byte
constexpr double kHopelessGain = 0.96;  // up to this gain the default level does not help either
constexpr double kHopelessBits = 5.3;   // nor does it from this many bits per byte on
// relative to the default level: the whole has more strings to find than a sample
constexpr double kDefaultLevelGain = 0.99;

/// Copies a sample into `buffer`: pieces spread over a block, which may contain a page's text and a
/// photograph. Each is long enough for strings to repeat and for a row, since otherwise floating types would
/// be judged by only some of their byte planes. For the same reason the gaps between pieces are not whole
/// rows.
std::span<const std::byte> copy_sample(std::span<const std::byte> in, MatchDistances raster,
                                       std::span<std::byte, kMaxSample> buffer) {
  constexpr std::size_t kSampleDivisor = 32, kMin = 4096, kMaxPieces = 4, kMinPiece = 2048;
  const std::size_t size = std::min(in.size(), std::clamp(in.size() / kSampleDivisor, kMin, kMaxSample));
  const auto row = static_cast<std::size_t>(std::max<std::int64_t>(1, raster.row_bytes));
  const auto pixel = static_cast<std::size_t>(std::max<std::int64_t>(1, raster.pixel_bytes));
  const std::size_t pieces = std::clamp<std::size_t>(size / std::max(row, kMinPiece), 1, kMaxPieces);
  const std::size_t piece = pieces == 1 ? size : size / pieces / pixel * pixel;
  const std::size_t gap = (in.size() - pieces * piece) / (pieces + 1) / pixel * pixel;
  for (std::size_t i = 0; i < pieces; ++i)
    std::ranges::copy(in.subspan(gap + i * (gap + piece), piece), buffer.begin() + i * piece);
  return buffer.first(pieces * piece);
}

}  // namespace

Compressor make_compressor(int level) {
  Compressor search(libdeflate_alloc_compressor(level));
  if (!search) throw OutOfMemory("no memory for a deflate encoder; ask for fewer threads");
  return search;
}

Deflater::Deflater(int level) : level_(level) {
  if (level == kFast) return;
  if (level == kAutomatic) {
    sample_search_ = make_compressor(kSampleLevel);
    quick_search_ = make_compressor(kQuickLevel);
  }
  main_search_ = make_compressor(level == kAutomatic ? kDefaultLevel : level);
}

std::int64_t Deflater::encode(std::span<const std::byte> in, MatchDistances raster,
                              std::span<std::byte> out) {
  const Compressor* const search = level_ == kFast        ? nullptr
                                   : level_ == kAutomatic ? choose_search(in, raster, out)
                                                          : &main_search_;
  return search == nullptr ? coder_.encode(in, raster, out) : compress(search->get(), in, out);
}

// A sample contains fewer earlier strings than the whole, so near the threshold the default level is tried,
// too.
Compressor* Deflater::choose_search(std::span<const std::byte> in, MatchDistances raster,
                                    std::span<std::byte> out) {
  const std::span<const std::byte> sample = copy_sample(in, raster, sample_);
  const auto coded_bytes = static_cast<double>(coder_.encode(sample, raster, out));
  const double bits = 8 * coded_bytes / static_cast<double>(sample.size());
  if (bits < kSmoothBits) return &main_search_;
  const double gain = coded_bytes / static_cast<double>(compress(sample_search_.get(), sample, out));
  if (gain > 1) return gain <= kQuickGain && bits >= kQuickBits ? &quick_search_ : &main_search_;
  if (gain <= kHopelessGain || bits >= kHopelessBits) return nullptr;
  const auto default_level_bytes = static_cast<double>(compress(main_search_.get(), sample, out));
  return coded_bytes > kDefaultLevelGain * default_level_bytes ? &main_search_ : nullptr;
}

std::int64_t Deflater::max_bytes(std::int64_t bytes) noexcept {
  const auto size = static_cast<std::size_t>(bytes);
  return std::max(RasterCoder::max_bytes(bytes),
                  static_cast<std::int64_t>(libdeflate_zlib_compress_bound(nullptr, size)));
}

std::int64_t Deflater::memory_bytes(int level) noexcept {
  constexpr std::int64_t kKiB = 1 << 10;  // measured with libdeflate 1.14
  const std::int64_t coder = level == kFast || level == kAutomatic ? 256 * kKiB : 0;
  const std::int64_t sampling = (level == kAutomatic ? (200 + 656) * kKiB : 0) + std::int64_t{kMaxSample};
  const std::int64_t search = level == kFast ? 0 : level < 10 ? 656 * kKiB : 8800 * kKiB;
  return coder + sampling + search;
}

}  // namespace sepconv::deflate
