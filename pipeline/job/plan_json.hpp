// A plan as text, to store, inspect, and run later or in another process.
//
//   const std::string text = sepconv::to_json(sepconv::plan(*in, *out, chain));
//
//   const sepconv::PlanRecord record = sepconv::parse_plan(text);
//   const sepconv::Plan read = sepconv::plan(*in, *out, record);
//   const sepconv::RunReport report = sepconv::run(*in, *out, read);
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/plan/plan.hpp"

namespace sepconv {

/// The plan as JSON text, the same object as "plan" in a run's report; schema in docs/formats.md.
std::string to_json(const Plan& plan);
/// The same with known fingerprints of the stages' files.
using FingerprintOf = std::function<std::string(const std::filesystem::path&)>;
std::string to_json(const Plan& plan, const FingerprintOf& fingerprint_of);

/// Inputs of a stored plan, and its tiling.
struct PlanRecord {
  std::vector<std::string> stages;  ///< texts for Chain::parse()
  std::string sink_layout;          ///< SinkLayout::description of the plan's sink
  PlanOptions asked;                ///< options given to the plan
  PlanOptions cut;                  ///< options that reproduce its tiling
  RasterAxes axes;                  ///< axes of its set of rasters
  std::string text;                 ///< the complete JSON text
};

/// Parses the text of to_json(). Throws InvalidArgument for other text, and for a plan of another version of
/// sepconv.
PlanRecord parse_plan(std::string_view text);

/// Rebuilds the plan on its recorded devices; none is chosen again. All numbers are recomputed from the
/// source, the sink, the stages and the tiling; ceilings are the current ones, and predictions, which are not
/// compared, use the default MachineModel. Throws InvalidArgument if anything except notes and warnings
/// differs from the record, including source, sink and the modification time of the source's file;
/// OutOfMemory if the plan exceeds the ceilings. The contents of files that stages name are not compared.
Plan plan(const Reader& source, const Writer& sink, const PlanRecord& record);

/// The same with existing stages, for caller-defined stage tables or to read the stages' files once, and
/// missing_pixels() of the source.
Plan plan(const Reader& source, const Writer& sink, const Chain& chain, const MissingPixels& missing,
          const PlanRecord& record);

}  // namespace sepconv
