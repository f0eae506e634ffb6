#include "io/checkpoint_record.hpp"

#include <utility>

#include "io/foreign_json.hpp"

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

std::string line(const json& all) { return all.dump(-1, ' ', true, json::error_handler_t::replace); }

/// For a file that lies in the folder itself.
std::string plain_name(const json& name) {
  const std::filesystem::path path = name.get<std::string>();
  if (path != path.filename()) throw json::other_error::create(0, "no name", nullptr);
  return path;
}

/// What `parse` makes of a line of JSON, unless it is none that it expects.
template <class Parse>
auto parsed(std::string_view text, const Parse& parse) -> std::optional<decltype(parse(json()))> {
  try {
    std::string problem;
    const json all = parse_foreign(text, problem);
    if (!problem.empty()) return std::nullopt;
    return parse(all);
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::string record_text(const CompletedBands& record) {
  return line({{"raster", record.raster},
               {"bands", record.bands},
               {"pixels", record.pixels},
               {"state", state_json(record.state)},
               {"segment", record.files.segment.native()},
               {"rows", record.files.rows.native()}});
}

std::optional<CompletedBands> parse_record(std::string_view text) {
  return parsed(text, [](const json& all) {
    CompletedBands record;
    all.at("raster").get_to(record.raster);
    all.at("bands").get_to(record.bands);
    all.at("pixels").get_to(record.pixels);
    record.state = state_of(all.at("state"));
    record.files = {plain_name(all.at("segment")), plain_name(all.at("rows"))};
    return record;
  });
}

std::string samples_text(const std::vector<Sample>& samples) {
  json all = json::array();
  for (const Sample& sample : samples)
    all.push_back({sample.file, sample.offset, sample.bytes, sample.reach, sample.checksum, sample.is_whole});
  return line(all);
}

std::optional<std::vector<Sample>> parse_samples(std::string_view text) {
  return parsed(text, [](const json& all) {
    std::vector<Sample> samples;
    for (const json& sample : all)
      samples.push_back({sample.at(0).get<std::string>(), sample.at(1).get<std::int64_t>(),
                         sample.at(2).get<std::int64_t>(), sample.at(3).get<std::int64_t>(),
                         sample.at(4).get<std::uint32_t>(), sample.at(5).get<bool>()});
    return samples;
  });
}

}  // namespace sepconv
