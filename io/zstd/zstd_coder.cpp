#define ZSTD_STATIC_LINKING_ONLY  // ZSTD_estimateCCtxSize_usingCParams
#include "io/zstd/zstd_coder.hpp"

#include <zstd_errors.h>

#include <algorithm>
#include <string>

#include "core/error.hpp"

namespace sepconv {
namespace {

void check(std::size_t result) {
  if (ZSTD_isError(result) != 0)
    throw OutOfMemory(std::string("no memory for a zstd encoder (") + ZSTD_getErrorName(result) +
                      "); ask for fewer threads");
}

/// hashLog for levels 1 and 2.
int hash_log(int level) { return level == 1 ? 14 : 16; }

}  // namespace

// For inputs of at most 256 KiB zstd's fast levels search for shorter strings in smaller tables. After a
// predictor that costs more than it saves: levels 1 and 2 use the parameters for large inputs (measured,
// docs/decisions/0018-deflate.md).
ZstdEncoder::ZstdEncoder(int level) : context_(ZSTD_createCCtx()) {
  if (!context_) throw OutOfMemory("no memory for a zstd encoder; ask for fewer threads");
  const auto set = [&](ZSTD_cParameter parameter, int value) {
    check(ZSTD_CCtx_setParameter(context_.get(), parameter, value));
  };
  set(ZSTD_c_compressionLevel, level);
  set(ZSTD_c_checksumFlag, 1);
  if (level > 2) return;
  set(ZSTD_c_minMatch, level == 1 ? 7 : 6);
  set(ZSTD_c_hashLog, hash_log(level));
}

std::int64_t ZstdEncoder::memory_bytes(int level, std::int64_t bytes) noexcept {
  ZSTD_compressionParameters parameters = ZSTD_getCParams(level, static_cast<unsigned long long>(bytes), 0);
  if (level <= 2) parameters.hashLog = std::max(parameters.hashLog, static_cast<unsigned>(hash_log(level)));
  return static_cast<std::int64_t>(ZSTD_estimateCCtxSize_usingCParams(parameters));
}

std::int64_t ZstdEncoder::encode(std::span<const std::byte> in, std::span<std::byte> out) {
  const std::size_t size = ZSTD_compress2(context_.get(), out.data(), out.size(), in.data(), in.size());
  check(size);
  return static_cast<std::int64_t>(size);
}

ZstdDecoder::ZstdDecoder() : context_(ZSTD_createDCtx()) {
  if (!context_) throw OutOfMemory("no memory for a zstd decoder; ask for fewer threads");
}

bool ZstdDecoder::decode(std::span<const std::byte> frames, std::span<std::byte> out) noexcept {
  return ZSTD_decompressDCtx(context_.get(), out.data(), out.size(), frames.data(), frames.size()) ==
         out.size();
}

std::optional<std::int64_t> ZstdDecoder::decode_first_frame(std::span<const std::byte> frames,
                                                            std::span<std::byte> buffer) noexcept {
  const std::size_t frame_bytes = ZSTD_findFrameCompressedSize(frames.data(), frames.size());
  if (ZSTD_isError(frame_bytes) != 0) return std::nullopt;
  const std::size_t decoded_bytes =
      ZSTD_decompressDCtx(context_.get(), buffer.data(), buffer.size(), frames.data(), frame_bytes);
  if (ZSTD_getErrorCode(decoded_bytes) == ZSTD_error_dstSize_tooSmall) return std::ssize(buffer) + 1;
  return ZSTD_isError(decoded_bytes) != 0 ? std::nullopt
                                          : std::optional(static_cast<std::int64_t>(decoded_bytes));
}

}  // namespace sepconv
