// What the threads of a block share out, and how one of them writes bits where others do.
#pragma once

#include <cuda_runtime.h>

#include "kernels/deflate/device_tiles.cuh"

namespace sepconv::deflate {

/// While one thread of a block makes its codes, the others wait: what counts is how many blocks are in work.
constexpr int kBlocksPerProcessor = 8;
constexpr int kBytesAtOnce = 16;  // of a thread: no more than one repeat begins there

/// Calls visit(i) for what is this thread's of [0, count).
template <class Visit>
__device__ void share(int count, const Visit& visit) {
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) visit(i);
}

/// Bits into words, by one thread.
struct WordSink {
  std::uint32_t* words;
  std::uint64_t held = 0;
  unsigned count = 0, total = 0;

  /// At most 32 bits.
  __device__ void put(std::uint64_t code, unsigned bits) {
    held |= code << count;
    count += bits, total += bits;
    if (count >= 32) {
      *words++ = static_cast<std::uint32_t>(held);
      held >>= 32, count -= 32;
    }
  }
  __device__ void finish() {
    if (count > 0) *words = static_cast<std::uint32_t>(held);
  }
};

/// choose_lengths() of all symbols, by all threads, after what thread 0 did before; it alone has the lengths
/// then. Of `memory` it takes used, keys and depths.
template <class Memory>
__device__ void choose_together(const std::uint32_t* counts, int symbols, int max_bits, Memory& memory,
                                std::uint8_t* lengths) {
  if (threadIdx.x == 0) memory.used = 0;
  __syncthreads();
  const auto key_of = [&](int symbol) { return symbol_key(counts[symbol], static_cast<unsigned>(symbol)); };
  share(symbols, [&](int symbol) {
    lengths[symbol] = 0;
    if (counts[symbol] == 0) return;
    const std::uint32_t key = key_of(symbol);
    int place = 0;
    for (int other = 0; other < symbols; ++other) place += counts[other] > 0 && key_of(other) < key ? 1 : 0;
    memory.keys[place] = key;
    atomicAdd(&memory.used, 1);
  });
  __syncthreads();
  if (threadIdx.x == 0) choose_lengths(memory.keys, memory.used, max_bits, memory.depths, lengths);
}

/// Bits into a stream of zeros, of which others write other bits at the same time.
class StreamSink {
 public:
  __device__ StreamSink(std::uint32_t* stream, std::int64_t bit)
      : word_(stream + bit / 32), count_(static_cast<unsigned>(bit % 32)), shared_(count_ > 0) {}

  /// At most 32 bits.
  __device__ void put(std::uint64_t code, unsigned bits) {
    held_ |= code << count_;
    count_ += bits;
    if (count_ < 32) return;
    store(shared_);
    ++word_;
    shared_ = false;
    held_ >>= 32, count_ -= 32;
  }
  __device__ void finish() {
    if (count_ > 0) store(true);
  }

 private:
  __device__ void store(bool with_others) {
    const auto word = static_cast<std::uint32_t>(held_);
    if (with_others) {
      atomicOr(word_, word);
    } else {
      *word_ = word;
    }
  }

  std::uint32_t* word_;
  std::uint64_t held_ = 0;
  unsigned count_;
  bool shared_;
};

}  // namespace sepconv::deflate
