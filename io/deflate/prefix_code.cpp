#include "io/deflate/prefix_code.hpp"

#include <algorithm>
#include <utility>

namespace sepconv::deflate {
namespace {

/// Radix sort of keys by their counts, five times as fast as std::sort. Keys are already in the order of
/// their symbols.
void sort_keys(std::uint32_t* keys, int used) noexcept {
  constexpr int kMinRadixSort = 32;
  if (used < kMinRadixSort) return std::sort(keys, keys + used);
  std::uint32_t scratch[kMaxSymbols];
  std::uint32_t *from = keys, *to = scratch;
  const std::uint32_t max_key = *std::max_element(keys, keys + used);
  for (int shift = kSymbolBits; shift < 32 && max_key >> shift > 0; shift += 8) {
    std::uint16_t offsets[257] = {};
    for (int i = 0; i < used; ++i) ++offsets[(from[i] >> shift & 0xFF) + 1];
    for (int byte = 1; byte < 256; ++byte)
      offsets[byte] = static_cast<std::uint16_t>(offsets[byte] + offsets[byte - 1]);
    for (int i = 0; i < used; ++i) to[offsets[from[i] >> shift & 0xFF]++] = from[i];
    std::swap(from, to);
  }
  if (from != keys) std::copy_n(from, used, keys);
}

}  // namespace

void choose_lengths(std::span<const std::uint32_t> counts, int max_bits, std::span<std::uint8_t> lengths) {
  std::uint32_t keys[kMaxSymbols], depths[kMaxSymbols];
  int used = 0;
  for (std::uint32_t symbol = 0; symbol < counts.size(); ++symbol) {
    lengths[symbol] = 0;
    if (counts[symbol] > 0) keys[used++] = symbol_key(counts[symbol], symbol);
  }
  sort_keys(keys, used);
  choose_lengths(keys, used, max_bits, depths, lengths.data());
}

}  // namespace sepconv::deflate
