// From file to file in one call: what `sepconv run IN OUT STAGE...` and `sepconv transpose IN OUT` do.
//
//   sepconv::RunOptions options;
//   options.max_memory_bytes = 256 << 20;
//   options.choose_device = true;
//   const auto chain = sepconv::Chain::parse({"gaussian:sigma=2.5"});
//   const sepconv::RunReport report = sepconv::run_file("scan.tif", "out.tif", chain, options);
//   for (const std::string& warning : report.plan.warnings) std::cerr << warning << '\n';
#pragma once

#include "pipeline/plan/file_job.hpp"
#include "pipeline/run/run.hpp"

namespace sepconv {

/// Runs the job, one raster after another, by its plan; a raster that is stored in another way than the first
/// gets a plan of its own under the same ceilings, unless `options.smaller_plans` is not set, where that is
/// InvalidArgument. The report is of all rasters. Errors as of run(); then nothing is left of the output.
RunReport run(ImageJob& job, const ExecutionOptions& options = {});

/// plan_file(), and the run of its plan or of smaller ones where its memory cannot be had. The output appears
/// under its name when it is complete, and not at all if anything fails; an existing one is an error unless
/// OutputOptions::overwrite. What the result does not have of its source is in the report's plan.warnings.
/// The report's times begin when the files are open and the plan is made. Errors as of plan_file() and run().
RunReport run_file(const std::filesystem::path& input, const std::filesystem::path& output,
                   const Chain& chain, const RunOptions& options = {}, const FileOptions& files = {});

/// The same with plan_permutation(): axis k of the result is axis permutation.axes[k] of the input.
RunReport permute_file(const std::filesystem::path& input, const std::filesystem::path& output,
                       const Permutation& permutation, const RunOptions& options = {},
                       const FileOptions& files = {});

}  // namespace sepconv
