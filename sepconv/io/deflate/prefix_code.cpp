#include "sepconv/io/deflate/prefix_code.hpp"

#include <algorithm>

namespace sepconv::deflate {

void choose_lengths(std::span<const std::uint32_t> counts, int most_bits, std::span<std::uint8_t> lengths) {
  std::uint32_t keys[kMostSymbols], depths[kMostSymbols];
  int used = 0;
  for (std::uint32_t symbol = 0; symbol < counts.size(); ++symbol) {
    lengths[symbol] = 0;
    if (counts[symbol] > 0) keys[used++] = symbol_key(counts[symbol], symbol);
  }
  std::sort(keys, keys + used);
  choose_lengths(keys, used, most_bits, depths, lengths.data());
}

}  // namespace sepconv::deflate
