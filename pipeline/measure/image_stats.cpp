// image_stats(): run() with an empty chain feeds sinks that count and store no pixels. Reading overlaps with
// counting, and the memory ceiling applies.

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/view_check.hpp"
#include "io/flat/row_pieces.hpp"
#include "kernels/pointwise/pointwise.hpp"
#include "pipeline/measure/stats_passes.hpp"

namespace sepconv {

namespace {

/// The source with missing pixels replaced by NaN.
class MarkingReader final : public Reader {
 public:
  MarkingReader(Reader& source, const MissingPixels& missing)
      : source_(source), layout_(source.layout()), missing_(missing) {
    layout_.coded.reset();  // pixels are marked here
  }
  const ImageSpec& spec() const noexcept override { return source_.spec(); }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return source_.metadata(); }
  std::int64_t buffer_bytes(int concurrency) const override { return source_.buffer_bytes(concurrency); }
  std::int64_t stored_bytes() const noexcept override { return source_.stored_bytes(); }
  std::int64_t changed_ns() const noexcept override { return source_.changed_ns(); }
  void read(const Rect& rect, const PixelView& out, Executor& executor) override {
    source_.read(rect, out, executor);
    const Arithmetic arithmetic = out.type == PixelType::f64 ? Arithmetic::f64 : Arithmetic::f32;
    for_each_row_piece(rect.rows, out.row_bytes(), executor, [&](std::int64_t first, std::int64_t count) {
      const PixelView piece = out.crop({first, 0, count, out.extent.cols});
      mark_missing(missing_, piece, arithmetic);
    });
  }

 private:
  Reader& source_;
  SourceLayout layout_;
  const MissingPixels& missing_;
};

std::vector<ChannelStats> stats_of(Reader& source, const RunOptions& options, const MissingPixels& missing,
                                   bool histogram) {
  return is_floating(source.spec().type) ? floating_stats(source, options, histogram)
                                         : integer_stats(source, options, missing);
}

}  // namespace

std::vector<ChannelStats> image_stats(Reader& source, const RunOptions& options, bool histogram) {
  check_image("the image to measure", source.spec());
  if (!options.devices.empty())
    throw InvalidArgument("statistics are computed on the CPU; leave PlanOptions::devices out");
  RunOptions resolved = options;
  resolved.choose_device = false;
  const MissingPixels missing = missing_pixels(source, Chain(), std::exchange(resolved.missing, {}));
  if (missing.none() || !is_floating(source.spec().type))
    return stats_of(source, resolved, missing, histogram);
  MarkingReader marked(source, missing);
  std::vector<ChannelStats> stats = stats_of(marked, resolved, {}, histogram);
  for (ChannelStats& channel : stats) channel.missing_count = std::exchange(channel.nan_count, 0);
  return stats;
}

}  // namespace sepconv
