// Blocks as they are stored: decoded and encoded, one at a time, from memory to memory. Private to this
// folder.
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

/// ZarrCodec::blosc_shuffle as version 3 has it.
inline constexpr const char* kShuffleWords[] = {"noshuffle", "shuffle", "bitshuffle"};

/// A codec by its name in version 2 or 3. Throws IoError for one that this library lacks.
ZarrCodec parse_zarr_codec(const JsonFile& file, const NamedJson& named, std::int64_t element_bytes);

/// Holds what one worker needs. Not thread-safe.
class ZarrCoder {
 public:
  /// `array` must outlive it.
  explicit ZarrCoder(const ZarrArray& array);
  ~ZarrCoder();
  ZarrCoder(const ZarrCoder&) = delete;
  ZarrCoder& operator=(const ZarrCoder&) = delete;

  /// Room for the encoded bytes of a block, at most max_encoded_bytes(): the block itself where it is stored
  /// as it is.
  std::span<std::byte> encoded(std::int64_t bytes, std::span<std::byte> block);
  /// Decodes what encoded() was filled with into the block's bytes, in this machine's byte order. Returns
  /// what is wrong with it, or an empty text.
  std::string decode(std::span<std::byte> block);

  /// Encodes a block, which is destroyed; the result holds until the next call. Throws IoError that begins
  /// with `name`, OutOfMemory.
  std::span<const std::byte> encode(std::span<std::byte> block, const std::filesystem::path& name);

  /// More than this cannot be a block.
  static std::int64_t max_encoded_bytes(const ZarrArray& array) noexcept;
  /// Upper bounds of the memory of a coder.
  static std::int64_t decoder_bytes(const ZarrArray& array) noexcept;
  static std::int64_t encoder_bytes(const ZarrArray& array) noexcept;

 private:
  std::span<const std::byte> decode_one(const ZarrCodec& codec, std::span<const std::byte> from,
                                        std::span<std::byte> to);
  std::span<const std::byte> encode_one(const ZarrCodec& codec, std::span<const std::byte> from,
                                        std::span<std::byte> to);
  std::span<std::byte> other(int side);

  const ZarrArray& array_;
  Buffer sides_[2];  ///< between codecs
  std::span<const std::byte> encoded_;
  ZSTD_DCtx_s* zstd_decoder_ = nullptr;
  ZSTD_CCtx_s* zstd_encoder_ = nullptr;
  libdeflate_decompressor* inflater_ = nullptr;
  libdeflate_compressor* deflater_ = nullptr;
  std::unique_ptr<deflate::RasterCoder> fast_;
  std::unique_ptr<zstd::RasterCoder> fast_zstd_;
};

}  // namespace sepconv
