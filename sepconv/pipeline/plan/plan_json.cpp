#include "sepconv/pipeline/plan/plan_json.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

#include "sepconv/core/bytes_text.hpp"
#include "sepconv/core/error.hpp"
#include "sepconv/io/byte_file.hpp"
#include "sepconv/pipeline/plan/ceilings.hpp"
#include "sepconv/pipeline/plan/cost.hpp"
#include "sepconv/pipeline/plan/file_job.hpp"

namespace sepconv {
namespace {

using nlohmann::json;

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostInt = std::numeric_limits<int>::max();
constexpr int kDeepest = 8;  // printing and comparing take of the stack for each

json extent_json(Extent extent) { return {{"rows", extent.rows}, {"cols", extent.cols}}; }

json rect_json(const Rect& rect) {
  return {{"row", rect.row}, {"col", rect.col}, {"rows", rect.rows}, {"cols", rect.cols}};
}

json source_json(const std::string& layout, std::int64_t stored_bytes, std::int64_t changed_ns) {
  return {{"layout", layout}, {"stored_bytes", stored_bytes}, {"changed_ns", changed_ns}};
}

/// As text: JSON has no NaN.
json value_json(const std::optional<double>& value) {
  return value ? json(fmt::format("{}", *value)) : json();
}

json missing_json(const MissingOptions& missing) {
  return {
      {"none", missing.none}, {"value", value_json(missing.value)}, {"result", value_json(missing.result)}};
}

/// A choice of the device is stored as what was chosen.
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
          {"devices", asked.choose_device ? plan.devices : asked.devices},
          {"missing", missing_json(asked.missing)}};
}

json device_json(const Plan& plan) {
  return {{"devices", plan.devices},
          {"memory_bytes",
           {{"slots", plan.device_memory.slots},
            {"scratch", plan.device_memory.scratch},
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

/// What the stages were made of: the text of a stage names its file only.
json stage_files_json(const Chain& chain) {
  json all = json::array();
  for (const auto& [path, what] : files_read_by(chain)) {
    const InputFile file(path);
    all.push_back({{"file", path.native()}, {"bytes", file.size()}, {"changed_ns", file.changed_ns()}});
  }
  return all;
}

json axes_json(const RasterAxes& axes) {
  json all = json::array();
  for (const RasterAxis& axis : axes)
    all.push_back({{"name", axis.name}, {"size", axis.size}, {"first", axis.first}});
  return all;
}

json plan_json(const Plan& plan) {
  json specs = json::array();
  for (const ImageSpec& spec : plan.specs) specs.push_back(spec_json(spec));
  json stages = json::array();
  for (const StagePtr& stage : plan.given.stages()) stages.push_back(stage->text());
  json predicted;
  for (const auto& [name, seconds] : plan.predicted.named()) predicted[name] = seconds;
  json all = {{"sepconv", SEPCONV_VERSION},
              {"source", source_json(plan.source_layout, plan.stored_bytes, plan.changed_ns)},
              {"sink", {{"layout", plan.sink_layout}}},
              {"chain", std::move(stages)},
              {"stage_files", stage_files_json(plan.given)},
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
  if (!plan.devices.empty()) all["cuda"] = device_json(plan);
  return all;
}

std::string text_of(const json& value) {
  return value.dump(2, ' ', true, json::error_handler_t::replace) + "\n";
}

/// A value in a sentence.
std::string brief(const json& value) {
  constexpr std::size_t kLongest = 80;
  const std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  return text.size() <= kLongest ? text : text.substr(0, kLongest) + "...";
}

[[noreturn]] void fail(std::string_view fact) {
  throw InvalidArgument(fmt::format("the plan cannot be read: {}; make it anew", fact));
}

const json& field(const json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) fail(fmt::format("it has no {}", key));
  return object.at(key);
}

std::string word(const json& value, const char* what) {
  if (!value.is_string()) fail(fmt::format("its {} is {}, which is no text", what, brief(value)));
  return value.get<std::string>();
}

std::int64_t whole(const json& value, const char* what, std::int64_t most) {
  const bool fits =
      value.is_number_unsigned() && value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most);
  if (!fits)
    fail(fmt::format("its {} is {}, which is no whole number from 0 to {}", what, brief(value), most));
  return value.get<std::int64_t>();
}

std::int64_t whole_at(const json& object, const char* key, std::int64_t most) {
  return whole(field(object, key), key, most);
}

Extent extent_at(const json& object, const char* key) {
  const json& extent = field(object, key);
  return {whole_at(extent, "rows", kMaxSide), whole_at(extent, "cols", kMaxSide)};
}

Rect rect_at(const json& object, const char* key) {
  const json& rect = field(object, key);
  const Extent extent = extent_at(object, key);
  return {whole_at(rect, "row", kMaxSide), whole_at(rect, "col", kMaxSide), extent.rows, extent.cols};
}

const json& list_at(const json& object, const char* key) {
  const json& list = field(object, key);
  if (!list.is_array()) fail(fmt::format("its {} is {}, which is no list", key, brief(list)));
  return list;
}

/// Nothing, where it is all of the result.
Rect region_at(const json& all) {
  const json& specs = list_at(all, "specs");
  if (specs.empty()) fail("it has no specs");
  const Rect region = rect_at(all, "region");
  const Extent result{whole_at(specs.back(), "rows", kMaxSide), whole_at(specs.back(), "cols", kMaxSide)};
  return region == Rect::whole(result) ? Rect{} : region;
}

std::optional<Arithmetic> arithmetic_at(const json& object) {
  const json& value = field(object, "arithmetic");
  if (value.is_null()) return std::nullopt;
  for (const Arithmetic arithmetic : {Arithmetic::f32, Arithmetic::f64}) {
    if (word(value, "arithmetic") == name_of(arithmetic)) return arithmetic;
  }
  fail(fmt::format("its arithmetic is {}, which is neither f32 nor f64", brief(value)));
}

std::vector<int> devices_at(const json& object) {
  std::vector<int> devices;
  for (const json& device : list_at(object, "devices"))
    devices.push_back(static_cast<int>(whole(device, "devices", kMostInt)));
  return devices;
}

std::optional<double> value_at(const json& object, const char* key) {
  const json& value = field(object, key);
  if (value.is_null()) return std::nullopt;
  const std::string text = word(value, key);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    fail(fmt::format("its {} is {}, which is no number", key, brief(value)));
  return number;
}

MissingOptions missing_at(const json& object) {
  const json& missing = field(object, "missing");
  const json& none = field(missing, "none");
  if (!none.is_boolean()) fail(fmt::format("its none is {}, which is neither true nor false", brief(none)));
  return {none.get<bool>(), value_at(missing, "value"), value_at(missing, "result")};
}

PlanOptions asked_of(const json& all) {
  const json& asked = field(all, "asked");
  return {.max_memory_bytes = whole_at(asked, "max_memory_bytes", kMost),
          .threads = static_cast<int>(whole_at(asked, "threads", kMostInt)),
          .slots = static_cast<int>(whole_at(asked, "slots", kMostInt)),
          .band_rows = whole_at(asked, "band_rows", kMaxSide),
          .band_cols = whole_at(asked, "band_cols", kMaxSide),
          .tile = extent_at(asked, "tile"),
          .arithmetic = arithmetic_at(asked),
          .devices = devices_at(asked),
          .max_device_memory_bytes = whole_at(asked, "max_device_memory_bytes", kMost),
          .region = region_at(all),
          .missing = missing_at(asked)};
}

/// What the planner is to choose among: nothing.
PlanOptions cut_of(const json& all, const PlanOptions& asked) {
  PlanOptions cut = asked;
  const Extent band = extent_at(all, "band");
  cut.band_rows = band.rows;
  cut.band_cols = band.cols;
  cut.tile = extent_at(all, "tile");
  cut.slots = static_cast<int>(whole_at(all, "slots", kMostInt));
  cut.threads = static_cast<int>(whole_at(all, "threads", kMostInt));
  cut.arithmetic = arithmetic_at(all);
  cut.devices.clear();
  if (all.contains("cuda")) cut.devices = devices_at(all.at("cuda"));
  return cut;
}

RasterAxes axes_of(const json& all) {
  RasterAxes axes;
  for (const json& axis : list_at(all, "axes"))
    axes.push_back(
        {word(field(axis, "name"), "name"), whole_at(axis, "size", kMost), whole_at(axis, "first", kMost)});
  return axes;
}

json parsed(std::string_view text) {
  try {
    return json::parse(text, [](int depth, json::parse_event_t, json&) {
      if (depth > kDeepest) fail("its values are nested");
      return true;
    });
  } catch (const json::parse_error& error) {
    fail(fmt::format("it is no JSON from byte {} on", error.byte));
  }
}

/// Throws for the first of what `then` and `now` do not have in common.
void check_same(std::string_view what, const json& then, const json& now) {
  if (then == now) return;
  const json change = json::diff(then, now).front();
  const json::json_pointer place(change.at("path").get<std::string>());
  const auto value = [&](const json& all) {
    return all.contains(place) ? brief(all.at(place)) : "not there";
  };
  throw InvalidArgument(fmt::format("the plan is for another {}: {} is {} in it and {} now; make it anew",
                                    what, brief(place.to_string()), value(then), value(now)));
}

/// Less what may be another, and what is measured anew.
json without_words(json all) {
  all.erase("notes"), all.erase("warnings"), all.erase("predicted_seconds"), all.erase("axes");
  all["memory_bytes"].erase("ceiling");
  if (all.contains("cuda")) all["cuda"]["memory_bytes"].erase("ceiling");
  return all;
}

}  // namespace

std::string to_json(const Plan& plan) { return text_of(plan_json(plan)); }

PlanRecord parse_plan(std::string_view text) {
  const json all = parsed(text);
  const std::string version = word(field(all, "sepconv"), "sepconv");
  if (version != SEPCONV_VERSION)
    throw InvalidArgument(fmt::format("the plan was made by sepconv {} and this is {}; make it anew",
                                      brief(version), SEPCONV_VERSION));
  PlanRecord record;
  for (const json& stage : list_at(all, "chain")) record.stages.push_back(word(stage, "chain"));
  record.sink_layout = word(field(field(all, "sink"), "layout"), "layout");
  record.asked = asked_of(all);
  record.cut = cut_of(all, record.asked);
  record.axes = axes_of(all);
  for (const json& part : {all, all.value("cuda", all)}) {
    if (!field(part, "memory_bytes").is_object()) fail("its memory_bytes are no object");
  }
  record.text = text;
  return record;
}

Plan plan(const Reader& source, const Writer& sink, const PlanRecord& record) {
  return plan(source, sink, Chain::parse(record.stages), record);
}

Plan plan(const Reader& source, const Writer& sink, const Chain& chain, const PlanRecord& record) {
  const json then = parsed(record.text);
  check_same("source", field(then, "source"),
             source_json(source.layout().description, source.stored_bytes(), source.changed_ns()));
  check_same("source", list_at(then, "specs").front(), spec_json(source.spec()));
  check_same("result", field(then, "sink"), {{"layout", sink.layout().description}});
  check_same("file of a stage", field(then, "stage_files"), stage_files_json(chain));
  Plan made;
  try {
    made = plan_cut(source, sink, chain, record.asked, record.cut);
  } catch (const OutOfMemory&) {
  }
  if (made.threads < record.cut.threads || made.specs.empty())
    throw OutOfMemory(fmt::format("the plan does not fit into the {} that a run may hold now; make it anew",
                                  format_bytes(static_cast<double>(memory_ceiling(record.asked)))));
  check_same("source, chain or result", without_words(then), without_words(plan_json(made)));
  return made;
}

}  // namespace sepconv
