#include "pipeline/plan/tiling_search.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "pipeline/chain/graph_tile.hpp"
#include "pipeline/plan/buffer_sizes.hpp"
#include "pipeline/plan/candidates.hpp"

namespace sepconv {
namespace {

struct Search {
  std::optional<Tiling> best;
  MinMemory min_memory;
  std::vector<Tiling> plausible;  ///< fit according to their first, middle and last band
  std::vector<Tiling> too_large;  ///< too large according to those bands; all their bands need at least as
                                  ///< much

  void offer(const Tiling& cut, const Ceilings& ceilings) {
    const bool may_fit = cut.memory.total() <= ceilings.host && cut.device_memory.total() <= ceilings.device;
    (may_fit ? plausible : too_large).push_back(cut);
  }

  /// Selects the cheapest candidate all of whose bands fit.
  void choose_best(const PlanProblem& problem, const Ceilings& ceilings) {
    std::ranges::stable_sort(plausible, {}, &Tiling::cost);
    for (Tiling& cut : plausible) {
      if (best && best->cost <= cut.cost) break;
      set_sizes(problem, cut, Sampling::all);
      if (min_memory.fits(cut.memory, cut.device_memory, ceilings)) best = cut;
    }
    plausible.clear();
  }

  /// Throws OutOfMemory with a sufficient ceiling, from all bands of the smallest candidates.
  [[noreturn]] void fail(const PlanProblem& problem, const Ceilings& ceilings) {
    std::ranges::stable_sort(too_large, {}, [](const Tiling& cut) { return cut.memory.total(); });
    for (Tiling& cut : too_large) {
      if (!min_memory.may_lower_min(cut.memory, cut.device_memory, ceilings)) continue;
      set_sizes(problem, cut, Sampling::all);
      min_memory.fits(cut.memory, cut.device_memory, ceilings);
    }
    min_memory.fail(ceilings, "source, chain and sink");
  }
};

/// A tiling is useful if at most half of its work is repeated.
bool is_useful(const PlanProblem& problem, const Tiling& cut) {
  return cut.operations <= 2 * whole_operations(problem);
}

using Candidates = std::vector<std::vector<BandTraffic>>;

Candidates candidates_of(const PlanProblem& problem, const PlanOptions& options) {
  Candidates candidates;
  for (const std::vector<Extent>& group : candidate_bands(problem, options)) {
    candidates.emplace_back();
    for (const Extent band : group) candidates.back().push_back(traffic_of(problem, band));
  }
  return candidates;
}

/// Tiles to try for a band. Those of a volume may need as much memory as its bands: smaller ones are tried,
/// too.
std::vector<Extent> candidate_tiles(const PlanProblem& problem, Extent band, int threads, Extent forced) {
  constexpr std::int64_t kSmallestFraction = 8;
  const std::int64_t max_bytes = problem.max_arena_bytes;
  const std::int64_t min_bytes = problem.is_volume() ? max_bytes / kSmallestFraction : max_bytes;
  std::vector<Extent> tiles;
  for (std::int64_t bytes = max_bytes; bytes >= min_bytes; bytes /= 2) {
    const Extent tile = choose_tile(problem, band, threads, bytes, forced);
    if (tiles.empty() || tile != tiles.back()) tiles.push_back(tile);
  }
  return tiles;
}

Search search(const PlanProblem& problem, const Candidates& candidates, const PlanOptions& options,
              int threads, const Ceilings& ceilings) {
  std::vector<int> slot_counts{options.slots};
  if (options.slots == 0) slot_counts = {kPreferredSlots, 2, 1};
  Search found;
  for (const std::vector<BandTraffic>& group : candidates) {
    for (const BandTraffic& traffic : group) {
      if (problem.devices > 0 && !problem.with_cpu) {
        for (const int slots : slot_counts)
          found.offer(evaluate_on_devices(problem, traffic, slots, threads), ceilings);
        continue;
      }
      for (const Extent tile : candidate_tiles(problem, traffic.band, threads, options.tile))
        for (const int slots : slot_counts)
          found.offer(problem.with_cpu ? evaluate_together(problem, traffic, tile, slots, threads)
                                       : evaluate(problem, traffic, tile, slots, threads),
                      ceilings);
    }
    found.choose_best(problem, ceilings);
    // If whole columns are needed, narrower bands of the result's full height also read nothing twice. Those of
    // a volume read some rows of planes twice instead of whole planes.
    const bool narrow_bands_suffice =
        (problem.whole_columns || problem.is_volume()) && options.band_rows == 0;
    const bool full_width = group.front().band.cols == problem.region.cols && !narrow_bands_suffice;
    if (full_width && found.best && is_useful(problem, *found.best)) break;
  }
  return found;
}

}  // namespace

// Fewer threads need less scratch: halves their number until a tiling fits. If none does, uses tiles with
// minimum scratch, so that the ceiling in the error is sufficient: a larger ceiling would allow more scratch.
Tiling best_cut(PlanProblem& problem, const PlanOptions& options, int threads, const Ceilings& ceilings) {
  const Candidates candidates = candidates_of(problem, options);
  for (;;) {
    Search found = search(problem, candidates, options, threads, ceilings);
    if (found.best) return *found.best;
    if (threads > 1) {
      threads /= 2;
    } else if (problem.max_arena_bytes > kMinArenaBytes) {
      problem.max_arena_bytes = kMinArenaBytes;
    } else {
      found.fail(problem, ceilings);
    }
  }
}

double whole_operations(const PlanProblem& problem) {
  return tile_operations(problem.graph, problem.region.extent(),
                         problem.devices > 0 && !problem.with_cpu ? Scratch::device : Scratch::host);
}

}  // namespace sepconv
