// Prefix codes of deflate (RFC 1951, 3.2.2): canonical, defined by their lengths. The same source for the CPU
// and the GPU encoder, which produce the same bytes.
#pragma once

#include <cstdint>

#include "core/host_device.hpp"

namespace sepconv::deflate {

inline constexpr int kMaxSymbols = 288;
inline constexpr int kSymbolBits = 9;
/// Maximum length of a code.
inline constexpr int kMaxBits = 15;

/// Sort key of a symbol: its count, then its number. The counts must sum to less than 2^23.
SEPCONV_HOST_DEVICE inline std::uint32_t symbol_key(std::uint32_t count, std::uint32_t symbol) {
  return count << kSymbolBits | symbol;
}

/// Replaces weights in ascending order by the depths of their leaves, deepest first (in-place method of
/// Moffat and Katajainen, 1995). At least two weights.
SEPCONV_HOST_DEVICE inline void weights_to_depths(std::uint32_t* nodes, int n) {
  // Inner nodes overwrite the weights that they combine; they become parent indices, then depths.
  int leaf = 0, inner = 0;
  const auto next_weight = [&](int next) {
    const bool from_inner = leaf >= n || (inner < next && nodes[inner] < nodes[leaf]);
    if (!from_inner) return nodes[leaf++];
    const std::uint32_t weight = nodes[inner];
    nodes[inner++] = static_cast<std::uint32_t>(next);
    return weight;
  };
  for (int next = 0; next < n - 1; ++next) {
    const std::uint32_t first = next_weight(next);
    nodes[next] = first + next_weight(next);
  }
  nodes[n - 2] = 0;
  for (int i = n - 3; i >= 0; --i) nodes[i] = nodes[nodes[i]] + 1;
  int open_nodes = 1, depth = 0, position = n - 1;
  inner = n - 2;
  while (open_nodes > 0) {
    int joined = 0;
    for (; inner >= 0 && nodes[inner] == static_cast<std::uint32_t>(depth); --inner) ++joined;
    for (int leaves = open_nodes - joined; leaves > 0; --leaves)
      nodes[position--] = static_cast<std::uint32_t>(depth);
    open_nodes = 2 * joined;
    ++depth;
  }
}

/// Limits the depths: leaves that are too deep are raised to max_bits, and others are lowered one after
/// another, the ones with the lowest cost per freed slot first. Leaves are in ascending order of their keys.
SEPCONV_HOST_DEVICE inline void limit_depths(const std::uint32_t* keys, std::uint32_t* depths, int n,
                                             int max_bits) {
  int leaves_at_depth[kMaxBits + 1] = {};
  std::int32_t excess = -(1 << max_bits);  // in leaves of depth max_bits
  for (int i = 0; i < n; ++i) {
    const int depth =
        depths[i] < static_cast<std::uint32_t>(max_bits) ? static_cast<int>(depths[i]) : max_bits;
    ++leaves_at_depth[depth];
    excess += 1 << (max_bits - depth);
  }
  while (excess > 0) {
    int best = 0;
    std::uint64_t best_cost = 0, best_slots = 1;
    for (int depth = max_bits - 1, first = leaves_at_depth[max_bits]; depth > 0;
         first += leaves_at_depth[depth--]) {
      if (leaves_at_depth[depth] == 0) continue;
      const int slots = 1 << (max_bits - depth - 1);
      const std::uint64_t cost = keys[first] >> kSymbolBits;
      const std::uint64_t used_slots = static_cast<std::uint64_t>(slots < excess ? slots : excess);
      if (best > 0 && cost * best_slots >= best_cost * used_slots) continue;
      best = depth, best_cost = cost, best_slots = used_slots;
    }
    --leaves_at_depth[best], ++leaves_at_depth[best + 1];
    excess -= 1 << (max_bits - best - 1);
  }
  // The unused slots are a multiple of those of the deepest leaves.
  for (int depth = max_bits; excess < 0;) {
    while (leaves_at_depth[depth] == 0) --depth;
    --leaves_at_depth[depth], ++leaves_at_depth[depth - 1];
    excess += 1 << (max_bits - depth);
  }
  int position = 0;
  for (int depth = max_bits; depth > 0; --depth)
    for (int leaves = leaves_at_depth[depth]; leaves > 0; --leaves)
      depths[position++] = static_cast<std::uint32_t>(depth);
}

/// Code lengths of `used` symbols, at most `max_bits`, from their keys in ascending order: optimal (Huffman)
/// if no code is longer than max_bits, near-optimal otherwise. A single symbol gets one bit. `depths` has
/// `used` elements; the lengths of other symbols are unchanged.
SEPCONV_HOST_DEVICE inline void choose_lengths(const std::uint32_t* keys, int used, int max_bits,
                                               std::uint32_t* depths, std::uint8_t* lengths) {
  for (int i = 0; i < used; ++i) depths[i] = keys[i] >> kSymbolBits;
  if (used == 1) depths[0] = 1;
  if (used > 1) weights_to_depths(depths, used);
  if (used > 1 && depths[0] > static_cast<std::uint32_t>(max_bits))
    limit_depths(keys, depths, used, max_bits);
  constexpr std::uint32_t kSymbol = (1u << kSymbolBits) - 1;
  for (int i = 0; i < used; ++i) lengths[keys[i] & kSymbol] = static_cast<std::uint8_t>(depths[i]);
}

/// Calls set(symbol, code) with the canonical codes of these lengths, lowest bit first as deflate stores
/// them; 0 for symbols without a code.
template <class Set>
SEPCONV_HOST_DEVICE void assign_codes(const std::uint8_t* lengths, int count, const Set& set) {
  std::uint32_t next[kMaxBits + 2] = {};
  for (int symbol = 0; symbol < count; ++symbol) ++next[lengths[symbol] + 1];
  next[1] = 0;  // symbols without a code
  for (int bits = 1; bits < kMaxBits + 2; ++bits) next[bits] = (next[bits] + next[bits - 1]) << 1;
  // next[b] is now the first code of b bits (RFC 1951, 3.2.2).
  for (int symbol = 0; symbol < count; ++symbol) {
    const unsigned bits = lengths[symbol];
    std::uint32_t code = bits == 0 ? 0 : next[bits]++;
    code = (code & 0x5555u) << 1 | (code >> 1 & 0x5555u);
    code = (code & 0x3333u) << 2 | (code >> 2 & 0x3333u);
    code = (code & 0x0F0Fu) << 4 | (code >> 4 & 0x0F0Fu);
    code = (code & 0x00FFu) << 8 | (code >> 8 & 0x00FFu);
    set(symbol, code >> (16 - bits));
  }
}

}  // namespace sepconv::deflate
