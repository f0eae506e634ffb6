#include "io/png/png_coder.hpp"

#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "core/error.hpp"
#include "io/deflate/deflater.hpp"

namespace sepconv {
namespace {

constexpr std::size_t kWindowBytes = std::size_t{1} << 15;  // how far back strings are found
constexpr std::int64_t kPartsALook = 8;  // a look takes a third of the time that a part does
constexpr std::int64_t kMargin = 64;     // the stream's ends, an empty block, what a sink writes beyond

/// As zlib's documentation bounds it for any of its settings.
std::int64_t max_searched_bytes(std::int64_t bytes) noexcept {
  return bytes + bytes / 8 + bytes / 64 + kMargin;
}

/// A block of nothing (RFC 1951, 3.2.4), behind which bytes begin again.
void align_by_block(deflate::BitSink& sink) noexcept {
  if (sink.count == 0) return;
  sink.put(0, 3);
  sink.align();
  sink.put(0xFFFF0000u, 32);
}

}  // namespace

/// zlib's, whose blocks, other than libdeflate's, can be those of a part of a stream.
class PngCoder::Search {
 public:
  Search(int level, std::int64_t max_bytes)
      : of_sample_(deflate::make_search(deflate::kSampleLevel)),
        found_(static_cast<std::size_t>(max_searched_bytes(max_bytes))) {
    constexpr int kRawBlocks = -15, kUsualMemory = 8;
    if (deflateInit2(&zlib_, level, Z_DEFLATED, kRawBlocks, kUsualMemory, Z_DEFAULT_STRATEGY) != Z_OK)
      throw OutOfMemory("no memory for a deflate encoder; ask for a smaller image");
  }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;
  ~Search() { deflateEnd(&zlib_); }

  /// Whole blocks of `part`, up to a byte's end; good until the next call.
  std::span<const std::byte> blocks(std::span<const std::byte> part, bool is_end) {
    deflateReset(&zlib_);
    if (!before_.empty())
      deflateSetDictionary(&zlib_, reinterpret_cast<const Bytef*>(before_.data()),
                           static_cast<uInt>(before_.size()));
    std::size_t taken = 0, made = 0;
    do {  // in pieces, for zlib counts in 32 bits
      const std::size_t in = std::min(part.size() - taken, kMaxAtOnce);
      const std::size_t room = std::min(found_.size() - made, kMaxAtOnce);
      const bool is_rest = taken + in == part.size();
      zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(part.data() + taken));
      zlib_.avail_in = static_cast<uInt>(in);
      zlib_.next_out = reinterpret_cast<Bytef*>(found_.data() + made);
      zlib_.avail_out = static_cast<uInt>(room);
      ::deflate(&zlib_, !is_rest ? Z_NO_FLUSH : is_end ? Z_FINISH : Z_SYNC_FLUSH);
      taken += in - zlib_.avail_in;
      made += room - zlib_.avail_out;
    } while (taken < part.size() || zlib_.avail_out == 0);
    return std::span(found_).first(made);
  }

  std::int64_t bytes_of_sample(std::span<const std::byte> sample) {
    return static_cast<std::int64_t>(libdeflate_zlib_compress(of_sample_.get(), sample.data(), sample.size(),
                                                              found_.data(), found_.size()));
  }

  /// For another coder's bytes of a sample.
  std::span<std::byte> room() noexcept { return found_; }

  /// What strings of the next part may be found in.
  void keep_end_of(std::span<const std::byte> part) {
    const auto end = part.last(std::min(part.size(), kWindowBytes));
    before_.assign(end.begin(), end.end());
  }

 private:
  static constexpr std::size_t kMaxAtOnce = std::size_t{1} << 30;

  deflate::Search of_sample_;
  z_stream zlib_{};
  std::vector<std::byte> found_, before_;
};

PngCoder::PngCoder(int level, std::int64_t max_bytes)
    : level_(level), coded_(static_cast<std::size_t>(max_searched_bytes(max_bytes))) {
  if (level != deflate::kFast)
    search_ =
        std::make_unique<Search>(level == deflate::kAutomatic ? deflate::kUsualLevel : level, max_bytes);
  sink_.out = coded_.data();
  sink_.put(deflate::kZlibHeader, 16);
}

PngCoder::~PngCoder() = default;

std::span<const std::byte> PngCoder::code(std::span<const std::byte> part, deflate::Raster raster,
                                          bool is_end) {
  adler_ = libdeflate_adler32(adler_, part.data(), part.size());
  const deflate::BitSink begin = sink_;
  if (level_ <= deflate::kAutomatic) coder_.put(part, raster, is_end, sink_);
  const std::int64_t coded_bytes = sink_.out - begin.out;
  const bool is_looked_at = level_ == deflate::kAutomatic && (is_drawn_ || part_++ % kPartsALook == 0);
  is_drawn_ = is_looked_at && search_may_gain(part, raster);
  if (level_ > deflate::kAutomatic || is_drawn_) {
    const std::span<const std::byte> found = search_->blocks(part, is_end);
    if (level_ > deflate::kAutomatic || std::ssize(found) < coded_bytes) {
      sink_ = begin;
      align_by_block(sink_);
      std::ranges::copy(found, sink_.out);
      sink_.out += found.size();
    }
  }
  if (search_) search_->keep_end_of(part);
  if (is_end) {
    sink_.align();
    sink_.put(__builtin_bswap32(adler_), 32);
  }
  const auto bytes = std::span(coded_).first(static_cast<std::size_t>(sink_.out - coded_.data()));
  sink_.out = coded_.data();
  return bytes;
}

// Bounds measured, docs/measurements/2026-11-25-png-search.md: photographs, as they are or blurred, stay
// below, and are coded some fifty times as fast as a search would be.
bool PngCoder::search_may_gain(std::span<const std::byte> part, deflate::Raster raster) {
  constexpr std::size_t kSample = 8192;
  const std::size_t size = std::min(part.size(), kSample);
  const std::span<const std::byte> sample = part.subspan((part.size() - size) / 2, size);
  const auto alone = static_cast<double>(coder_.encode(sample, raster, search_->room()));
  return alone > 1.1 * static_cast<double>(search_->bytes_of_sample(sample));
}

std::int64_t PngCoder::memory_bytes(std::int64_t max_bytes) noexcept {
  constexpr std::int64_t kCoders = std::int64_t{1} << 20;  // ours and libdeflate's 450 KiB, zlib's 270 KiB
  return 2 * max_searched_bytes(max_bytes) + kCoders;
}

}  // namespace sepconv
