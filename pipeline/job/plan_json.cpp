#include "pipeline/job/plan_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/byte_text.hpp"
#include "core/error.hpp"
#include "core/version.hpp"
#include "io/fingerprint.hpp"
#include "io/json_text.hpp"
#include "pipeline/job/chain_files.hpp"
#include "pipeline/job/missing_pixels.hpp"
#include "pipeline/job/plan_fields.hpp"
#include "pipeline/plan/cost.hpp"
#include "pipeline/plan/memory_limits.hpp"

namespace sepconv {
namespace {

using nlohmann::json;
using namespace stored_plan;

json extent_json(Extent extent) { return {{"rows", extent.rows}, {"cols", extent.cols}}; }

json rect_json(const Rect& rect) {
  return {{"row", rect.row}, {"col", rect.col}, {"rows", rect.rows}, {"cols", rect.cols}};
}

json source_json(const std::string& layout, std::int64_t stored_bytes, std::int64_t changed_ns) {
  return {{"layout", layout}, {"stored_bytes", stored_bytes}, {"changed_ns", changed_ns}};
}

/// As text, because JSON has no NaN.
json value_json(const std::optional<double>& value) {
  return value ? json(fmt::format("{}", *value)) : json();
}

json missing_json(const MissingOptions& missing) {
  json all = {{"none", missing.none},
              {"value", value_json(missing.value)},
              {"all_channels", missing.all_channels},
              {"result", value_json(missing.result)},
              {"alpha", missing.alpha ? json(*missing.alpha) : json()}};
  if (missing.alpha_rule) all["alpha_rule"] = name_of(*missing.alpha_rule);
  return all;
}

/// A choice of the device is stored as the chosen device.
json asked_json(const Plan& plan) {
  const PlanOptions& asked = plan.asked;
  return {{"max_memory_bytes", asked.max_memory_bytes},
          {"max_device_memory_bytes", asked.max_device_memory_bytes},
          {"threads", asked.threads},
          {"slots", asked.slots},
          {"band_rows", asked.band_rows},
          {"band_cols", asked.band_cols},
          {"tile", extent_json(asked.tile)},
          {"arithmetic", asked.arithmetic ? json(name_of(*asked.arithmetic)) : json()},
          {"device", asked.choose_device ? devices_text(plan.devices, plan.with_cpu)
                                         : devices_text(asked.devices, asked.with_cpu)},
          {"missing", missing_json(asked.missing)}};
}

json device_json(const Plan& plan) {
  return {{"device", devices_text(plan.devices, plan.with_cpu)},
          {"decodes", plan.decodes_on_devices()},
          {"encodes", plan.encodes_on_devices()},
          {"memory_bytes",
           {{"slots", plan.device_memory.slots},
            {"scratch", plan.device_memory.scratch},
            {"codecs", plan.device_memory.codecs},
            {"resident", plan.device_memory.resident},
            {"total", plan.device_memory.total()},
            {"ceiling", plan.max_device_memory_bytes}}}};
}

json spec_json(const ImageSpec& spec) {
  return {{"rows", spec.extent.rows},
          {"cols", spec.extent.cols},
          {"channels", spec.channels},
          {"type", name_of(spec.type)}};
}

/// Paths and fingerprints of the stages' files; a stage's text has only the path.
json stage_files_json(const Chain& chain, const FingerprintOf& fingerprint_of = fingerprint) {
  json all = json::array();
  for (const auto& [path, what] : files_read_by(chain))
    all.push_back({{"file", path.native()}, {"fingerprint", fingerprint_of(path)}});
  return all;
}

json axes_json(const RasterAxes& axes) {
  json all = json::array();
  for (const RasterAxis& axis : axes)
    all.push_back({{"name", axis.name}, {"size", axis.size}, {"first", axis.first}});
  return all;
}

json seconds_json(const Plan& plan) {
  json all = json::array();
  for (const SecondaryRead& second : plan.seconds)
    all.push_back({{"stage", second.stage}, {"layout", second.layout}, {"bytes_read", second.bytes_read}});
  return all;
}

json plan_json(const Plan& plan, const FingerprintOf& fingerprint_of = fingerprint) {
  json specs = json::array();
  for (const ImageSpec& spec : plan.specs) specs.push_back(spec_json(spec));
  json stages = json::array();
  for (const StagePtr& stage : plan.given.stages()) stages.push_back(stage->text());
  json predicted;
  for (const auto& [name, seconds] : plan.predicted.named()) predicted[name] = seconds;
  json all = {{"sepconv", SEPCONV_VERSION_STRING},
              {"source", source_json(plan.source_layout, plan.stored_bytes, plan.changed_ns)},
              {"sink", {{"layout", plan.sink_layout}}},
              {"chain", std::move(stages)},
              {"stage_files", stage_files_json(plan.given, fingerprint_of)},
              {"asked", asked_json(plan)},
              {"region", rect_json(plan.region)},
              {"specs", std::move(specs)},
              {"arithmetic", name_of(plan.arithmetic)},
              {"threads", plan.threads},
              {"slots", plan.slots},
              {"bands", plan.band_count()},
              {"band", extent_json(plan.band)},
              {"tile", extent_json(plan.tile)},
              {"memory_bytes",
               {{"slots", plan.memory.slots},
                {"scratch", plan.memory.scratch},
                {"source", plan.memory.source},
                {"sink", plan.memory.sink},
                {"resident", plan.memory.resident},
                {"total", plan.memory.total()},
                {"ceiling", plan.max_memory_bytes}}},
              {"bytes_read", plan.bytes_read},
              {"bytes_written", plan.bytes_written},
              {"operations", plan.operations},
              {"recomputed", plan.recomputed},
              {"streams", plan.streams},
              {"predicted_seconds", std::move(predicted)},
              {"axes", axes_json(plan.axes)},
              {"warnings", plan.warnings},
              {"notes", plan.notes}};
  if (!plan.seconds.empty()) all["second_images"] = seconds_json(plan);
  if (!plan.devices.empty()) all["cuda"] = device_json(plan);
  return all;
}

/// Throws with the first difference of `saved` and `current`.
void check_same(std::string_view what, const json& saved, const json& current,
                std::string_view remedy = "create it again") {
  if (saved == current) return;
  const Difference found = first_difference(saved, current);
  throw InvalidArgument(fmt::format("the plan is for another {}: {} is {} in it and {} now; {}", what,
                                    found.path, found.before, found.after, remedy));
}

/// Removes fields that may differ or are measured again.
json without_messages(json all) {
  all.erase("notes"), all.erase("warnings"), all.erase("predicted_seconds"), all.erase("axes");
  all["memory_bytes"].erase("ceiling");
  if (all.contains("cuda")) all["cuda"]["memory_bytes"].erase("ceiling");
  return all;
}

}  // namespace

std::string to_json(const Plan& plan) { return to_json(plan, fingerprint); }

std::string to_json(const Plan& plan, const FingerprintOf& fingerprint_of) {
  return json_lines(plan_json(plan, fingerprint_of));
}

PlanRecord parse_plan(std::string_view text) {
  const json all = parse_json(text);
  const std::string version = string_in(field(all, "sepconv"), "sepconv");
  if (version != SEPCONV_VERSION_STRING)
    throw InvalidArgument(fmt::format("the plan was made by sepconv {} and this is {}; create it again",
                                      excerpt_of(version), SEPCONV_VERSION_STRING));
  PlanRecord record;
  for (const json& stage : list_at(all, "chain")) record.stages.push_back(string_in(stage, "chain"));
  record.sink_layout = string_in(field(field(all, "sink"), "layout"), "layout");
  record.asked = requested_options(all);
  record.cut = tiling_options(all, record.asked);
  record.axes = axes_of(all);
  for (const json& part : {all, all.value("cuda", all)}) {
    if (!field(part, "memory_bytes").is_object()) fail("its memory_bytes are not an object");
  }
  record.text = text;
  return record;
}

Plan plan(const Reader& source, const Writer& sink, const PlanRecord& record) {
  const Chain chain = Chain::parse(record.stages);
  return plan(source, sink, chain, missing_pixels(source, chain, record.asked.missing), record);
}

Plan plan(const Reader& source, const Writer& sink, const Chain& chain, const MissingPixels& missing,
          const PlanRecord& record) {
  const json saved = parse_json(record.text);
  check_same("source", field(saved, "source"),
             source_json(source.layout().description, source.stored_bytes(), source.changed_ns()));
  check_same("source", list_at(saved, "specs").front(), spec_json(source.spec()));
  check_same("result", field(saved, "sink"), {{"layout", sink.layout().description}},
             "ask for the compression, blocks and levels that it was made with, or create it again");
  check_same("file of a stage", field(saved, "stage_files"), stage_files_json(chain));
  Plan rebuilt;
  try {
    rebuilt = plan_cut(source, sink, chain, missing, record.asked, record.cut);
  } catch (const OutOfMemory&) {
  }
  if (rebuilt.threads < record.cut.threads || rebuilt.specs.empty())
    throw OutOfMemory(
        fmt::format("the plan does not fit into the {} that a run may hold now; create it again",
                    format_bytes(static_cast<double>(memory_ceiling(record.asked)))));
  check_same("source, chain or result", without_messages(saved), without_messages(plan_json(rebuilt)));
  return rebuilt;
}

}  // namespace sepconv
