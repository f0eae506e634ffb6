#include "pipeline/job/job_manifest.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "io/foreign_json.hpp"
#include "io/json_text.hpp"
#include "pipeline/job/option.hpp"
#include "pipeline/job/plan_fields.hpp"

namespace sepconv {
namespace {

using nlohmann::json;
using namespace stored_plan;

/// Version of the checkpoint record format.
constexpr int kJournalVersion = 6;

/// Values of options as JSON. An unset optional is null.
template <class Value>
json json_of(const Value& value) {
  return value;
}
json json_of(const Extent& extent) { return {extent.rows, extent.cols}; }
json json_of(Compression compression) { return name_of(compression); }
json json_of(const std::vector<AxisPositions>& positions) {
  json list = json::array();
  for (const AxisPositions& entry : positions) list.push_back({entry.axis, entry.count});
  return list;
}
template <class Value>
json json_of(const std::optional<Value>& value) {
  return value ? json_of(*value) : json();
}

template <class Value>
void read(const json& value, Value& option) {
  value.get_to(option);
}
void read(const json& value, Extent& extent) {
  extent = {value.at(0).get<std::int64_t>(), value.at(1).get<std::int64_t>()};
}
void read(const json& value, Compression& compression) {
  compression = parse_compression(value.get<std::string>()).value_or(Compression::none);
}
void read(const json& list, std::vector<AxisPositions>& positions) {
  for (const json& entry : list)
    positions.push_back({entry.at(0).get<std::string>(), entry.at(1).get<std::int64_t>(), true});
}
template <class Value>
void read(const json& value, std::optional<Value>& option) {
  if (!value.is_null()) read(value, option.emplace());
}

json output_json(const OutputOptions& request) {
  json all;
  for (const OutputOption& option : output_option_table()) {
    for (const OutputField& field : option.fields)
      all[field.name] = std::visit([&](auto member) { return json_of(request.*member); }, field.member);
  }
  return all;
}

OutputOptions output_in(const json& all) {
  OutputOptions request;
  for (const OutputOption& option : output_option_table()) {
    for (const OutputField& field : option.fields)
      std::visit([&](auto member) { read(all.at(field.name), request.*member); }, field.member);
  }
  return request;
}

json chunks_json(const std::optional<MissingChunks>& choice) {
  return choice ? json(*choice == MissingChunks::error ? "error" : "fill") : json();
}

json input_json(const OpenOptions& open) {
  json raw;
  if (open.raw)
    raw = {open.raw->extent.rows, open.raw->extent.cols, open.raw->channels, name_of(open.raw->type)};
  return {{"page", json_of(open.page)},
          {"select", open.select},
          {"level", open.level},
          {"axes", open.axes},
          {"raw", std::move(raw)},
          {"raw_offset", open.raw_offset},
          {"big_endian", open.raw_big_endian},
          {"masks", open.masks},
          {"nodata_of_all", open.nodata_of_all},
          {"missing_chunks", chunks_json(open.missing_chunks)}};
}

OpenOptions input_in(const json& all) {
  OpenOptions open;
  read(all.at("page"), open.page);
  all.at("select").get_to(open.select);
  all.at("level").get_to(open.level);
  all.at("axes").get_to(open.axes);
  if (const json& raw = all.at("raw"); !raw.is_null())
    open.raw = ImageSpec{{raw.at(0).get<std::int64_t>(), raw.at(1).get<std::int64_t>()},
                         raw.at(2).get<std::int64_t>(),
                         parse_pixel_type(raw.at(3).get<std::string>()).value_or(PixelType::u8)};
  all.at("raw_offset").get_to(open.raw_offset);
  all.at("big_endian").get_to(open.raw_big_endian);
  all.at("masks").get_to(open.masks);
  all.at("nodata_of_all").get_to(open.nodata_of_all);
  if (const json& choice = all.at("missing_chunks"); !choice.is_null())
    open.missing_chunks = choice == "error" ? MissingChunks::error : MissingChunks::fill;
  return open;
}

/// A field whose change changes the result, unlike memory, threads and devices. `what` is a name or that of
/// an option.
struct ManifestField {
  std::string what;
  json value;
  bool is_option = false;
};

void add_input(const json& input, std::vector<ManifestField>& all) {
  for (const char* const key : {"page", "select"}) all.push_back({"OpenOptions::page", input.at(key), true});
  all.push_back({"OpenOptions::axes", input.at("axes"), true});
  all.push_back({"OpenOptions::missing_chunks", input.at("missing_chunks"), true});
  for (const char* const key : {"raw", "raw_offset", "big_endian"})
    all.push_back({"OpenOptions::raw", input.at(key), true});
  for (const char* const key : {"level", "masks", "nodata_of_all"})
    all.push_back({fmt::format("choice of the source's {}", key), input.at(key), true});
}

void add_output(const json& output, std::vector<ManifestField>& all) {
  for (const OutputOption& option : output_option_table()) {
    for (const OutputField& field : option.fields) {
      const std::string name = option.name_of(field);
      const json& value = output.at(field.name);
      if (std::holds_alternative<std::optional<bool> OutputOptions::*>(field.member)) {
        for (const bool choice : {true, false})
          all.push_back({fmt::format("{} = {}", name, choice), value == choice, true});
      } else {
        all.push_back({name, value, true});
      }
    }
  }
}

/// All such fields. Fields that follow from others come after them.
std::vector<ManifestField> manifest_fields(const json& all) {
  const json& plan = all.at("plan");
  const json& missing = plan.at("asked").at("missing");
  json source = plan.at("source");
  source.erase("changed_ns");  // the fingerprint includes it; a folder's time changes with unrelated files
  std::vector<ManifestField> fields{{"version of sepconv", plan.at("sepconv")},
                                    {"source", {{"fingerprint", all.at("fingerprint")}}}};
  add_input(all.at("input"), fields);
  fields.insert(fields.end(), {{"layout of the source", std::move(source)},
                               {"choice of its images", plan.at("axes")},
                               {"chain", plan.at("chain")},
                               {"file of a stage", plan.at("stage_files")},
                               {"MissingOptions::none", missing.at("none"), true},
                               {"MissingOptions::value", missing.at("value"), true},
                               {"MissingOptions::result", missing.at("result"), true},
                               {"channel of alpha", missing.at("alpha")},
                               {"MissingOptions::alpha_rule", missing.value("alpha_rule", json()), true},
                               {"arithmetic", plan.at("arithmetic")},
                               {"PlanOptions::region", plan.at("region"), true},
                               {"shape or type", plan.at("specs")}});
  add_output(all.at("output"), fields);
  fields.insert(fields.end(),
                {{"layout of the result", plan.at("sink")}, {"size of bands", plan.at("band")}});
  return fields;
}

/// The value as the user gave it.
std::string option_text(const json& value) {
  if (value.is_null() || value == false || value == "") return "not given";
  if (value == true) return "given";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.contains("row"))
    return fmt::format("{}x{}+{}+{}", value.at("cols").get<std::int64_t>(),
                       value.at("rows").get<std::int64_t>(), value.at("col").get<std::int64_t>(),
                       value.at("row").get<std::int64_t>());
  if (const bool is_extent = value.is_array() && value.size() == 2 && value[0].is_number(); is_extent)
    return fmt::format("{}x{}", value[0].get<std::int64_t>(), value[1].get<std::int64_t>());
  return excerpt_of(value);
}

}  // namespace

std::string job_manifest_text(const JobManifest& manifest, const Plan& plan,
                              const FingerprintOf& fingerprint_of) {
  const json all = {{"journal", kJournalVersion},
                    {"path", std::filesystem::absolute(manifest.input).native()},
                    {"fingerprint", manifest.fingerprint},
                    {"input", input_json(manifest.files.open)},
                    {"output", output_json(manifest.files.output)},
                    {"overwrite", manifest.files.output.overwrite},
                    {"durable", manifest.files.output.durable},
                    {"in_parts", manifest.in_parts},
                    {"plan", json::parse(to_json(plan, fingerprint_of))}};
  return json_line(all);
}

JobManifest parse_job_manifest(const std::string& text) {
  JobManifest manifest;
  try {
    std::string problem;
    const json all = parse_foreign(text, problem);
    if (all.at("journal") != kJournalVersion) throw json::other_error::create(0, "", nullptr);
    manifest.input = all.at("path").get<std::string>();
    manifest.files.open = input_in(all.at("input"));
    manifest.files.output = output_in(all.at("output"));
    all.at("overwrite").get_to(manifest.files.output.overwrite);
    all.at("durable").get_to(manifest.files.output.durable);
    all.at("in_parts").get_to(manifest.in_parts);
    all.at("fingerprint").get_to(manifest.fingerprint);
    for (const json& file : all.at("plan").at("stage_files"))
      manifest.stage_fingerprints.emplace(file.at("file").get<std::string>(),
                                          file.at("fingerprint").get<std::string>());
    manifest.plan = parse_plan(all.at("plan").dump());
  } catch (const json::exception&) {
    throw InvalidArgument("the partial result was made by another version of sepconv; discard it");
  }
  return manifest;
}

void check_same_result(const std::string& saved_text, const std::string& current_text,
                       const std::filesystem::path& partial) {
  const auto before = manifest_fields(json::parse(saved_text)),
             after = manifest_fields(json::parse(current_text));
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto& [what, value, is_option] = before[i];
    const json& other = after[i].value;
    if (value == other) continue;
    const Difference found =
        is_option ? Difference{"", option_text(value), option_text(other)} : first_difference(value, other);
    throw InvalidArgument(fmt::format(
        "{} was started with another {}: {} then, and {} now; resume with the same, or discard it",
        partial.native(), what, found.before, found.after));
  }
}

}  // namespace sepconv
