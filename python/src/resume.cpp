// Results that are made in several runs: one after another, or a part each.
#include <nanobind/stl/filesystem.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "files.hpp"

namespace sepconv::python {
namespace {

namespace fs = std::filesystem;

RunReport resume(const fs::path& source, const fs::path& sink, const Chain& chain, const nb::dict& options,
                 bool discards, const nb::object& told) {
  Settings settings = settings_of(options);
  RunReport report;
  run_told(settings.run, told, [&] {
    if (discards) discard_for_another(source, sink, chain, settings.run, settings.files);
    report = resume_file(source, sink, chain, settings.run, settings.files);
  });
  return report;
}

/// Begins a result that processes make in parts; returns what it will not have. How many there are, and the
/// run, are added to `begun` as soon as it is, so that who is interrupted then knows that it is there.
nb::list create_parts(const fs::path& source, const fs::path& sink, const Chain& chain,
                      const nb::dict& options, bool discards, std::int64_t wanted, nb::list begun) {
  Settings settings = settings_of(options);
  std::optional<std::int64_t> count;
  std::string run;
  std::vector<std::string> warnings;
  const auto tell = [&] {
    if (!count) return;
    begun.append(*count);
    begun.append(run);
  };
  try {
    run_told(settings.run, nb::none(), [&] {
      if (discards) discard_for_another(source, sink, chain, settings.run, settings.files);
      const ImageJob job = create_in_parts(source, sink, chain, settings.run, settings.files);
      count = std::min(wanted, max_parts(job.plan, job.sink->layout(), job.count()));
      run = job.partial->run();
      warnings = job.plan.warnings;
    });
  } catch (...) {
    tell();
    throw;
  }
  tell();
  return sentences_of(warnings);
}

RunReport run_one_part(const fs::path& source, const fs::path& sink, const Chain& chain,
                       const nb::dict& options, std::int64_t part, std::int64_t count,
                       const nb::object& told) {
  Settings settings = settings_of(options);
  RunReport report;
  run_told(settings.run, told,
           [&] { report = run_part(source, sink, chain, part, count, settings.run, settings.files); });
  return report;
}

/// `go_on` is called all the while, and ends it by what it raises.
RunReport run_wanted_part(const fs::path& source, const fs::path& sink, const Chain& chain,
                          const nb::dict& options, std::int64_t part, std::int64_t count,
                          const nb::object& go_on) {
  Settings settings = settings_of(options);
  RunReport report;
  run_interruptible(
      [&](const std::stop_token& stop) {
        settings.run.stop = stop;
        report = run_part(source, sink, chain, part, count, settings.run, settings.files);
      },
      [&] { go_on(); });
  return report;
}

/// Returns what the result does not have.
nb::list finish_parts(const fs::path& sink, const std::string& run) {
  RunOptions options;
  RunReport report;
  run_told(options, nb::none(), [&] { report = finish_file(sink, options, built_in_formats(), run); });
  return sentences_of(report.plan.warnings);
}

/// False: what is there is another run's, and stays.
bool discard_parts(const fs::path& sink, const std::string& run) {
  RunOptions options;
  bool is_gone = false;
  run_told(options, nb::none(), [&] { is_gone = Checkpoint::discard(sink, run); });
  return is_gone;
}

}  // namespace

void bind_parts(nb::module_& module) {
  const auto source = nb::arg("source"), sink = nb::arg("sink"), chain = nb::arg("chain");
  const auto options = nb::arg("options"), discards = nb::arg("discards");
  const auto told = nb::arg("told").none();
  module.def("resume", resume, source, sink, chain, options, discards, told);
  module.def("create_parts", create_parts, source, sink, chain, options, discards, nb::arg("wanted"),
             nb::arg("begun"));
  module.def("run_part", run_one_part, source, sink, chain, options, nb::arg("part"), nb::arg("count"), told);
  module.def("run_wanted_part", run_wanted_part, source, sink, chain, options, nb::arg("part"),
             nb::arg("count"), nb::arg("go_on"));
  module.def("finish_parts", finish_parts, sink, nb::arg("run"));
  module.def("discard_parts", discard_parts, sink, nb::arg("run"));
  module.def(
      "partial_run", [](const fs::path& target) { return Checkpoint::look(target).run; }, sink);
  module.def("partial_folder", &Checkpoint::folder_of_target, sink);
}

}  // namespace sepconv::python
