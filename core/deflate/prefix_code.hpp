// Prefix codes as deflate has them (RFC 1951, 3.2.2): canonical, told by their lengths alone. The same source
// for the CPU's coder and a GPU's, whose bytes are the same.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define SEPCONV_HOST_DEVICE __host__ __device__
#else
#define SEPCONV_HOST_DEVICE
#endif

namespace sepconv::deflate {

inline constexpr int kMaxSymbols = 288;
inline constexpr int kSymbolBits = 9;
/// No code has more.
inline constexpr int kMaxBits = 15;

/// What symbols that are counted are sorted by: their counts, which sum to less than 2^23.
SEPCONV_HOST_DEVICE inline std::uint32_t symbol_key(std::uint32_t count, std::uint32_t symbol) {
  return count << kSymbolBits | symbol;
}

/// Turns weights in ascending order into the depths of their leaves, deepest first (in-place method of Moffat
/// and Katajainen, 1995). At least two.
SEPCONV_HOST_DEVICE inline void weights_to_depths(std::uint32_t* nodes, int n) {
  // Inner nodes take the places of the weights that they join; then parents, then depths.
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

/// Makes leaves that lie too deep fit, which brings them up: others go down for it, one after the other where
/// it costs the fewest bits for the room it makes. Leaves are in ascending order of their keys.
SEPCONV_HOST_DEVICE inline void limit_depths(const std::uint32_t* keys, std::uint32_t* depths, int n,
                                             int max_bits) {
  int leaves_at_depth[kMaxBits + 1] = {};
  std::int32_t excess = -(1 << max_bits);  // in leaves of the largest depth
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
  // Room that is left is a multiple of what the deepest take.
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

/// Bits of the codes of `used` symbols, at most `max_bits`, from their keys in ascending order: as short in
/// all as Huffman's where none is longer than that, near the shortest otherwise. One symbol gets one bit.
/// `depths` has room for as many; lengths of other symbols stay as they are.
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

/// Calls set(symbol, code) with the codes of these lengths, lowest bit first as deflate writes them; 0 for
/// symbols without one.
template <class Set>
SEPCONV_HOST_DEVICE void assign_codes(const std::uint8_t* lengths, int count, const Set& set) {
  std::uint32_t next[kMaxBits + 2] = {};
  for (int symbol = 0; symbol < count; ++symbol) ++next[lengths[symbol] + 1];
  next[1] = 0;  // symbols without a code
  for (int bits = 1; bits < kMaxBits + 2; ++bits) next[bits] = (next[bits] + next[bits - 1]) << 1;
  // next[b] is now the first code of b bits, by the rule of RFC 1951.
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
