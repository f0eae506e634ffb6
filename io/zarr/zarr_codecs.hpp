// Decodes and encodes blocks in memory, one at a time. Private to this folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/memory.hpp"
#include "io/zarr/zarr_array.hpp"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;
namespace sepconv::deflate {
class RasterCoder;
}
namespace sepconv::zstd {
class RasterCoder;
}
struct libdeflate_compressor;
struct libdeflate_decompressor;

namespace sepconv {

class JsonFile;
struct NamedJson;

/// The words of version 3 for ZarrCodec::blosc_shuffle.
inline constexpr const char* kShuffleWords[] = {"noshuffle", "shuffle", "bitshuffle"};

/// Parses a codec of version 2 or 3. Throws IoError for unsupported codecs.
ZarrCodec parse_zarr_codec(const JsonFile& file, const NamedJson& named, std::int64_t element_bytes);

/// The contexts and buffers of one worker. Not thread-safe.
class ZarrCoder {
 public:
  /// `array` must outlive it.
  explicit ZarrCoder(const ZarrArray& array);
  ~ZarrCoder();
  ZarrCoder(const ZarrCoder&) = delete;
  ZarrCoder& operator=(const ZarrCoder&) = delete;

  /// The buffer to fill with the encoded bytes of a block, at most max_encoded_bytes(). It is `block` itself
  /// if the block is stored uncompressed.
  std::span<std::byte> encoded_buffer(std::int64_t bytes, std::span<std::byte> block);
  /// Decodes the contents of encoded_buffer() into `block`, in native byte order. Returns a description of
  /// the error, or an empty string.
  std::string decode(std::span<std::byte> block);

  /// Encodes a block, which is overwritten. The result is valid until the next call. Throws IoError that
  /// begins with `name`, and OutOfMemory.
  std::span<const std::byte> encode(std::span<std::byte> block, const std::filesystem::path& name);

  /// Upper bound of the bytes of an encoded block.
  static std::int64_t max_encoded_bytes(const ZarrArray& array) noexcept;
  /// Upper bounds of the memory of a coder, in bytes.
  static std::int64_t decoder_bytes(const ZarrArray& array) noexcept;
  static std::int64_t encoder_bytes(const ZarrArray& array) noexcept;

 private:
  std::span<const std::byte> run_decoder(const ZarrCodec& codec, std::span<const std::byte> from,
                                         std::span<std::byte> to);
  std::span<const std::byte> run_encoder(const ZarrCodec& codec, std::span<const std::byte> from,
                                         std::span<std::byte> to);
  std::span<std::byte> buffer_at(int side);

  const ZarrArray& array_;
  Buffer buffers_[2];  ///< between codecs
  std::span<const std::byte> encoded_;
  ZSTD_DCtx_s* zstd_decoder_ = nullptr;
  ZSTD_CCtx_s* zstd_encoder_ = nullptr;
  libdeflate_decompressor* inflater_ = nullptr;
  libdeflate_compressor* deflater_ = nullptr;
  std::unique_ptr<deflate::RasterCoder> fast_deflate_;
  std::unique_ptr<zstd::RasterCoder> fast_zstd_;
};

}  // namespace sepconv
