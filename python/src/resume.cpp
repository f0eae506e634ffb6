// Results computed in several runs: resumed runs, or one part per run.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "files.hpp"

namespace sepconv::python {
namespace {

namespace fs = std::filesystem;

RunReport resume(const fs::path& source, const fs::path& sink, const Chain& chain, const nb::dict& options,
                 bool discards, const nb::object& callback) {
  Settings settings = settings_of(options);
  RunReport report;
  run_with_progress(settings.run, callback, [&] {
    if (discards) discard_for_new_result(source, sink, chain, settings.run, settings.files);
    report = resume_file(source, sink, chain, settings.run, settings.files);
  });
  return report;
}

/// Creates a result that processes compute in parts; returns warnings. Appends the number of parts and the
/// run's identifier to `begun` as soon as the result exists, also if interrupted.
nb::list create_parts(const fs::path& source, const fs::path& sink, const Chain& chain,
                      const nb::dict& options, bool discards, std::int64_t max_count, nb::list begun) {
  Settings settings = settings_of(options);
  std::optional<std::int64_t> count;
  std::string run;
  std::vector<std::string> warnings;
  const auto append_to_begun = [&] {
    if (!count) return;
    begun.append(*count);
    begun.append(run);
  };
  try {
    run_with_progress(settings.run, nb::none(), [&] {
      if (discards) discard_for_new_result(source, sink, chain, settings.run, settings.files);
      const ImageJob job = create_in_parts(source, sink, chain, settings.run, settings.files);
      count = std::min(max_count, max_parts(job.plan, job.sink->layout(), job.count()));
      run = job.checkpoint->state().run;
      warnings = job.plan.warnings;
    });
  } catch (...) {
    append_to_begun();
    throw;
  }
  append_to_begun();
  return sentences_of(warnings);
}

RunReport run_one_part(const fs::path& source, const fs::path& sink, const Chain& chain,
                       const nb::dict& options, std::int64_t part, std::int64_t count,
                       const nb::object& callback) {
  Settings settings = settings_of(options);
  RunReport report;
  run_with_progress(settings.run, callback, [&] {
    report = run_part(source, sink, chain, part, count, settings.run, settings.files);
  });
  return report;
}

/// Runs a part and calls `check` periodically; an exception from it ends the run.
RunReport run_part_while(const fs::path& source, const fs::path& sink, const Chain& chain,
                         const nb::dict& options, std::int64_t part, std::int64_t count,
                         const nb::object& check) {
  Settings settings = settings_of(options);
  RunReport report;
  run_interruptible(
      [&](const std::stop_token& stop) {
        settings.run.stop = stop;
        report = run_part(source, sink, chain, part, count, settings.run, settings.files);
      },
      [&] { check(); });
  return report;
}

/// Completes the result; returns warnings.
nb::list finish_parts(const fs::path& sink, const std::string& run) {
  RunOptions options;
  RunReport report;
  run_with_progress(options, nb::none(),
                    [&] { report = finish_file(sink, options, built_in_formats(), run); });
  return sentences_of(report.plan.warnings);
}

/// Discards the unfinished result; returns false if it belongs to another run and is kept.
bool discard_parts(const fs::path& sink, const std::string& run) {
  RunOptions options;
  bool is_discarded = false;
  run_with_progress(options, nb::none(), [&] { is_discarded = Checkpoint::discard(sink, run); });
  return is_discarded;
}

}  // namespace

void bind_parts(nb::module_& module) {
  const auto source = nb::arg("source"), sink = nb::arg("sink"), chain = nb::arg("chain");
  const auto options = nb::arg("options"), discards = nb::arg("discards");
  const auto callback = nb::arg("told").none();
  module.def("resume", resume, source, sink, chain, options, discards, callback);
  module.def("create_parts", create_parts, source, sink, chain, options, discards, nb::arg("wanted"),
             nb::arg("begun"));
  module.def("run_part", run_one_part, source, sink, chain, options, nb::arg("part"), nb::arg("count"),
             callback);
  module.def("run_wanted_part", run_part_while, source, sink, chain, options, nb::arg("part"),
             nb::arg("count"), nb::arg("go_on"));
  module.def("finish_parts", finish_parts, sink, nb::arg("run"));
  module.def("discard_parts", discard_parts, sink, nb::arg("run"));
  module.def(
      "partial_run", [](const fs::path& target) { return Checkpoint::look(target).run; }, sink);
  module.def("partial_folder", &Checkpoint::checkpoint_folder_of, sink);
}

}  // namespace sepconv::python
