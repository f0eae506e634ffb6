#include "pipeline/plan/secondary_inputs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "pipeline/plan/band_rows.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kMaxBands = 1 << 12;  // visited one by one

/// Pixels read of a second image. If there are very many bands, evenly spaced ones are extrapolated.
std::int64_t pixels_read(const Plan& plan, const SecondaryInput& second) {
  const std::int64_t bands = plan.band_count(), step = ceil_div(bands, kMaxBands);
  const bool keeps_shared = plan.devices.empty() && step == 1;
  std::int64_t pixels = 0, visited = 0;
  for (std::int64_t band = 0; band < bands; band += step, ++visited)
    pixels +=
        band_rows(plan, second.reader->layout(), band, keeps_shared && band > 0, second.stage).missing.area();
  return pixels / visited * bands + pixels % visited * bands / visited;
}

}  // namespace

std::int64_t Plan::secondary_bytes_read() const noexcept {
  std::int64_t bytes = 0;
  for (const SecondaryRead& use : seconds) bytes += use.bytes_read;
  return bytes;
}

std::int64_t Plan::slot_secondary_bytes() const noexcept {
  std::int64_t bytes = 0;
  for (const SecondaryRead& use : seconds) bytes += use.slot_bytes;
  return bytes;
}

std::vector<SecondaryRead> secondary_reads(const PlanProblem& problem, const Plan& plan, const Tiling& cut) {
  std::vector<SecondaryRead> uses;
  for (std::size_t i = 0; i < problem.seconds.size(); ++i) {
    const SecondaryInput& second = problem.seconds[i];
    uses.push_back({.stage = problem.chain.stages()[second.stage]->text(),
                    .layout = second.reader->layout().description,
                    .slot_bytes = cut.slot_secondary_bytes[i],
                    .bytes_read = pixels_read(plan, second) * second.reader->spec().pixel_bytes()});
  }
  return uses;
}

std::vector<std::string> secondary_notes(const PlanProblem& problem, const Plan& plan) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < problem.seconds.size(); ++i) {
    const Reader& reader = *problem.seconds[i].reader;
    if (!reader.layout().streams)
      notes.push_back(fmt::format("the second image of {} cannot be streamed: it is decoded into memory",
                                  plan.seconds[i].stage));
  }
  return notes;
}

std::vector<std::string> secondary_warnings(const PlanProblem& problem) {
  std::vector<std::string> warnings;
  for (const auto& [stage, reader] : problem.seconds) {
    if (alpha_channel(reader->metadata(), reader->spec().channels, reader->layout().stored))
      warnings.push_back(
          fmt::format("alpha of the second image of {} is a channel like the others: it hides none of its "
                      "pixels",
                      problem.chain.stages()[stage]->text()));
  }
  return warnings;
}

}  // namespace sepconv
