// Threads that decode a stream together: all hold the stream's state and go through the same steps, so that
// nothing diverges, and share out copies and tables. The same source for a warp and for a thread of the host,
// on which it is tested.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "sepconv/core/deflate/prefix_code.hpp"

namespace sepconv {

/// One thread of the host.
struct Alone {
  static constexpr unsigned kLanes = 1;
  static SEPCONV_HOST_DEVICE unsigned lane() { return 0; }
  SEPCONV_HOST_DEVICE void sync() const {}  ///< afterwards all lanes see what each has stored
  SEPCONV_HOST_DEVICE bool all(bool condition) const { return condition; }
  /// Of all lanes; of this and those before it; what the last one has.
  template <class Word, class Add>
  SEPCONV_HOST_DEVICE Word sum(Word value, Add) const {
    return value;
  }
  template <class Word, class Add>
  SEPCONV_HOST_DEVICE Word sum_up_to(Word value, Add) const {
    return value;
  }
  template <class Word>
  SEPCONV_HOST_DEVICE Word of_last(Word value) const {
    return value;
  }
};

#ifdef __CUDACC__
/// A warp, all of whose lanes come to each call.
struct Warp {
  static constexpr unsigned kLanes = 32;
#ifdef __CUDA_ARCH__
  static __device__ unsigned lane() { return threadIdx.x & 31; }
  __device__ void sync() const { __syncwarp(); }
  __device__ bool all(bool condition) const { return __all_sync(kAll, condition) != 0; }
  template <class Word, class Add>
  __device__ Word sum(Word value, Add add) const {
    for (unsigned step = 1; step < kLanes; step *= 2)
      value = add(value, static_cast<Word>(__shfl_xor_sync(kAll, shuffled(value), step)));
    return value;
  }
  template <class Word, class Add>
  __device__ Word sum_up_to(Word value, Add add) const {
    for (unsigned step = 1; step < kLanes; step *= 2) {
      const auto before = static_cast<Word>(__shfl_up_sync(kAll, shuffled(value), step));
      if (lane() >= step) value = add(value, before);
    }
    return value;
  }
  template <class Word>
  __device__ Word of_last(Word value) const {
    return static_cast<Word>(__shfl_sync(kAll, shuffled(value), kLanes - 1));
  }

 private:
  static constexpr unsigned kAll = 0xFFFFFFFFU;
  template <class Word>
  static __device__ auto shuffled(Word value) {
    if constexpr (sizeof(Word) == 8)
      return static_cast<unsigned long long>(value);
    else
      return static_cast<unsigned>(value);
  }
#else
  static SEPCONV_HOST_DEVICE unsigned lane() { return 0; }
  SEPCONV_HOST_DEVICE void sync() const {}
  SEPCONV_HOST_DEVICE bool all(bool condition) const { return condition; }
  template <class Word, class Add>
  SEPCONV_HOST_DEVICE Word sum(Word value, Add) const {
    return value;
  }
  template <class Word, class Add>
  SEPCONV_HOST_DEVICE Word sum_up_to(Word value, Add) const {
    return value;
  }
  template <class Word>
  SEPCONV_HOST_DEVICE Word of_last(Word value) const {
    return value;
  }
#endif
};
#endif

/// Bytes from anywhere, little-endian. Of a GPU's memory what lies up to 15 bytes further is read, too, and
/// what lies up to 7 bytes before.
SEPCONV_HOST_DEVICE inline std::uint64_t eight_bytes(const std::uint8_t* at) {
#ifdef __CUDA_ARCH__
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  const auto* const words = reinterpret_cast<const std::uint64_t*>(address / 8 * 8);
  const unsigned shift = address % 8 * 8;
  return words[0] >> shift | words[1] << 1 << (63 - shift);
#else
  std::uint64_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
#endif
}

/// `count` bytes, which do not overlap.
template <class Team>
SEPCONV_HOST_DEVICE void copy_bytes(const Team& team, const std::uint8_t* __restrict__ from,
                                    std::uint32_t count, std::uint8_t* __restrict__ to) {
  for (std::uint32_t i = team.lane(); i < count; i += Team::kLanes) to[i] = from[i];
}

/// `literals` bytes and `length` of those `distance` before what follows them: at most as many as there are
/// then, and at least one. Each byte comes from one that was there before: from a literal or from `to`.
template <class Team>
SEPCONV_HOST_DEVICE void put_sequence(const Team& team, const std::uint8_t* literal, std::uint32_t literals,
                                      std::uint32_t distance, std::uint32_t length, std::uint8_t* to) {
  for (std::uint32_t i = team.lane(); i < literals + length; i += Team::kLanes) {
    if (i < literals) {
      to[i] = literal[i];
      continue;
    }
    const std::uint32_t step = distance < length ? (i - literals) % distance : i - literals;
    const std::int64_t place = std::int64_t{literals} - distance + step;
    to[i] = place >= 0 ? literal[place] : to[place];
  }
  team.sync();
}

}  // namespace sepconv
