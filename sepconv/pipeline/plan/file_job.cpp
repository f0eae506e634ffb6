#include "sepconv/pipeline/plan/file_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace sepconv {
namespace {

/// A job but for its plan, and how the sink may be made.
struct Beginning {
  FileJob job;
  ImageSpec spec;  ///< of the sink
  Geometries geometries;
};

Beginning begin(const std::filesystem::path& input, const std::filesystem::path& output, const Chain& chain,
                const Rect& region, const FileOptions& files) {
  check_not_read(output, files_read_by(input, chain));
  Beginning begun;
  begun.job.source = open_reader(input, files.open, files.formats);
  const ImageSpec result = chain.result_spec(begun.job.source->spec());
  begun.spec = region_spec(result, region);
  OutputRequest request = files.output;
  request.region = region;
  begun.geometries = geometries_of(output, result, begun.job.source.get(), request,
                                   kept_by(chain, begun.job.source->spec()), chain.work(), files.formats);
  return begun;
}

}  // namespace

FileJob plan_file(const std::filesystem::path& input, const std::filesystem::path& output, const Chain& chain,
                  const PlanOptions& options, const FileOptions& files) {
  auto [job, spec, geometries] = begin(input, output, chain, options.region, files);
  const std::string note = plan_in_either(geometries, [&](const CreateOptions& create) {
    job.sink = create_writer(output, spec, create, files.formats);
    job.plan = plan(*job.source, *job.sink, chain, options);
  });
  if (!note.empty()) job.plan.notes.push_back(note);
  return std::move(job);
}

FileJob plan_file(const std::filesystem::path& input, const std::filesystem::path& output, const Chain& chain,
                  const PlanRecord& record, const FileOptions& files) {
  auto [job, spec, geometries] = begin(input, output, chain, record.asked.region, files);
  job.sink = create_writer(output, spec, geometries.first, files.formats);
  if (geometries.other && job.sink->layout().description != record.sink_layout) {
    auto other = create_writer(output, spec, *geometries.other, files.formats);
    if (other->layout().description == record.sink_layout) job.sink = std::move(other);
  }
  job.plan = plan(*job.source, *job.sink, chain, record);
  return std::move(job);
}

TakenFiles files_read_by(const Chain& chain) {
  TakenFiles read;
  for (const StagePtr& stage : chain.stages()) {
    const std::string text = stage->text();
    const auto entry = std::ranges::find(stage_table(), text.substr(0, text.find(':')), &StageEntry::name);
    if (entry == stage_table().end()) continue;  // one of the caller's own, whose text may be any
    for (const auto& [name, value] : StageText::split(text).pairs) {
      const auto key = std::ranges::find(entry->keys, name, &StageKey::name);
      if (key != entry->keys.end() && key->type == StageKey::Type::path && !value.empty())
        read.emplace_back(std::filesystem::absolute(value),
                          fmt::format("read by the stage {}", stage->text()));
    }
  }
  return read;
}

TakenFiles files_read_by(const std::filesystem::path& input, const Chain& chain) {
  TakenFiles read = files_read_by(chain);
  read.emplace(read.begin(), input, "the input image");
  return read;
}

}  // namespace sepconv
