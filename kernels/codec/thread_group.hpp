// A group of threads that decode a stream together: all have the stream's state and execute the same steps,
// so nothing diverges, and they share the work of copies and tables. The same source compiles for a warp and
// for one host thread, on which it is tested.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/deflate/prefix_code.hpp"
#include "core/host_device.hpp"

// Loop unrolling on a GPU.
#ifdef __CUDA_ARCH__
#define SEPCONV_ROLLED _Pragma("unroll 1")
#define SEPCONV_UNROLLED _Pragma("unroll")
#else
#define SEPCONV_ROLLED
#define SEPCONV_UNROLLED
#endif

namespace sepconv {

/// Lanes with the same value as this one.
struct MatchingLanes {
  unsigned before, count;  ///< such lanes before this one; all such lanes
};

/// A group of one host thread.
struct SingleThreadGroup {
  static constexpr unsigned kLanes = 1;
  static SEPCONV_HOST_DEVICE unsigned lane() { return 0; }
  SEPCONV_HOST_DEVICE void sync() const {}  ///< makes the stores of each lane visible to all lanes
  SEPCONV_HOST_DEVICE bool all(bool condition) const { return condition; }
  SEPCONV_HOST_DEVICE MatchingLanes matching_lanes(unsigned) const { return {0, 1}; }
  /// Reduction over all lanes; inclusive scan; broadcast of one lane's value, and of the last lane's.
  template <class Word, class Add>
  SEPCONV_HOST_DEVICE Word sum(Word value, Add) const {
    return value;
  }
  template <class Word, class Add>
  SEPCONV_HOST_DEVICE Word inclusive_scan(Word value, Add) const {
    return value;
  }
  template <class Word>
  SEPCONV_HOST_DEVICE Word broadcast(Word value, unsigned) const {
    return value;
  }
  template <class Word>
  SEPCONV_HOST_DEVICE Word broadcast_last(Word value) const {
    return value;
  }
};

#ifdef __CUDA_ARCH__
/// A warp. All lanes must take part in each call.
struct Warp {
  static constexpr unsigned kLanes = 32;
  static __device__ unsigned lane() { return threadIdx.x & 31; }
  __device__ void sync() const { __syncwarp(); }
  __device__ bool all(bool condition) const { return __all_sync(kAll, condition) != 0; }
  __device__ MatchingLanes matching_lanes(unsigned value) const {
    const unsigned same = __match_any_sync(kAll, value);
    return {static_cast<unsigned>(__popc(same & ((1U << lane()) - 1))), static_cast<unsigned>(__popc(same))};
  }
  template <class Word, class Add>
  __device__ Word sum(Word value, Add add) const {
    for (unsigned step = 1; step < kLanes; step *= 2)
      value = add(value, static_cast<Word>(__shfl_xor_sync(kAll, shuffled(value), step)));
    return value;
  }
  template <class Word, class Add>
  __device__ Word inclusive_scan(Word value, Add add) const {
    for (unsigned step = 1; step < kLanes; step *= 2) {
      const auto before = static_cast<Word>(__shfl_up_sync(kAll, shuffled(value), step));
      if (lane() >= step) value = add(value, before);
    }
    return value;
  }
  template <class Word>
  __device__ Word broadcast(Word value, unsigned lane) const {
    return static_cast<Word>(__shfl_sync(kAll, shuffled(value), static_cast<int>(lane)));
  }
  template <class Word>
  __device__ Word broadcast_last(Word value) const {
    return broadcast(value, kLanes - 1);
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
};
#elif defined(__CUDACC__)
/// For host code that names kernels.
struct Warp : SingleThreadGroup {
  static constexpr unsigned kLanes = 32;
};
#endif

/// Eight bytes at any address, little-endian. On a GPU, up to 15 bytes after and up to 7 bytes before them
/// are read, too.
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

/// 16 bytes at a 16-byte aligned address, loaded in one access.
struct Bytes16 {
  alignas(16) std::uint32_t at[4];
};
SEPCONV_HOST_DEVICE inline Bytes16 load_16_bytes(const std::uint8_t* from) {
  Bytes16 words;
#ifdef __CUDA_ARCH__
  const uint4 loaded = __ldg(reinterpret_cast<const uint4*>(from));
  words = {{loaded.x, loaded.y, loaded.z, loaded.w}};
#else
  std::memcpy(&words, from, sizeof words);
#endif
  return words;
}
SEPCONV_HOST_DEVICE inline void store_16_bytes(const Bytes16& words, void* to) {
#ifdef __CUDA_ARCH__
  *static_cast<uint4*>(to) = {words.at[0], words.at[1], words.at[2], words.at[3]};
#else
  std::memcpy(to, &words, sizeof words);
#endif
}
SEPCONV_HOST_DEVICE inline void copy_16_bytes(const std::uint8_t* from, std::uint8_t* to) {
#ifdef __CUDA_ARCH__
  *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
#else
  std::memcpy(to, from, sizeof(Bytes16));
#endif
}

/// The low word of `high`:`low`, shifted right by `count` % 32.
SEPCONV_HOST_DEVICE inline std::uint32_t shifted(std::uint32_t low, std::uint32_t high, unsigned count) {
#ifdef __CUDA_ARCH__
  return __funnelshift_r(low, high, count);
#else
  return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> count % 32);
#endif
}

/// The bits of a word in reverse order.
SEPCONV_HOST_DEVICE inline std::uint32_t reversed(std::uint32_t word) {
#ifdef __CUDA_ARCH__
  return __brev(word);
#else
  std::uint32_t result = 0;
  for (int bit = 0; bit < 32; ++bit) result |= (word >> bit & 1) << (31 - bit);
  return result;
#endif
}

/// Calls visit(i) for i < `count` (at most 32), in one step if there are that many lanes.
template <class ThreadGroup, class Visit>
SEPCONV_HOST_DEVICE void strided_for_few(unsigned lane, unsigned count, const Visit& visit) {
  if constexpr (ThreadGroup::kLanes >= 32) {
    if (lane < count) visit(lane);
  } else {
    for (unsigned i = lane; i < count; i += ThreadGroup::kLanes) visit(i);
  }
}

/// Copies `count` bytes. The ranges must not overlap.
template <class ThreadGroup>
SEPCONV_HOST_DEVICE void copy_bytes(const ThreadGroup& group, const std::uint8_t* __restrict__ from,
                                    std::uint32_t count, std::uint8_t* __restrict__ to) {
  for (std::uint32_t i = group.lane(); i < count; i += ThreadGroup::kLanes) to[i] = from[i];
}

/// Writes `literals` bytes, then a match of `length` bytes at `distance`. `distance` must be between 1 and
/// the number of bytes that precede the match. Each byte is copied from an earlier one: from a literal or
/// from `to`.
template <class ThreadGroup>
SEPCONV_HOST_DEVICE void write_sequence(const ThreadGroup& group, const std::uint8_t* literal_bytes,
                                        std::uint32_t literals, std::uint32_t distance, std::uint32_t length,
                                        std::uint8_t* to) {
  for (std::uint32_t i = group.lane(); i < literals + length; i += ThreadGroup::kLanes) {
    if (i < literals) {
      to[i] = literal_bytes[i];
      continue;
    }
    const std::uint32_t step = distance < length ? (i - literals) % distance : i - literals;
    const std::int64_t source = std::int64_t{literals} - distance + step;
    to[i] = source >= 0 ? literal_bytes[source] : to[source];
  }
  group.sync();
}

}  // namespace sepconv
