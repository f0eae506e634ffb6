#include "sepconv/io/deflate/prefix_code.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace sepconv::deflate {
namespace {

constexpr std::size_t kMostSymbols = 288;
constexpr int kSymbolBits = 9;

/// Turns weights in ascending order into the depths of their leaves, deepest first.
void weights_to_depths(std::uint32_t* a, int n) {
  // Inner nodes take the places of the weights that they join; then parents, then depths.
  int leaf = 0, inner = 0;
  const auto take = [&](int next) {
    const bool from_inner = leaf >= n || (inner < next && a[inner] < a[leaf]);
    if (!from_inner) return a[leaf++];
    const std::uint32_t weight = a[inner];
    a[inner++] = static_cast<std::uint32_t>(next);
    return weight;
  };
  for (int next = 0; next < n - 1; ++next) {
    const std::uint32_t first = take(next);
    a[next] = first + take(next);
  }
  a[n - 2] = 0;
  for (int i = n - 3; i >= 0; --i) a[i] = a[a[i]] + 1;
  int open = 1, depth = 0, at = n - 1;
  inner = n - 2;
  while (open > 0) {
    int joined = 0;
    for (; inner >= 0 && a[inner] == static_cast<std::uint32_t>(depth); --inner) ++joined;
    for (int leaves = open - joined; leaves > 0; --leaves) a[at--] = static_cast<std::uint32_t>(depth);
    open = 2 * joined;
    ++depth;
  }
}

/// Makes leaves that lie too deep fit: each that comes up is paid for by one that goes down.
void limit_depths(std::array<int, 2 * kMostSymbols>& of_depth, int deepest, int most_bits) {
  for (int depth = deepest; depth > most_bits; --depth) {
    // Two of the deepest: one takes their parent's place, the other goes beside a leaf that moves down.
    while (of_depth[static_cast<std::size_t>(depth)] > 0) {
      int above = depth - 2;
      while (above >= most_bits || of_depth[static_cast<std::size_t>(above)] == 0) --above;
      of_depth[static_cast<std::size_t>(depth)] -= 2;
      of_depth[static_cast<std::size_t>(depth - 1)] += 1;
      of_depth[static_cast<std::size_t>(above + 1)] += 2;
      of_depth[static_cast<std::size_t>(above)] -= 1;
    }
  }
}

}  // namespace

void choose_lengths(std::span<const std::uint32_t> counts, int most_bits, std::span<std::uint8_t> lengths) {
  std::array<std::uint32_t, kMostSymbols> keys, depths;
  int used = 0;
  for (std::size_t symbol = 0; symbol < counts.size(); ++symbol) {
    lengths[symbol] = 0;
    if (counts[symbol] > 0)
      keys[static_cast<std::size_t>(used++)] =
          counts[symbol] << kSymbolBits | static_cast<std::uint32_t>(symbol);
  }
  constexpr std::uint32_t kSymbol = (1u << kSymbolBits) - 1;
  if (used == 0) return;
  if (used == 1) {
    lengths[keys[0] & kSymbol] = 1;
    return;
  }
  std::sort(keys.begin(), keys.begin() + used);
  for (int i = 0; i < used; ++i)
    depths[static_cast<std::size_t>(i)] = keys[static_cast<std::size_t>(i)] >> kSymbolBits;
  weights_to_depths(depths.data(), used);
  if (depths[0] > static_cast<std::uint32_t>(most_bits)) {
    std::array<int, 2 * kMostSymbols> of_depth{};
    for (int i = 0; i < used; ++i) ++of_depth[depths[static_cast<std::size_t>(i)]];
    limit_depths(of_depth, static_cast<int>(depths[0]), most_bits);
    int at = 0;
    for (int depth = most_bits; depth > 0; --depth)
      for (int leaves = of_depth[static_cast<std::size_t>(depth)]; leaves > 0; --leaves)
        depths[static_cast<std::size_t>(at++)] = static_cast<std::uint32_t>(depth);
  }
  for (int i = 0; i < used; ++i)
    lengths[keys[static_cast<std::size_t>(i)] & kSymbol] =
        static_cast<std::uint8_t>(depths[static_cast<std::size_t>(i)]);
}

void assign_codes(std::span<const std::uint8_t> lengths, std::span<std::uint16_t> codes) {
  std::array<std::uint32_t, kMostBits + 2> next{};
  for (const std::uint8_t length : lengths) ++next[length + 1u];
  next[1] = 0;  // symbols without a code
  for (std::size_t bits = 1; bits < next.size(); ++bits) next[bits] = (next[bits] + next[bits - 1]) << 1;
  // next[b] is now the first code of b bits, by the rule of RFC 1951.
  for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol) {
    const unsigned bits = lengths[symbol];
    if (bits == 0) continue;
    std::uint32_t code = next[bits]++;
    code = (code & 0x5555u) << 1 | (code >> 1 & 0x5555u);
    code = (code & 0x3333u) << 2 | (code >> 2 & 0x3333u);
    code = (code & 0x0F0Fu) << 4 | (code >> 4 & 0x0F0Fu);
    code = (code & 0x00FFu) << 8 | (code >> 8 & 0x00FFu);
    codes[symbol] = static_cast<std::uint16_t>(code >> (16 - bits));
  }
}

}  // namespace sepconv::deflate
