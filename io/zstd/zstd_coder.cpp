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

/// For levels 1 and 2.
int hash_log(int level) { return level == 1 ? 14 : 16; }

}  // namespace

// In inputs of 256 KiB and less zstd's fast levels look for shorter strings and in smaller tables than in
// others. Behind a predictor those cost more than they save: levels 1 and 2 are what they are for large
// inputs (measured, docs/decisions/0018-deflate.md).
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

std::optional<std::int64_t> ZstdDecoder::decode_first(std::span<const std::byte> frames,
                                                      std::span<std::byte> room) noexcept {
  const std::size_t bytes = ZSTD_findFrameCompressedSize(frames.data(), frames.size());
  if (ZSTD_isError(bytes) != 0) return std::nullopt;
  const std::size_t held =
      ZSTD_decompressDCtx(context_.get(), room.data(), room.size(), frames.data(), bytes);
  if (ZSTD_getErrorCode(held) == ZSTD_error_dstSize_tooSmall) return std::ssize(room) + 1;
  return ZSTD_isError(held) != 0 ? std::nullopt : std::optional(static_cast<std::int64_t>(held));
}

}  // namespace sepconv
