// What a way to cut an image costs, in memory and in work: the model behind plan(). Internal to the
// planner.
#pragma once

#include "pipeline/plan/device_codecs.hpp"
#include "pipeline/plan/plan.hpp"

namespace sepconv {

/// plan() by other options than are asked for: of a plan that was stored, whose cut and devices are known.
Plan plan_cut(const Reader& source, const Writer& sink, const Chain& chain, const PlanOptions& asked,
              const PlanOptions& cut);

/// Everything about a run that is settled before the cut is chosen.
struct PlanProblem {
  const Chain& chain;
  std::vector<ImageSpec> specs;
  Arithmetic arithmetic;
  const Reader& source;
  const Writer& sink;
  const MachineModel& machine;
  std::int64_t
      max_arena_bytes;  ///< per thread; tiles whose scratch is larger are taken only if no tile's is smaller
  int devices = 0;      ///< GPUs; 0: the CPU computes
  Rect region{};        ///< as in Plan
  bool turned = false;  ///< as in Plan
  Extent item{};
  DeviceCodecs codecs{};                  ///< what of coding the GPUs do
  std::vector<SecondaryInput> seconds{};  ///< besides the chain's stages
  std::int64_t buffered_bytes = 0;        ///< as in Plan
  double sum_length =
      0;  ///< of products with matrices, all stages together: they read both operands once a tile
  bool whole_columns =
      false;  ///< any part of the result needs columns of a product's input from top to bottom

  /// Sets `turned`, `item`, `sum_length` and `whole_columns` from the chain.
  void find_turn();

  /// Reads end at multiples of this many rows, so that no block is decoded twice.
  std::int64_t read_unit_rows() const { return read_unit_rows(source.layout()); }
  static std::int64_t read_unit_rows(const SourceLayout& layout);
  /// Bands end at multiples of this.
  Extent band_unit() const;
  /// A band in the middle, where nothing is cut off a halo.
  Rect middle(Extent band) const;
  /// What a part of the result is of the source, turned and scaled, but without a halo.
  Extent own(Extent part) const;
  /// The other way round, at least a pixel, and never more than the part of the source.
  Extent job_manifest(Extent part) const;
  /// Tiles are multiples of this many columns of the result, or as wide as the band.
  std::int64_t tile_cols() const;
  /// Rows of the source that a band needs beyond its own number.
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
  std::vector<std::int64_t> slot_secondary_bytes{};  ///< a buffer of a slot for each second image
  Extent max_source_extent{};                        ///< as in Plan
  std::int64_t arena_bytes = 0;
  MemoryUse memory;
  DeviceMemoryUse device_memory;
  std::int64_t bytes_read = 0;
  bool stores_rows = false;  ///< as in Plan
  double operations = 0;
  double piece_bytes = 0;      ///< as in BandTraffic
  double compute_seconds = 0;  ///< of all bands, in f32
  double cost = 0;             ///< estimated seconds; for comparing candidates of one device only
};

/// The best tile for a band: little recomputation, scratch that stays in the cache, work for every thread.
/// `forced` wins if not empty.
Extent choose_tile(const PlanProblem& problem, Extent band, int threads, Extent forced);

/// What a band costs to read and write, whoever computes it.
struct BandTraffic {
  Extent band;
  std::int64_t bytes_read = 0;  ///< as in Plan; an estimate where bands are very many
  double piece_bytes = 0;       ///< what short pieces cost, as this many bytes moved
  bool stores_rows = false;     ///< as in Plan
};
BandTraffic traffic_of(const PlanProblem& problem, Extent band);

/// Evaluates a candidate completely, for the CPU.
Tiling evaluate(const PlanProblem& problem, const BandTraffic& traffic, Extent tile, int slots, int threads);

/// The same for GPUs, each of which computes a band as a whole.
Tiling evaluate_on_devices(const PlanProblem& problem, const BandTraffic& traffic, int slots, int threads);

/// Reading and decoding this many bytes of pixels, in parts like this one.
double read_seconds(const MachineModel& machine, const SourceLayout& layout, std::int64_t bytes, Extent part,
                    int threads);

/// What a run of this plan should take, but for a GPU's context. `plan` has everything else, from `cut`.
Prediction predict(const PlanProblem& problem, const Plan& plan, const Tiling& cut);

}  // namespace sepconv
