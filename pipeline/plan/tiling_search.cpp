#include "pipeline/plan/tiling_search.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "pipeline/chain/chain_tile.hpp"
#include "pipeline/plan/buffer_sizes.hpp"
#include "pipeline/plan/candidates.hpp"

namespace sepconv {
namespace {

struct Search {
  std::optional<Tiling> best;
  MinMemory least;
  std::vector<Tiling> likely;     ///< fit as far as their first, middle and last band tell
  std::vector<Tiling> too_large;  ///< at least so much, as far as those tell

  void offer(const Tiling& cut, const Ceilings& ceilings) {
    const bool may_fit = cut.memory.total() <= ceilings.host && cut.device_memory.total() <= ceilings.device;
    (may_fit ? likely : too_large).push_back(cut);
  }

  /// Takes the one of least cost that fits with every one of its bands.
  void decide(const PlanProblem& problem, const Ceilings& ceilings) {
    std::ranges::stable_sort(likely, {}, &Tiling::cost);
    for (Tiling& cut : likely) {
      if (best && best->cost <= cut.cost) break;
      set_sizes(problem, cut, Places::all);
      if (least.fits(cut.memory, cut.device_memory, ceilings)) best = cut;
    }
    likely.clear();
  }

  /// Throws OutOfMemory with a ceiling that is enough: one of the smallest cut's every band.
  [[noreturn]] void fail(const PlanProblem& problem, const Ceilings& ceilings) {
    std::ranges::stable_sort(too_large, {}, [](const Tiling& cut) { return cut.memory.total(); });
    for (Tiling& cut : too_large) {
      if (!least.may_be_less(cut.memory, cut.device_memory, ceilings)) continue;
      set_sizes(problem, cut, Places::all);
      least.fits(cut.memory, cut.device_memory, ceilings);
    }
    least.fail(ceilings, "source, chain and sink");
  }
};

/// A cut is useful when less than half of its work is done for the second time.
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

Search search(const PlanProblem& problem, const Candidates& candidates, const PlanOptions& options,
              int threads, const Ceilings& ceilings) {
  std::vector<int> slot_counts{options.slots};
  if (options.slots == 0) slot_counts = {kPreferredSlots, 2, 1};
  Search found;
  for (const std::vector<BandTraffic>& group : candidates) {
    for (const BandTraffic& traffic : group) {
      const Extent tile =
          problem.devices > 0 ? traffic.band : choose_tile(problem, traffic.band, threads, options.tile);
      for (const int slots : slot_counts) {
        found.offer(problem.devices > 0 ? evaluate_on_devices(problem, traffic, slots, threads)
                                        : evaluate(problem, traffic, tile, slots, threads),
                    ceilings);
      }
    }
    found.decide(problem, ceilings);
    // Where whole columns are needed, narrower bands read nothing twice either, if they are as high as the
    // result.
    const bool narrow_will_do = problem.whole_columns && options.band_rows == 0;
    const bool full_width = group.front().band.cols == problem.region.cols && !narrow_will_do;
    if (full_width && found.best && is_useful(problem, *found.best)) break;
  }
  return found;
}

}  // namespace

// Fewer threads hold less scratch: halve their number until something fits. If nothing does, tiles of the
// least scratch: a larger ceiling allows for more of it, and the one that is named has to be enough.
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
  return tile_operations(problem.chain, problem.specs, problem.region.extent(),
                         problem.devices > 0 ? Scratch::device : Scratch::host);
}

}  // namespace sepconv
