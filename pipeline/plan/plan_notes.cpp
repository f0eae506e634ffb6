#include "pipeline/plan/plan_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/byte_text.hpp"
#include "core/count_text.hpp"
#include "pipeline/chain/graph_tile.hpp"
#include "pipeline/plan/candidates.hpp"
#include "pipeline/plan/device_codecs.hpp"
#include "pipeline/plan/memory_limits.hpp"

namespace sepconv {
namespace {

/// For a chunked source: the number of chunks that a run touches, and the fraction of their pixels read
/// again.
std::string chunks_note(const PlanProblem& problem, const Plan& plan) {
  const SourceLayout& layout = problem.source.layout();
  const Extent block = layout.block;
  const Rect needed = plan.graph.source_rect(plan.region);
  const Rect grid{needed.row / block.rows, needed.col / block.cols,
                  ceil_div(needed.row_end(), block.rows) - needed.row / block.rows,
                  ceil_div(needed.col_end(), block.cols) - needed.col / block.cols};
  const Rect touched =
      Rect{grid.row * block.rows, grid.col * block.cols, grid.rows * block.rows, grid.cols * block.cols}
          .intersect(Rect::whole(plan.source().extent));
  const double touched_bytes = static_cast<double>(touched.area() * plan.source().pixel_bytes());
  const double reread_fraction = std::max(0.0, static_cast<double>(plan.bytes_read) / touched_bytes - 1);
  const std::string reread_text = fmt::format(
      ", and {:.1f} % of their pixels are read again, but for chunks that the ceiling leaves room to keep",
      100 * reread_fraction);
  const std::int64_t count = grid.area() * layout.block_layers;
  return fmt::format("{} of the image {} touched{}{}",
                     count == 1 ? "1 chunk" : fmt::format("{} chunks", count), count == 1 ? "is" : "are",
                     layout.blocks_shared_by_images ? ", for each image that shares them" : "",
                     reread_fraction > 0              ? reread_text
                     : layout.blocks_shared_by_images ? ""
                                                      : ", each once");
}

/// The needed rectangle of the source; may extend beyond its edges.
Rect needed_of(const PlanProblem& problem) { return problem.graph.source_rect(problem.region); }

/// Device memory for streams and blocks, per slot.
std::int64_t slot_codec_bytes(const Plan& plan) {
  const std::int64_t shared = plan.encoded ? EncodingSizes(*plan.encoded, plan.band).scratch_bytes : 0;
  return (plan.device_memory.codecs - shared) / plan.slots;
}

/// Why a plan has fewer slots than preferred.
std::string why_fewer_slots(const Plan& plan) {
  const std::int64_t bands =
      ceil_div(plan.band_count(), std::max<std::int64_t>(1, std::ssize(plan.devices)));  // per device
  const int more = kPreferredSlots - plan.slots;
  const std::int64_t on_host = plan.memory.total() + plan.memory.slots / plan.slots * more;
  const std::int64_t on_device = plan.device_memory.total() +
                                 (device_inputs(kPreferredSlots) - device_inputs(plan.slots)) *
                                     (plan.slot_input_bytes + plan.slot_secondary_bytes()) +
                                 more * (plan.slot_output_bytes + slot_codec_bytes(plan));
  const bool fits =
      on_host <= plan.max_memory_bytes && (plan.devices.empty() || on_device <= plan.max_device_memory_bytes);
  if (bands > plan.slots && !fits)
    return fmt::format("memory is short: {}", plan.slots == 1
                                                  ? "nothing overlaps"
                                                  : "reading and writing take turns to overlap computing");
  if (bands == 1) return "there is only one band";
  if (bands <= kPreferredSlots) return fmt::format("there are only {} bands", bands);
  return "with so few bands from top to bottom more slots would not be faster";
}

/// Notes for alpha that is a weight.
std::vector<std::string> alpha_weight_notes(const MissingPixels& missing, const Chain& nodata_chain) {
  if (!nodata_chain.computes()) return {};
  std::vector<std::string> notes{fmt::format("alpha (channel {}) is a weight, because {}: {}", *missing.alpha,
                                             missing.rule_reason, nodata_chain.text())};
  if (missing.multiplied)
    notes.emplace_back("colours are multiplied by alpha in the source, and also in the result");
  const bool has_other_stages = std::ranges::any_of(nodata_chain.stages(), [](const StagePtr& stage) {
    return !stage->properties().is_average && !stage->traits().is_permutation() && !stage->traits().alpha;
  });
  if (has_other_stages)
    notes.emplace_back(
        "stages that do not average leave alpha unchanged, and of neighbours all count equally whose alpha is "
        "above 0");
  return notes;
}

}  // namespace

bool reads_beyond_edges(const PlanProblem& problem) {
  return !Rect::whole(problem.specs.front().extent).contains(needed_of(problem));
}

bool reads_opposite_edge(const PlanProblem& problem) {
  const Rect needed = needed_of(problem);
  return needed.row < 0 || needed.row_end() > problem.specs.front().extent.rows;
}

std::vector<std::string> explain(const PlanProblem& problem, const Plan& plan, const PlanOptions& options,
                                 int requested_threads) {
  std::vector<std::string> notes;
  const Extent image = plan.region.extent();
  const std::int64_t halo = problem.halo_rows(plan.band);
  const SourceLayout& source = problem.source.layout();
  if (!source.streams) {
    notes.push_back(fmt::format("the source format cannot be streamed: it is decoded into memory ({})",
                                format_bytes(static_cast<double>(plan.memory.source))));
  } else if (plan.turned) {
    notes.push_back(explain_transposed(problem, plan));
  } else if (plan.band.cols == image.cols && !source.blocks_shared_by_images) {
    notes.push_back("every source row is read and decoded once; rows that neighbouring bands share are kept");
  }
  if (source.file && source.file->zarr.version != 0) notes.push_back(chunks_note(problem, plan));
  if (reads_opposite_edge(problem))
    notes.emplace_back(
        "border=wrap: rows near the source's upper and lower edge are read once more, for the other edge");
  if (!problem.sink.layout().streams) {
    notes.push_back("the sink cannot be streamed: the result is collected in memory before it is encoded");
  }
  if (problem.band_unit().rows > 1) {
    notes.push_back(
        fmt::format("bands end at multiples of {} rows, the sink's blocks", problem.band_unit().rows));
  }
  if (problem.whole_columns && !plan.turned) {
    notes.push_back("a band needs whole columns of the source: bands lie side by side");
  } else if (halo > 0) {
    notes.push_back(fmt::format("a band needs a halo of {} source rows beyond its own", halo));
  }
  if (plan.band.cols < image.cols && options.band_cols == 0 && !plan.turned && !problem.whole_columns) {
    notes.push_back(fmt::format(
        "column tiles, because a good band of full width would not fit: {} is read for a source of {}",
        format_bytes(static_cast<double>(plan.bytes_read)),
        format_bytes(
            static_cast<double>(plan.graph.source_rect(plan.region).area() * plan.source().pixel_bytes()))));
  }
  if (options.slots == 0 && plan.slots < kPreferredSlots)
    notes.push_back(
        fmt::format("{} of {} slots, because {}", plan.slots, kPreferredSlots, why_fewer_slots(plan)));
  for (const StagePtr& stage : plan.chain.stages())
    if (const std::string& note = stage->properties().note; !note.empty()) notes.push_back(note);
  if (plan.threads < requested_threads)
    notes.push_back(fmt::format("{} instead of {}, because memory is short",
                                count_text(plan.threads, "thread"), requested_threads));
  if (plan.devices.size() < options.devices.size())
    notes.emplace_back("one GPU, because the source or the sink goes row by row");
  notes.insert(notes.end(), problem.codecs.notes.begin(), problem.codecs.notes.end());
  if (options.max_memory_bytes == 0)
    notes.push_back("the ceiling is a quarter of the free memory; PlanOptions::max_memory_bytes sets it");
  return notes;
}

std::vector<std::string> missing_pixel_notes(const MissingPixels& missing, const Chain& nodata_chain) {
  if (missing.none()) return {};
  if (missing.weighs()) return alpha_weight_notes(missing, nodata_chain);
  const std::string which =
      missing.alpha
          ? fmt::format("that alpha (channel {}) hides{}", *missing.alpha,
                        missing.value ? fmt::format(", and elements of value {},", *missing.value) : "")
      : missing.from_secondary ? "that a second image lacks, and NaN,"
                               : fmt::format("of value {}", *missing.value);
  if (!nodata_chain.computes()) return {fmt::format("missing pixels are those {}, and only moved", which)};
  std::vector<std::string> notes{fmt::format("pixels {} are missing: {}", which, nodata_chain.text())};
  if (missing.is_mask)
    notes.push_back(
        missing.replaces_mask
            ? fmt::format("what the mask hides is {} in the result, which has no mask", missing.result)
            : "the mask of the result hides what is missing");
  else if (missing.alpha)
    notes.emplace_back(
        "alpha of the result is 0 where a pixel is missing; elsewhere means are made of it, and other stages "
        "leave it as it is");
  if (missing.alpha && !missing.is_mask)
    notes.push_back(
        fmt::format("alpha is a mask and no weight, because {}; MissingOptions::alpha_rule overrides this",
                    missing.rule_reason));
  if (missing.has_result() && !std::isnan(missing.result) && !missing.all_channels)
    notes.push_back(
        fmt::format("missing pixels of the result are {}; a value that would be stored so is stored as the "
                    "next one",
                    missing.result));
  for (const StagePtr& stage : nodata_chain.stages()) {
    if (stage->properties().product == Product::none) continue;
    notes.emplace_back("a product with a matrix is missing wherever one of its terms is");
    break;
  }
  return notes;
}

}  // namespace sepconv
