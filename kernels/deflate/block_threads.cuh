// Work that the threads of a block share, and bit writers for one of several concurrent threads.
#pragma once

#include <cuda_runtime.h>

#include "kernels/deflate/device_tiles.cuh"

namespace sepconv::deflate {

/// While one thread of a block computes its codes, the others wait, so the number of resident blocks
/// determines the speed.
constexpr int kBlocksPerProcessor = 8;
constexpr int kBytesAtOnce = 16;  // per thread: at most one match begins in them

/// Calls visit(i) for this thread's indices of [0, count).
template <class Visit>
__device__ void strided_for(int count, const Visit& visit) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) visit(i);
}

/// kBytesAtOnce bytes of a block, and which of them are literals: those that no match covers.
struct LiteralBytes {
  std::uint32_t words[kBytesAtOnce / 4] = {};
  unsigned mask = 0;  ///< a bit for each byte

  /// The bytes from `first` on, of a block of `size` bytes. `data` is aligned to kBytesAtOnce.
  __device__ LiteralBytes(const std::uint8_t* data, int size, const std::uint32_t* covered, int first) {
    const int remaining = size - first;
    if (remaining <= 0) return;
    if (remaining >= kBytesAtOnce) {
      const uint4 four = *reinterpret_cast<const uint4*>(data + first);
      words[0] = four.x, words[1] = four.y, words[2] = four.z, words[3] = four.w;
    } else {
#pragma unroll
      for (int i = 0; i < kBytesAtOnce; ++i)
        if (i < remaining) words[i / 4] |= static_cast<std::uint32_t>(data[first + i]) << (8 * (i % 4));
    }
    const unsigned in_block = remaining < kBytesAtOnce ? (1U << remaining) - 1 : 0xFFFFU;
    mask = ~(covered[first / 32] >> (first % 32)) & in_block;
  }
  __device__ unsigned byte(int i) const { return words[i / 4] >> (8 * (i % 4)) & 0xFF; }
};

/// Writes bits into words, by one thread.
struct WordSink {
  std::uint32_t* words;
  std::uint64_t buffered = 0;
  unsigned count = 0, total = 0;

  /// At most 32 bits.
  __device__ void put(std::uint64_t code, unsigned bits) {
    buffered |= code << count;
    count += bits, total += bits;
    if (count >= 32) {
      *words++ = static_cast<std::uint32_t>(buffered);
      buffered >>= 32, count -= 32;
    }
  }
  __device__ void finish() {
    if (count > 0) *words = static_cast<std::uint32_t>(buffered);
  }
};

/// choose_lengths() of all symbols, called by all threads after thread 0 has written `counts`. Only thread 0
/// may read the lengths afterwards. Uses the members used, keys and depths of `memory`.
template <class Memory>
__device__ void choose_lengths_in_block(const std::uint32_t* counts, int symbols, int max_bits,
                                        Memory& memory, std::uint8_t* lengths) {
  if (threadIdx.x == 0) memory.used = 0;
  __syncthreads();
  const auto key_of = [&](int symbol) { return symbol_key(counts[symbol], static_cast<unsigned>(symbol)); };
  strided_for(symbols, [&](int symbol) {
    lengths[symbol] = 0;
    if (counts[symbol] == 0) return;
    const std::uint32_t key = key_of(symbol);
    int rank = 0;
    for (int other_symbol = 0; other_symbol < symbols; ++other_symbol)
      rank += counts[other_symbol] > 0 && key_of(other_symbol) < key ? 1 : 0;
    memory.keys[rank] = key;
    atomicAdd(&memory.used, 1);
  });
  __syncthreads();
  if (threadIdx.x == 0) choose_lengths(memory.keys, memory.used, max_bits, memory.depths, lengths);
}

/// Writes bits into a stream of zeros while other threads write other bits.
class StreamSink {
 public:
  __device__ StreamSink(std::uint32_t* stream, std::int64_t bit)
      : word_(stream + bit / 32), count_(static_cast<unsigned>(bit % 32)), is_shared_(count_ > 0) {}

  /// At most 32 bits.
  __device__ void put(std::uint64_t code, unsigned bits) {
    buffered_ |= code << count_;
    count_ += bits;
    if (count_ < 32) return;
    flush_word(is_shared_);
    ++word_;
    is_shared_ = false;
    buffered_ >>= 32, count_ -= 32;
  }
  __device__ void finish() {
    if (count_ > 0) flush_word(true);
  }

 private:
  __device__ void flush_word(bool is_shared) {
    const auto word = static_cast<std::uint32_t>(buffered_);
    if (is_shared) {
      atomicOr(word_, word);
    } else {
      *word_ = word;
    }
  }

  std::uint32_t* word_;
  std::uint64_t buffered_ = 0;
  unsigned count_;
  bool is_shared_;
};

}  // namespace sepconv::deflate
