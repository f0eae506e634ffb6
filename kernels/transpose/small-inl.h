// Transposition of many small matrices: by one byte shuffle, or in vector registers into a buffer of results.
// Included once per Highway target.
#if defined(SEPCONV_TRANSPOSE_SMALL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_TRANSPOSE_SMALL_INL_H
#undef SEPCONV_TRANSPOSE_SMALL_INL_H
#else
#define SEPCONV_TRANSPOSE_SMALL_INL_H
#endif

#include "kernels/transpose/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Consecutive matrices without gaps, rows x cols elements each.
struct SmallMatrices {
  std::int64_t items = 0;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t element_bytes = 1;
  const std::byte* in = nullptr;
  std::byte* out = nullptr;
  bool past_caches = false;

  std::int64_t item_bytes() const { return rows * cols * element_bytes; }
};

#if HWY_TARGET != HWY_SCALAR

/// Byte shuffle of as many whole matrices as fit into a vector, or of one larger matrix: for each vector of
/// the result and each 16-byte block of the input, a row of byte indices within that block.
struct ByteOrder {
  static constexpr std::int64_t kMax = 128;   ///< maximum bytes of the matrices
  static constexpr std::int64_t kLanes = 64;  ///< maximum lanes of a vector
  std::int64_t bytes = 0;                     ///< bytes of the matrices
  std::int64_t in_blocks = 0;
  std::int64_t out_vectors = 0;
  alignas(64) std::uint8_t indices[kMax / 16 * kMax];  ///< an index of 0x80 or more selects no byte

  ByteOrder(const SmallMatrices& small, std::int64_t lanes) {
    const std::int64_t item_bytes = small.item_bytes();
    bytes = std::max<std::int64_t>(1, lanes / item_bytes) * item_bytes;
    in_blocks = (bytes + 15) / 16;
    out_vectors = (bytes + lanes - 1) / lanes;
    std::fill(indices, indices + in_blocks * out_vectors * lanes, std::uint8_t(0x80));
    for (std::int64_t to = 0; to < bytes; ++to) {
      const std::int64_t element = to % item_bytes / small.element_bytes;
      const std::int64_t from_element = element % small.rows * small.cols + element / small.rows;
      const std::int64_t from =
          to / item_bytes * item_bytes + from_element * small.element_bytes + to % small.element_bytes;
      indices[(to / lanes * in_blocks + from / 16) * lanes + to % lanes] = std::uint8_t(from % 16);
    }
  }
};

template <class D>
HWY_INLINE void permute_bytes(D d, const ByteOrder& order, const std::uint8_t* in, std::uint8_t* out) {
  const auto lanes = std::int64_t(hn::Lanes(d));
  const std::uint8_t* indices = order.indices;
  for (std::int64_t vector = 0; vector < order.out_vectors; ++vector) {
    auto result = hn::Zero(d);
    for (std::int64_t block = 0; block < order.in_blocks; ++block, indices += lanes) {
      const auto from = hn::LoadDup128(d, in + block * 16);
      result = hn::Or(result, hn::TableLookupBytesOr0(from, hn::Load(d, indices)));
    }
    hn::StoreU(result, d, out + vector * lanes);
  }
}

/// Transposes matrices small enough for a ByteOrder. Whole vectors are read and written; their last bytes
/// belong to the next matrix. The last matrices are processed in buffers.
inline void transpose_by_bytes(const SmallMatrices& small) {
  constexpr std::int64_t kRun = 8192;
  const hn::ScalableTag<std::uint8_t> d;
  const ByteOrder order(small, std::int64_t(hn::Lanes(d)));
  const std::int64_t end = small.items * small.item_bytes();
  const std::int64_t run = kRun / order.bytes * order.bytes;
  alignas(64) std::uint8_t staged[kRun + 2 * ByteOrder::kMax];
  alignas(64) std::uint8_t last[2 * ByteOrder::kMax] = {};
  for (std::int64_t first = 0; first < end; first += run) {
    const std::int64_t count = std::min(run, end - first);
    const auto* const in = reinterpret_cast<const std::uint8_t*>(small.in) + first;
    std::int64_t at = 0;
    for (; at < count && first + at + 2 * ByteOrder::kMax <= end; at += order.bytes)
      permute_bytes(d, order, in + at, staged + at);
    for (; at < count; at += order.bytes) {
      std::memcpy(last, in + at, std::size_t(std::min(order.bytes, count - at)));
      permute_bytes(d, order, last, staged + at);
    }
    store_bytes(reinterpret_cast<const std::byte*>(staged), count, small.out + first, small.past_caches);
  }
}

inline bool fits_byte_order(const SmallMatrices& small) {
  const auto lanes = std::int64_t(hn::Lanes(hn::ScalableTag<std::uint8_t>()));
  return small.item_bytes() <= std::clamp<std::int64_t>(2 * lanes, 64, ByteOrder::kMax);
}

#endif  // HWY_SCALAR

/// Transposes matrices of up to half a stage's bytes: as many as fit into the buffer, which is then copied to
/// memory.
inline void transpose_by_stages(const SmallMatrices& small, StageTile stage) {
  alignas(64) std::byte staged[Tuning::kStaged / 2 + Tuning::kLine];
  const std::int64_t item_bytes = small.item_bytes();
  const std::int64_t capacity = Tuning::kStaged / 2 / item_bytes;
  const std::byte* in = small.in;
  Tile tile{.rows_data = &in, .rows = small.rows, .cols = small.cols, .element_bytes = small.element_bytes};
  tile.in_pitch = small.cols * small.element_bytes;
  tile.staged_pitch = small.rows * small.element_bytes;
  std::byte* out = small.out;
  for (std::int64_t item = 0; item < small.items; item += capacity) {
    const std::int64_t items = std::min(capacity, small.items - item);
    tile.staged = staged;
    for (std::int64_t i = 0; i < items; ++i, in += item_bytes, tile.staged += item_bytes) stage(tile);
    store_bytes(staged, items * item_bytes, out, small.past_caches);
    out += items * item_bytes;
  }
}

/// Transposes consecutive matrices of a few elements.
template <int kWord, int kBytes>
void transpose_tiny(const Panel& panel, std::int64_t items, std::int64_t in_item_bytes,
                    std::int64_t out_item_bytes) {
  const std::int64_t bytes = kBytes > 0 ? kBytes : panel.element_bytes;
  const std::byte* in = panel.in.at(0);
  std::byte* out = panel.out.at(0);
  for (std::int64_t item = 0; item < items; ++item, in += in_item_bytes, out += out_item_bytes) {
    for (std::int64_t col = 0; col < panel.cols; ++col) {
      const std::byte* from = in + col * bytes;
      std::byte* to = out + col * panel.out.row_bytes;
      for (std::int64_t row = 0; row < panel.rows; ++row, from += panel.in.row_bytes, to += bytes) {
        copy_element<kWord, kBytes>(from, bytes, to);
      }
    }
  }
}

using TransposeTiny = void (*)(const Panel&, std::int64_t, std::int64_t, std::int64_t);

/// Returns null for elements that are copied efficiently as panels.
TransposeTiny tiny_transpose_for(std::int64_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return transpose_tiny<1, 1>;
    case 2:
      return transpose_tiny<2, 2>;
    case 4:
      return transpose_tiny<4, 4>;
    case 8:
      return transpose_tiny<8, 8>;
    default:
      break;
  }
  if (element_bytes == 3) return transpose_tiny<2, 0>;
  if (element_bytes < 8) return transpose_tiny<4, 0>;
  if (element_bytes < 16) return transpose_tiny<8, 0>;
  return element_bytes <= 32 ? transpose_tiny<16, 0> : nullptr;
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SEPCONV_TRANSPOSE_SMALL_INL_H
