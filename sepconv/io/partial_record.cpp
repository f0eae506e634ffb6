#include "sepconv/io/partial_record.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace sepconv {
namespace {

using nlohmann::json;

json state_json(const WriterState& state) {
  json levels = json::array();
  for (const WriterState& level : state.levels) levels.push_back(state_json(level));
  return {{"places", state.places}, {"levels", std::move(levels)}};
}

WriterState state_of(const json& all) {
  WriterState state;
  all.at("places").get_to(state.places);
  for (const json& level : all.at("levels")) state.levels.push_back(state_of(level));
  return state;
}

}  // namespace

std::string record_text(const DoneRecord& record, const HeldFile& held) {
  json samples = json::array();
  for (const Sample& sample : record.samples)
    samples.push_back({sample.name, sample.offset, sample.bytes, sample.checksum});
  json all = {{"raster", record.raster},       {"bands", record.bands},
              {"pixels", record.pixels},       {"state", state_json(record.state)},
              {"samples", std::move(samples)}, {"segment", record.segment.native()}};
  if (held.bytes > 0) all["held"] = {held.name, held.bytes, held.checksum};
  return all.dump(-1, ' ', true, json::error_handler_t::replace);
}

std::optional<DoneRecord> parse_record(const std::string& text, HeldFile& held) {
  try {
    const json all = json::parse(text);
    DoneRecord record;
    record.raster = all.at("raster").get<std::int64_t>();
    all.at("bands").get_to(record.bands);
    record.pixels = all.at("pixels").get<std::int64_t>();
    record.state = state_of(all.at("state"));
    for (const json& sample : all.at("samples"))
      record.samples.push_back({sample.at(0).get<std::string>(), sample.at(1).get<std::int64_t>(),
                                sample.at(2).get<std::int64_t>(), sample.at(3).get<std::uint32_t>()});
    record.segment = all.at("segment").get<std::string>();
    if (all.contains("held"))
      held = {all["held"].at(0).get<std::string>(), all["held"].at(1).get<std::int64_t>(),
              all["held"].at(2).get<std::uint32_t>()};
    return record;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace sepconv
