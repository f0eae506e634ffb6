// Both passes of a small kernel over integers, block by block. Included once per target.
#if defined(SEPCONV_CONV_FEW_BY_FEW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_CONV_FEW_BY_FEW_INL_H
#undef SEPCONV_CONV_FEW_BY_FEW_INL_H
#else
#define SEPCONV_CONV_FEW_BY_FEW_INL_H
#endif

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "core/image.hpp"
#include "core/worker.hpp"
#include "kernels/conv/border.hpp"
#include "kernels/conv/padded_row.hpp"
#include "kernels/conv/passes-inl.h"
#include "kernels/conv/small_kernel_fused.hpp"
#include "kernels/conv/small_kernel_fused_block-inl.h"
#include "kernels/conv/strips.hpp"
#include "kernels/conv/write_combiner-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET <= HWY_AVX3

/// Computes the pixels of `out`. Needs supports_small_kernel().
template <class T>
class SmallKernelFilter {
 public:
  SmallKernelFilter(const float* row_taps, const float* col_taps, std::int64_t radius, const Border& border,
                    const ConstRegion& in, const Region& out)
      : row_taps_(row_taps),
        col_taps_(col_taps),
        radius_(radius),
        border_(border),
        in_(in),
        out_(out),
        channels_(in.pixels.channels),
        columns_(out.rect.col, out.rect.cols, radius, in.image.cols),
        pitch_(out.pixels.pitch_bytes / std::int64_t(sizeof(T))),
        past_caches_(stores_past_caches(out, out.pixels.type)),
        combines_lines_(out.past_caches && !past_caches_ && has_elements(out)),
        filter_(small_kernel_for<T>(radius)) {}

  /// Throws Cancelled when `worker` is stopped.
  void run(const Worker& worker) {
    const std::int64_t step = SmallKernel::rows(radius_);
    for (std::int64_t row = out_.rect.row; row < out_.rect.row_end(); row += step) {
      worker.throw_if_stopped();
      filter_rows(row, std::min(step, out_.rect.row_end() - row));
    }
  }

 private:
  void filter_rows(std::int64_t row, std::int64_t rows) {
    rows_inside_ = true;
    for (std::int64_t j = 0; j < rows + 2 * radius_; ++j) {
      const std::int64_t image_row = border_index(row - radius_ + j, in_.image.rows, border_.mode);
      window_[j] = image_row < 0 ? nullptr : in_.pixels.template row<T>(image_row - in_.rect.row);
      rows_inside_ = rows_inside_ && image_row >= 0;
    }
    T* const to = out_.pixels.template row<T>(row - out_.rect.row);
    const std::int64_t count = out_.pixels.row_elements();
    const std::int64_t done =
        combines_lines_ ? store_combined_lines(rows, to, count) : store_whole_lines(rows, to, count);
    for_each_block(
        count, SmallKernel::kBlock, [&](std::int64_t i) { filter_block(rows, i, to + i, pitch_, false); },
        done);
  }

  /// Computes blocks whose stores bypass the caches; returns the number of elements of each row done. Only
  /// whole cache lines bypass them, and the first may begin within a block.
  std::int64_t store_whole_lines(std::int64_t rows, T* to, std::int64_t count) {
    if (!past_caches_) return 0;
    std::int64_t i = elements_to_line(to);
    if (i > 0) filter_block(rows, 0, to, pitch_, false);
    for (; i + SmallKernel::kBlock <= count; i += SmallKernel::kBlock)
      filter_block(rows, i, to + i, pitch_, true);
    return i;
  }

  /// The same for rows whose cache lines begin at different columns.
  std::int64_t store_combined_lines(std::int64_t rows, T* to, std::int64_t count) {
    std::int64_t i = 0;
    for (; i + SmallKernel::kBlock <= count; i += SmallKernel::kBlock) {
      filter_block(rows, i, lines_.block(), lines_.kPitch, false);
      lines_.put(i, rows, to, pitch_);
    }
    lines_.end(i - SmallKernel::kBlock, rows, to, pitch_);
    return i;
  }

  void filter_block(std::int64_t rows, std::int64_t i, T* to, std::int64_t pitch, bool past_caches) {
    SmallKernelBlock<T> block{
        window_, i + (columns_.first - in_.rect.col) * channels_, rows, channels_, to, pitch, past_caches};
    if (!rows_inside_ || !inside(i)) {
      gather(rows, i);
      block.window = gathered_window_;
      block.first = i % channels_;
    }
    filter_(row_taps_, col_taps_, block);
  }

  /// Whether all input columns of the block at element i are in the image.
  bool inside(std::int64_t i) const {
    const std::int64_t end = i + SmallKernel::kBlock + 2 * radius_ * channels_;
    return i >= columns_.before() * channels_ && end <= (columns_.before() + columns_.inside()) * channels_;
  }

  /// Copies the input of the block at element i, with its border, beginning at a whole pixel.
  void gather(std::int64_t rows, std::int64_t i) {
    const std::int64_t col = columns_.first + i / channels_;
    const std::int64_t end = columns_.first + ceil_div(i + SmallKernel::kBlock, channels_) + 2 * radius_;
    const auto constant = static_cast<T>(border_.value);
    for (std::int64_t j = 0; j < rows + 2 * radius_; ++j) {
      gathered_window_[j] = gathered_[j];
      if (window_[j] == nullptr) {
        std::fill_n(gathered_[j], (end - col) * channels_, constant);
      } else {
        copy_extended(window_[j] - in_.rect.col * channels_, col, end, in_.image.cols, border_.mode,
                      channels_, constant, gathered_[j]);
      }
    }
  }

  const float *row_taps_, *col_taps_;
  std::int64_t radius_;
  Border border_;
  ConstRegion in_;
  Region out_;
  std::int64_t channels_;
  PaddedColumns columns_;
  std::int64_t pitch_;  ///< of the result, in elements
  bool past_caches_, combines_lines_;
  decltype(small_kernel_for<T>(1)) filter_;
  bool rows_inside_ = true;
  const T* window_[SmallKernel::kMaxWindow];
  const T* gathered_window_[SmallKernel::kMaxWindow];
  WriteCombiner<T> lines_;
  T gathered_[SmallKernel::kMaxWindow][SmallKernel::kBlock + 3 * SmallKernel::kMaxReach];
};

/// Runs the convolution and returns true if supports_small_kernel() and this instruction set profits from it.
inline bool convolve_small_kernel(const SeparableTaps& taps, Taps<float> row, Taps<float> col,
                                  const Border& border, const ConstRegion& in, const Region& out,
                                  const Worker& worker) {
  if (!supports_small_kernel(taps, border, in, out)) return false;
  visit_pixel_type(in.pixels.type, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>)
      SmallKernelFilter<T>(row.data, col.data, taps.row_radius(), border, in, out).run(worker);
  });
  return true;
}

#else

inline bool convolve_small_kernel(const SeparableTaps&, Taps<float>, Taps<float>, const Border&,
                                  const ConstRegion&, const Region&, const Worker&) {
  return false;
}

#endif  // HWY_TARGET

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
