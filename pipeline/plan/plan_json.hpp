// A plan as text: to be kept, looked at, and run later or by another process.
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
/// The same with fingerprints of the stages' files that somebody knows.
using FingerprintOf = std::function<std::string(const std::filesystem::path&)>;
std::string to_json(const Plan& plan, const FingerprintOf& fingerprint_of);

/// What a plan was made of, and how it cuts the result.
struct PlanRecord {
  std::vector<std::string> stages;  ///< for Chain::parse()
  std::string sink_layout;          ///< SinkLayout::description of the sink that it is for
  PlanOptions asked;                ///< that it was made with
  PlanOptions cut;                  ///< those by which it is made again
  RasterAxes axes;                  ///< of the set of rasters that it is for
  std::string text;                 ///< all that it says
};

/// Reads what to_json() wrote. Throws InvalidArgument for anything else, and for a plan of another version of
/// sepconv.
PlanRecord parse_plan(std::string_view text);

/// Makes that plan again, on the devices that it says: none is chosen again. Nothing else that it says is
/// believed: all numbers follow from the source, the sink, the stages and the cut once more, the ceilings are
/// those of now, and predictions, which are not compared, those of the default MachineModel. Throws
/// InvalidArgument if anything but notes and warnings is another than the record says, source, sink and the
/// time at which the source's file was changed among it, and OutOfMemory if it does not fit the ceilings. The
/// contents of files that stages name are not compared.
Plan plan(const Reader& source, const Writer& sink, const PlanRecord& record);

/// The same with the stages already made, of a table of the caller's or to be read from their files once.
Plan plan(const Reader& source, const Writer& sink, const Chain& chain, const PlanRecord& record);

}  // namespace sepconv
