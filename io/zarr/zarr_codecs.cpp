#include "io/zarr/zarr_codecs.hpp"

#include <blosc.h>
#include <fmt/format.h>
#include <libdeflate.h>
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "core/error.hpp"
#include "io/byte_order.hpp"
#include "io/crc32c.hpp"
#include "io/deflate/raster_coder.hpp"
#include "io/file_errors.hpp"
#include "io/sample_conversion.hpp"
#include "io/zstd/raster_coder.hpp"
#include "io/zstd/zstd_coder.hpp"

namespace sepconv {
namespace {

using Kind = ZarrCodec::Kind;
constexpr std::size_t kChecksumBytes = 4;
constexpr std::size_t kLz4Length = 4;  // numcodecs writes a block's length before it, little-endian
constexpr std::int64_t kMaxInt = std::numeric_limits<int>::max();

void put_little32(std::uint32_t value, std::byte* to) noexcept {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<std::byte>(value >> 8 * i);
}

std::uint32_t little32(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(read_unsigned(bytes.first(4), false));
}

[[noreturn]] void throw_out_of_memory() { throw OutOfMemory("no memory is left for a codec of a chunk"); }

template <class T>
T* check_allocated(T* codec) {
  if (codec == nullptr) throw_out_of_memory();
  return codec;
}

/// Decodes the consecutive members of a gzip stream. Returns the number of decoded bytes, or -1.
std::int64_t gunzip(libdeflate_decompressor* inflater, std::span<const std::byte> from,
                    std::span<std::byte> to) noexcept {
  std::size_t written_total = 0;
  while (!from.empty()) {
    std::size_t read = 0, written = 0;
    if (libdeflate_gzip_decompress_ex(inflater, from.data(), from.size(), to.data() + written_total,
                                      to.size() - written_total, &read, &written) != LIBDEFLATE_SUCCESS)
      return -1;
    from = from.subspan(read);
    written_total += written;
  }
  return static_cast<std::int64_t>(written_total);
}

std::int64_t decode_blosc(std::span<const std::byte> from, std::span<std::byte> to) noexcept {
  std::size_t bytes = 0;
  if (blosc_cbuffer_validate(from.data(), from.size(), &bytes) != 0 || bytes > to.size()) return -1;
  return blosc_decompress_ctx(from.data(), to.data(), to.size(), 1);
}

std::int64_t decode_lz4(std::span<const std::byte> from, std::span<std::byte> to) noexcept {
  if (from.size() < kLz4Length || std::ssize(from) > kMaxInt) return -1;
  const std::int64_t claimed = little32(from);
  if (claimed > std::ssize(to) || claimed > kMaxInt) return -1;
  from = from.subspan(kLz4Length);
  const int bytes =
      LZ4_decompress_safe(reinterpret_cast<const char*>(from.data()), reinterpret_cast<char*>(to.data()),
                          static_cast<int>(from.size()), static_cast<int>(claimed));
  return bytes == claimed ? bytes : -1;
}

std::int64_t encode_blosc(const ZarrCodec& codec, std::span<const std::byte> from,
                          std::span<std::byte> to) noexcept {
  return blosc_compress_ctx(codec.level, codec.blosc_shuffle, static_cast<std::size_t>(codec.blosc_type_size),
                            from.size(), from.data(), to.data(), to.size(), codec.blosc_codec.c_str(), 0, 1);
}

std::int64_t encode_lz4(const ZarrCodec& codec, std::span<const std::byte> from,
                        std::span<std::byte> to) noexcept {
  if (std::ssize(from) > kMaxInt) return 0;
  put_little32(static_cast<std::uint32_t>(from.size()), to.data());
  const auto capacity = static_cast<int>(std::min<std::size_t>(to.size() - kLz4Length, kMaxInt));
  const int bytes = LZ4_compress_fast(reinterpret_cast<const char*>(from.data()),
                                      reinterpret_cast<char*>(to.data() + kLz4Length),
                                      static_cast<int>(from.size()), capacity, std::max(1, codec.level));
  return bytes <= 0 ? 0 : bytes + static_cast<std::int64_t>(kLz4Length);
}

bool has_codec(const ZarrArray& array, Kind kind) {
  return std::ranges::find(array.codecs, kind, &ZarrCodec::kind) != array.codecs.end();
}

}  // namespace

ZarrCoder::ZarrCoder(const ZarrArray& array) : array_(array) {}

ZarrCoder::~ZarrCoder() {
  ZSTD_freeDCtx(zstd_decoder_);
  ZSTD_freeCCtx(zstd_encoder_);
  libdeflate_free_decompressor(inflater_);
  libdeflate_free_compressor(deflater_);
}

std::int64_t ZarrCoder::max_encoded_bytes(const ZarrArray& array) noexcept {
  constexpr std::int64_t kHeaders = 64 << 10;
  return array.block_bytes() + array.block_bytes() / 8 + kHeaders;
}

std::int64_t ZarrCoder::decoder_bytes(const ZarrArray& array) noexcept {
  constexpr std::int64_t kContexts = 512 << 10, kInsideBlosc = 2 << 20;
  return kContexts + 2 * max_encoded_bytes(array) +
         (has_codec(array, Kind::blosc) ? 4 * array.block_bytes() + kInsideBlosc : 0);
}

std::int64_t ZarrCoder::encoder_bytes(const ZarrArray& array) noexcept {
  constexpr std::int64_t kDeflater = 2 << 20;
  std::int64_t bytes = decoder_bytes(array) + (has_codec(array, Kind::blosc) ? 2 * array.block_bytes() : 0);
  for (const ZarrCodec& codec : array.codecs) {
    if (codec.kind == Kind::zstd) bytes += ZstdEncoder::memory_bytes(codec.level, array.block_bytes());
    if (codec.kind == Kind::gzip || codec.kind == Kind::zlib) bytes += kDeflater;
  }
  return bytes;
}

std::span<std::byte> ZarrCoder::buffer_at(int side) {
  Buffer& buffer = buffers_[side];
  if (buffer.size() == 0) buffer = Buffer(max_encoded_bytes(array_));
  return buffer.bytes();
}

std::span<std::byte> ZarrCoder::encoded_buffer(std::int64_t bytes, std::span<std::byte> block) {
  const bool is_uncompressed = array_.codecs.empty() && bytes == std::ssize(block);
  const auto buffer = is_uncompressed ? block : buffer_at(0).first(static_cast<std::size_t>(bytes));
  encoded_ = buffer;
  return buffer;
}

std::span<const std::byte> ZarrCoder::run_decoder(const ZarrCodec& codec, std::span<const std::byte> from,
                                                  std::span<std::byte> to) {
  std::int64_t bytes = -1;
  switch (codec.kind) {
    case Kind::blosc:
      bytes = decode_blosc(from, to);
      break;
    case Kind::lz4:
      bytes = decode_lz4(from, to);
      break;
    case Kind::zstd: {
      if (zstd_decoder_ == nullptr) zstd_decoder_ = check_allocated(ZSTD_createDCtx());
      const std::size_t done =
          ZSTD_decompressDCtx(zstd_decoder_, to.data(), to.size(), from.data(), from.size());
      if (ZSTD_isError(done) == 0) bytes = static_cast<std::int64_t>(done);
      break;
    }
    default: {
      if (inflater_ == nullptr) inflater_ = check_allocated(libdeflate_alloc_decompressor());
      if (codec.kind == Kind::gzip) {
        bytes = gunzip(inflater_, from, to);
        break;
      }
      std::size_t done = 0;
      if (libdeflate_zlib_decompress(inflater_, from.data(), from.size(), to.data(), to.size(), &done) ==
          LIBDEFLATE_SUCCESS)
        bytes = static_cast<std::int64_t>(done);
    }
  }
  return bytes < 0 ? std::span<const std::byte>() : to.first(static_cast<std::size_t>(bytes));
}

std::string ZarrCoder::decode(std::span<std::byte> block) {
  std::span<const std::byte> data = encoded_;
  int side = 0;
  for (std::size_t i = array_.codecs.size(); i-- > 0;) {
    const ZarrCodec& codec = array_.codecs[i];
    if (codec.kind == Kind::crc32c) {
      if (data.size() < kChecksumBytes) return "it is too short for its checksum";
      const auto checked = data.first(data.size() - kChecksumBytes);
      if (crc32c(checked) != little32(data.last(kChecksumBytes))) return "its checksum (crc32c) is wrong";
      data = checked;
      continue;
    }
    if (i > 0) side = 1 - side;
    data = run_decoder(codec, data, i > 0 ? buffer_at(side) : block);
    if (data.data() == nullptr) return fmt::format("it is not {} data of this size", name_of(codec));
  }
  if (data.size() != block.size())
    return fmt::format("it has {} bytes where a chunk has {}", data.size(), block.size());
  if (data.data() != block.data()) std::memcpy(block.data(), data.data(), block.size());
  if (array_.big_endian != (std::endian::native == std::endian::big)) swap_elements(array_.type, block);
  return {};
}

std::span<const std::byte> ZarrCoder::run_encoder(const ZarrCodec& codec, std::span<const std::byte> from,
                                                  std::span<std::byte> to) {
  std::size_t bytes = 0;
  switch (codec.kind) {
    case Kind::crc32c:
      std::memcpy(to.data(), from.data(), from.size());
      put_little32(crc32c(from), to.data() + from.size());
      return to.first(from.size() + kChecksumBytes);
    case Kind::blosc:
      bytes = static_cast<std::size_t>(std::max<std::int64_t>(0, encode_blosc(codec, from, to)));
      break;
    case Kind::lz4:
      bytes = static_cast<std::size_t>(encode_lz4(codec, from, to));
      break;
    case Kind::zstd:
      if (codec.raster) {
        if (!fast_zstd_) fast_zstd_ = std::make_unique<zstd::RasterCoder>();
        bytes = static_cast<std::size_t>(fast_zstd_->encode(from, *codec.raster, codec.checked, to));
        break;
      }
      if (zstd_encoder_ == nullptr) zstd_encoder_ = check_allocated(ZSTD_createCCtx());
      ZSTD_CCtx_setParameter(zstd_encoder_, ZSTD_c_compressionLevel, codec.level);
      ZSTD_CCtx_setParameter(zstd_encoder_, ZSTD_c_checksumFlag, codec.checked ? 1 : 0);
      bytes = ZSTD_compress2(zstd_encoder_, to.data(), to.size(), from.data(), from.size());
      if (ZSTD_isError(bytes) != 0) bytes = 0;
      break;
    default:
      if (codec.raster) {
        if (!fast_deflate_) fast_deflate_ = std::make_unique<deflate::RasterCoder>();
        bytes = static_cast<std::size_t>(codec.kind == Kind::gzip
                                             ? fast_deflate_->encode_gzip(from, *codec.raster, to)
                                             : fast_deflate_->encode(from, *codec.raster, to));
        break;
      }
      if (deflater_ == nullptr) deflater_ = check_allocated(libdeflate_alloc_compressor(codec.level));
      bytes = (codec.kind == Kind::gzip ? libdeflate_gzip_compress : libdeflate_zlib_compress)(
          deflater_, from.data(), from.size(), to.data(), to.size());
  }
  return to.first(bytes);
}

std::span<const std::byte> ZarrCoder::encode(std::span<std::byte> block, const std::filesystem::path& name) {
  if (array_.big_endian != (std::endian::native == std::endian::big)) swap_elements(array_.type, block);
  std::span<const std::byte> data = block;
  int side = 0;
  for (const ZarrCodec& codec : array_.codecs) {
    data = run_encoder(codec, data, buffer_at(side));
    if (data.empty())
      throw_write_error(name, fmt::format("{} cannot encode chunks of {} bytes; make them smaller",
                                          name_of(codec), block.size()));
    side = 1 - side;
  }
  return data;
}

}  // namespace sepconv
