#include "pipeline/run/apply.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/count_text.hpp"
#include "core/error.hpp"
#include "core/memory.hpp"
#include "core/view_check.hpp"
#include "pipeline/chain/graph_tile.hpp"
#include "pipeline/chain/wrap.hpp"
#include "pipeline/job/missing_pixels.hpp"
#include "pipeline/machine/thread_pool.hpp"
#include "pipeline/run/resident_operands.hpp"

namespace sepconv {
namespace {

/// A reader that has only the spec of an image in memory, for planning. It reads nothing.
class SourceShape final : public Reader {
 public:
  explicit SourceShape(const ImageSpec& spec) : spec_(spec) {}
  const ImageSpec& spec() const noexcept override { return spec_; }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return metadata_; }
  std::int64_t buffer_bytes(int) const override { return 0; }
  void read(const Rect&, const PixelView&, Executor&) override {}

 private:
  ImageSpec spec_;
  SourceLayout layout_;
  Metadata metadata_;
};

/// A writer that has only the spec of a result, for planning. It writes nothing.
class ResultShape final : public Writer {
 public:
  explicit ResultShape(const ImageSpec& spec) : spec_(spec) {}
  const ImageSpec& spec() const noexcept override { return spec_; }
  const SinkLayout& layout() const noexcept override { return layout_; }
  std::int64_t buffer_bytes(int) const override { return 0; }
  void write(const Rect&, const ConstPixelView&, Executor&) override {}
  void finish() override {}

 private:
  ImageSpec spec_;
  SinkLayout layout_;
};

/// A result of at least this many bytes does not fit in most caches, so it is stored past them.
constexpr std::int64_t kPastCachesBytes = std::int64_t{32} << 20;

/// Minimum work per thread, in multiply-adds, with 8 multiply-adds per byte moved: half a millisecond with
/// AVX2.
constexpr double kThreadWork = 16e6;

/// Number of threads that the work justifies.
double justified_threads(double operations, const ConstRegion& in, const Region& out) {
  const auto bytes =
      static_cast<double>(in.rect.rows * in.pixels.row_bytes() + out.rect.rows * out.pixels.row_bytes());
  return (operations + 8 * bytes) / kThreadWork;
}

/// Number of threads to plan with. Small work uses 1, because querying the processor count takes longer.
int threads_to_plan(const Chain& chain, const ImageSpec& source, const ConstRegion& in, const Region& out,
                    const ApplyOptions& options) {
  if (options.executor != nullptr) return options.executor->concurrency();
  if (options.threads != 0) return options.threads;
  return justified_threads(tile_operations(Graph(chain, source), out.rect.extent()), in, out) < 1.5 ? 1 : 0;
}

/// A plan with one band as large as the part. Only its tile size is used; nothing is copied.
Plan plan_of(const Chain& chain, const ImageSpec& source, const ImageSpec& result, const Rect& part,
             int threads, const ApplyOptions& options) {
  PlanOptions plan_options;
  plan_options.max_memory_bytes = std::numeric_limits<std::int64_t>::max();
  plan_options.threads = threads;
  plan_options.slots = 1;
  plan_options.band_rows = part.rows;
  plan_options.band_cols = part.cols;
  plan_options.tile = options.tile;
  plan_options.arithmetic = options.arithmetic;
  return plan(SourceShape(source), ResultShape(result), chain, plan_options);
}

/// Number of threads for these tiles, at most one per tile and fewer for little work.
int useful_threads(const Plan& plan, std::size_t tiles, const ConstRegion& in, const Region& out) {
  const double fraction =
      static_cast<double>(out.rect.area()) / static_cast<double>(plan.result().extent.area());
  const double max_threads = std::min(static_cast<double>(plan.threads), static_cast<double>(tiles));
  return static_cast<int>(std::lround(
      std::clamp(justified_threads(plan.operations * fraction, in, out), 1.0, std::max(max_threads, 1.0))));
}

void compute(const Plan& plan, const ConstRegion& in, Region out, const ApplyOptions& options) {
  out.past_caches = out.pixels.extent.rows * out.pixels.row_bytes() >= kPastCachesBytes;
  const std::vector<Rect> tiles = tiles_of(out.rect, plan.tile);
  const int worker_count = options.executor != nullptr ? options.executor->concurrency()
                                                       : useful_threads(plan, tiles.size(), in, out);
  std::pmr::memory_resource* memory = options.memory != nullptr ? options.memory : page_resource();
  std::vector<Extent> needed;
  for (const Rect& tile : tiles) plan.graph.include_needed_extents(tile, needed);
  const std::int64_t scratch =
      tile_scratch_bytes(plan.graph, needed, plan.arithmetic) + gather_scratch_bytes(plan.graph, tiles);
  std::vector<Worker> workers;
  for (int worker = 0; worker < worker_count; ++worker)
    workers.emplace_back(Buffer(scratch, memory), options.stop);
  SerialExecutor serial;
  const ResidentOperands operands(plan.chain, plan.specs, out.rect,
                                  options.executor != nullptr ? *options.executor : serial);
  const Graph graph(operands.bound(plan.chain), plan.source());
  const auto compute_one = [&](std::int64_t index, int worker) {
    compute_tile(graph, plan.arithmetic, in, out.crop(tiles[static_cast<std::size_t>(index)]),
                 workers[static_cast<std::size_t>(worker)]);
  };
  const auto count = static_cast<std::int64_t>(tiles.size());
  if (options.executor != nullptr) return options.executor->for_each(count, compute_one);
  if (worker_count == 1) return serial.for_each(count, compute_one);
  ThreadPool(ThreadPool::ThreadLimit{.threads = worker_count}, options.stop).for_each(count, compute_one);
}

void check_inside(const std::string& name, const Rect& part, Extent image) {
  if (Rect::whole(image).contains(part)) return;
  throw InvalidArgument(fmt::format("{} is at {}, which reaches beyond its image of {} rows x {} columns",
                                    name, to_string(part), image.rows, image.cols));
}

std::string channels_text(std::int64_t channels, PixelType type) {
  return count_text(channels, fmt::format("{} channel", name_of(type)));
}

template <class Byte>
void check_part(const std::string& name, const ImageSpec& whole, const BasicRegion<Byte>& part) {
  check_view(name, part.pixels);
  const bool same_type = part.pixels.channels == whole.channels && part.pixels.type == whole.type;
  if (!same_type || part.image != whole.extent) {
    throw InvalidArgument(fmt::format(
        "{} belongs to an image of {} rows x {} columns of {}; one of {} rows x {} columns of {} is asked "
        "for",
        name, part.image.rows, part.image.cols, channels_text(part.pixels.channels, part.pixels.type),
        whole.extent.rows, whole.extent.cols, channels_text(whole.channels, whole.type)));
  }
  if (part.pixels.extent != part.rect.extent()) {
    throw InvalidArgument(fmt::format("{} has {} rows x {} columns of pixels for the rectangle {}", name,
                                      part.pixels.extent.rows, part.pixels.extent.cols,
                                      to_string(part.rect)));
  }
}

}  // namespace

void check_parts(const Chain& chain, const ImageSpec& source, const ImageSpec& result, const ConstRegion& in,
                 const Region& out, std::string_view owner) {
  const std::string input = fmt::format("the {}input", owner), output = fmt::format("the {}result", owner);
  check_part(input, source, in);
  check_part(output, result, out);
  check_apart(input, in.pixels, output, out.pixels);
  check_inside(output, out.rect, out.image);
  const Rect needed = chain.input_for(out.rect, source);
  // With a periodic border, the input may include pixels beyond the image's edges.
  if (Rect::whole(in.image).contains(needed)) check_inside(input, in.rect, in.image);
  if (!in.rect.contains(Rect::whole(in.image)) && !find_repetition(in.rect, needed, in.image))
    throw InvalidArgument(fmt::format("{} contains {}, but {} of the result needs {}; give at least that",
                                      input, to_string(in.rect), to_string(out.rect), to_string(needed)));
}

void apply(const Chain& chain, const ConstRegion& in, const Region& out, const ApplyOptions& options) {
  check_view("the input", in.pixels), check_view("the result", out.pixels);
  const ImageSpec source{in.image, in.pixels.channels, in.pixels.type};
  const ImageSpec result = chain.result_spec(source);
  check_parts(chain, source, result, in, out);
  const int threads = threads_to_plan(chain, source, in, out, options);
  compute(plan_of(chain, source, result, out.rect, threads, options), in, out, options);
}

void apply(const Chain& chain, const ConstPixelView& in, const PixelView& out, const ApplyOptions& options) {
  apply(chain, ConstRegion::whole(in), Region::whole(out), options);
}

}  // namespace sepconv
