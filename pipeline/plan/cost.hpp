// Memory and time of a tiling: the cost model of plan(). Internal to the planner.
#pragma once

#include "pipeline/plan/device_codecs.hpp"
#include "pipeline/plan/plan.hpp"

namespace sepconv {

/// plan() with the tiling and devices of a stored plan, `cut`, in place of `asked`.
Plan plan_cut(const Reader& source, const Writer& sink, const Chain& chain, const MissingPixels& missing,
              const PlanOptions& asked, const PlanOptions& cut);

/// Everything about a run that is known before the tiling is chosen.
struct PlanProblem {
  const Chain& chain;
  const Graph& graph;  ///< of the chain
  std::vector<ImageSpec> specs;
  Arithmetic arithmetic;
  const Reader& source;
  const Writer& sink;
  const MachineModel& machine;
  std::int64_t max_arena_bytes;  ///< per thread; tiles with larger scratch are used only if no tile has less
  int devices = 0;               ///< number of GPUs; 0: the CPU computes
  Rect region{};                 ///< as in Plan
  bool with_cpu = false;         ///< as in Plan
  double context_seconds = 0;    ///< to create the GPUs' contexts, with `with_cpu`
  bool turned = false;           ///< as in Plan
  Extent item{};
  DeviceCodecs codecs{};                  ///< coding done by the GPUs
  std::vector<SecondaryInput> seconds{};  ///< second images of the chain's stages
  std::int64_t buffered_bytes = 0;        ///< as in Plan
  double sum_length = 0;       ///< summed length of all matrix products: both operands are read once per tile
  bool whole_columns = false;  ///< any part of the result needs whole columns of a product's input

  /// Sets `turned`, `item`, `sum_length` and `whole_columns` from the chain.
  void find_transposes();

  /// Reads end at multiples of this many rows, so that no block is decoded twice.
  std::int64_t read_unit_rows() const { return read_unit_rows(source.layout()); }
  static std::int64_t read_unit_rows(const SourceLayout& layout);
  /// Bands end at multiples of this extent.
  Extent band_unit() const;
  /// A band in the middle, whose halo is not clipped.
  Rect middle(Extent band) const;
  /// Extent in the source of a part of the result, transposed and scaled, without halo.
  Extent source_extent(Extent part) const;
  /// The inverse: extent in the result of a part of the source, at least one pixel and at most that part.
  Extent result_extent(Extent part) const;
  /// Tiles are multiples of this many result columns, or as wide as the band.
  std::int64_t tile_cols() const;
  /// Whether rows are planes of a volume: parts of a row are then rows of planes.
  bool is_volume() const { return tile_cols() > 1; }
  /// Source rows that a band needs beyond its own rows.
  std::int64_t halo_rows(Extent band) const;
};

/// One candidate: how the image is cut and what follows from it.
struct Tiling {
  Extent band;
  Extent tile;
  int slots = 1;
  int threads = 1;
  std::int64_t slot_input_bytes = 0;
  std::int64_t slot_output_bytes = 0;
  std::vector<std::int64_t> slot_secondary_bytes{};  ///< per second image, the bytes of a slot's buffer
  Extent max_source_extent{};                        ///< as in Plan
  std::int64_t arena_bytes = 0;
  MemoryUse memory;
  DeviceMemoryUse device_memory;
  std::int64_t bytes_read = 0;
  bool kernel_stores_rows = false;  ///< as in Plan
  double operations = 0;
  double piece_bytes = 0;      ///< as in BandTraffic
  double compute_seconds = 0;  ///< all bands on one device, in f32; on the CPU if it computes
  double device_seconds = 0;   ///< the same on a GPU, if the CPU computes, too
  double cost = 0;             ///< estimated seconds; only comparable between candidates of one device
};

/// The best tile for a band: little recomputation, scratch within the cache and max_arena_bytes, work for
/// every thread. Returns `forced` unless it is empty.
Extent choose_tile(const PlanProblem& problem, Extent band, int threads, std::int64_t max_arena_bytes,
                   Extent forced);

/// Read and write cost of bands, independent of the computing device.
struct BandTraffic {
  Extent band;
  std::int64_t bytes_read = 0;      ///< as in Plan; estimated if there are very many bands
  double piece_bytes = 0;           ///< overhead of short pieces, in equivalent bytes
  bool kernel_stores_rows = false;  ///< as in Plan
};
BandTraffic traffic_of(const PlanProblem& problem, Extent band);

/// Evaluates a candidate for the CPU.
Tiling evaluate(const PlanProblem& problem, const BandTraffic& traffic, Extent tile, int slots, int threads);

/// The same for GPUs; each computes whole bands.
Tiling evaluate_on_devices(const PlanProblem& problem, const BandTraffic& traffic, int slots, int threads);

/// The same for the CPU and GPUs that share bands of this size.
Tiling evaluate_together(const PlanProblem& problem, const BandTraffic& traffic, Extent tile, int slots,
                         int threads);

/// Seconds to read and decode `bytes` of pixels in parts of this extent.
double read_seconds(const MachineModel& machine, const SourceLayout& layout, std::int64_t bytes, Extent part,
                    int threads);

/// Predicted time of a run of `plan`, without creating a GPU context. All other fields of `plan` must be set
/// from `cut`.
Prediction predict(const PlanProblem& problem, const Plan& plan, const Tiling& cut);

}  // namespace sepconv
