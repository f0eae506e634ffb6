#include "io/png/png_coder.hpp"

#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "core/error.hpp"
#include "io/deflate/deflater.hpp"

namespace sepconv {
namespace {

constexpr std::size_t kWindowBytes = std::size_t{1} << 15;  // maximum distance of a match
constexpr std::int64_t kSampleInterval = 8;  // sampling takes a third of the time of coding a part
// header, checksum, an empty block, bytes that a sink writes beyond its end
constexpr std::int64_t kOverheadBytes = 64;

/// zlib's documented bound for any of its settings.
std::int64_t max_deflated_bytes(std::int64_t bytes) noexcept {
  return bytes + bytes / 8 + bytes / 64 + kOverheadBytes;
}

/// Writes an empty stored block (RFC 1951, 3.2.4), which ends at a byte boundary.
void align_by_block(deflate::BitSink& sink) noexcept {
  if (sink.count == 0) return;
  sink.put(0, 3);
  sink.align();
  sink.put(0xFFFF0000u, 32);
}

}  // namespace

/// Search for strings by zlib. Unlike libdeflate, it can write the blocks of a part of a stream.
class PngCoder::Search {
 public:
  Search(int level, std::int64_t max_bytes)
      : sample_compressor_(deflate::make_compressor(deflate::kSampleLevel)),
        output_(static_cast<std::size_t>(max_deflated_bytes(max_bytes))) {
    constexpr int kRawBlocks = -15, kDefaultMemory = 8;
    if (deflateInit2(&zlib_, level, Z_DEFLATED, kRawBlocks, kDefaultMemory, Z_DEFAULT_STRATEGY) != Z_OK)
      throw OutOfMemory("no memory for a deflate encoder; ask for a smaller image");
  }
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;
  ~Search() { deflateEnd(&zlib_); }

  /// Compresses `part` to blocks that end at a byte boundary. The result is valid until the next call.
  std::span<const std::byte> blocks(std::span<const std::byte> part, bool is_end) {
    deflateReset(&zlib_);
    if (!dictionary_.empty())
      deflateSetDictionary(&zlib_, reinterpret_cast<const Bytef*>(dictionary_.data()),
                           static_cast<uInt>(dictionary_.size()));
    std::size_t consumed = 0, produced = 0;
    do {  // in pieces, since zlib counts in 32 bits
      const std::size_t input_bytes = std::min(part.size() - consumed, kMaxCallBytes);
      const std::size_t capacity = std::min(output_.size() - produced, kMaxCallBytes);
      const bool is_last = consumed + input_bytes == part.size();
      zlib_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(part.data() + consumed));
      zlib_.avail_in = static_cast<uInt>(input_bytes);
      zlib_.next_out = reinterpret_cast<Bytef*>(output_.data() + produced);
      zlib_.avail_out = static_cast<uInt>(capacity);
      ::deflate(&zlib_, !is_last ? Z_NO_FLUSH : is_end ? Z_FINISH : Z_SYNC_FLUSH);
      consumed += input_bytes - zlib_.avail_in;
      produced += capacity - zlib_.avail_out;
    } while (consumed < part.size() || zlib_.avail_out == 0);
    return std::span(output_).first(produced);
  }

  std::int64_t compressed_sample_bytes(std::span<const std::byte> sample) {
    return static_cast<std::int64_t>(libdeflate_zlib_compress(sample_compressor_.get(), sample.data(),
                                                              sample.size(), output_.data(), output_.size()));
  }

  /// Scratch memory for another coder's output of a sample.
  std::span<std::byte> scratch() noexcept { return output_; }

  /// Stores the end of `part`, in which matches of the next part may begin.
  void store_dictionary(std::span<const std::byte> part) {
    const auto end = part.last(std::min(part.size(), kWindowBytes));
    dictionary_.assign(end.begin(), end.end());
  }

 private:
  static constexpr std::size_t kMaxCallBytes = std::size_t{1} << 30;

  deflate::Compressor sample_compressor_;
  z_stream zlib_{};
  std::vector<std::byte> output_, dictionary_;
};

PngCoder::PngCoder(int level, std::int64_t max_bytes)
    : level_(level), coded_(static_cast<std::size_t>(max_deflated_bytes(max_bytes))) {
  if (level != deflate::kFast)
    search_ =
        std::make_unique<Search>(level == deflate::kAutomatic ? deflate::kDefaultLevel : level, max_bytes);
  sink_.out = coded_.data();
  sink_.put(deflate::kZlibHeader, 16);
}

PngCoder::~PngCoder() = default;

std::span<const std::byte> PngCoder::code(std::span<const std::byte> part, deflate::MatchDistances raster,
                                          bool is_end) {
  adler_ = libdeflate_adler32(adler_, part.data(), part.size());
  const deflate::BitSink begin = sink_;
  if (level_ <= deflate::kAutomatic) coder_.put(part, raster, is_end, sink_);
  const std::int64_t coded_bytes = sink_.out - begin.out;
  const bool is_sampled =
      level_ == deflate::kAutomatic && (search_gains_ || part_index_++ % kSampleInterval == 0);
  search_gains_ = is_sampled && search_may_gain(part, raster);
  if (level_ > deflate::kAutomatic || search_gains_) {
    const std::span<const std::byte> found = search_->blocks(part, is_end);
    if (level_ > deflate::kAutomatic || std::ssize(found) < coded_bytes) {
      sink_ = begin;
      align_by_block(sink_);
      std::ranges::copy(found, sink_.out);
      sink_.out += found.size();
    }
  }
  if (search_) search_->store_dictionary(part);
  if (is_end) {
    sink_.align();
    sink_.put(__builtin_bswap32(adler_), 32);
  }
  const auto bytes = std::span(coded_).first(static_cast<std::size_t>(sink_.out - coded_.data()));
  sink_.out = coded_.data();
  return bytes;
}

// The bound was measured (docs/measurements/2026-11-25-png-search.md): photographs, original or blurred, stay
// below it and are coded about fifty times as fast as with a search.
bool PngCoder::search_may_gain(std::span<const std::byte> part, deflate::MatchDistances raster) {
  constexpr std::size_t kSample = 8192;
  const std::size_t size = std::min(part.size(), kSample);
  const std::span<const std::byte> sample = part.subspan((part.size() - size) / 2, size);
  const auto without_search = static_cast<double>(coder_.encode(sample, raster, search_->scratch()));
  return without_search > 1.1 * static_cast<double>(search_->compressed_sample_bytes(sample));
}

std::int64_t PngCoder::memory_bytes(std::int64_t max_bytes) noexcept {
  // our coder and libdeflate's 450 KiB, zlib's 270 KiB
  constexpr std::int64_t kCoders = std::int64_t{1} << 20;
  return 2 * max_deflated_bytes(max_bytes) + kCoders;
}

}  // namespace sepconv
