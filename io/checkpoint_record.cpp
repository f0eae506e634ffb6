#include "io/checkpoint_record.hpp"

#include <utility>

#include "io/foreign_json.hpp"

namespace sepconv {
namespace {

using nlohmann::json;

json state_json(const WriterState& state) {
  json levels = json::array();
  for (const WriterState& level : state.levels) levels.push_back(state_json(level));
  return {{"places", state.block_positions}, {"levels", std::move(levels)}};
}

WriterState state_of(const json& document) {
  WriterState state;
  document.at("places").get_to(state.block_positions);
  for (const json& level : document.at("levels")) state.levels.push_back(state_of(level));
  return state;
}

std::string dump_line(const json& document) {
  return document.dump(-1, ' ', true, json::error_handler_t::replace);
}

/// A file name without folders.
std::string plain_name(const json& name) {
  const std::filesystem::path path = name.get<std::string>();
  if (path != path.filename()) throw json::other_error::create(0, "no name", nullptr);
  return path;
}

/// Parses a line of JSON; null if the line does not have the expected content.
template <class Parse>
auto try_parse(std::string_view text, const Parse& parse) -> std::optional<decltype(parse(json()))> {
  try {
    std::string problem;
    const json document = parse_foreign(text, problem);
    if (!problem.empty()) return std::nullopt;
    return parse(document);
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::string record_text(const CompletedBands& record) {
  return dump_line({{"raster", record.raster},
                    {"bands", record.bands},
                    {"pixels", record.pixels},
                    {"state", state_json(record.state)},
                    {"segment", record.files.segment.native()},
                    {"rows", record.files.rows.native()}});
}

std::optional<CompletedBands> parse_record(std::string_view text) {
  return try_parse(text, [](const json& document) {
    CompletedBands record;
    document.at("raster").get_to(record.raster);
    document.at("bands").get_to(record.bands);
    document.at("pixels").get_to(record.pixels);
    record.state = state_of(document.at("state"));
    record.files = {plain_name(document.at("segment")), plain_name(document.at("rows"))};
    return record;
  });
}

std::string samples_text(const std::vector<Sample>& samples) {
  json document = json::array();
  for (const Sample& sample : samples)
    document.push_back(
        {sample.file, sample.offset, sample.bytes, sample.reach, sample.checksum, sample.is_whole});
  return dump_line(document);
}

std::optional<std::vector<Sample>> parse_samples(std::string_view text) {
  return try_parse(text, [](const json& document) {
    std::vector<Sample> samples;
    for (const json& sample : document)
      samples.push_back({sample.at(0).get<std::string>(), sample.at(1).get<std::int64_t>(),
                         sample.at(2).get<std::int64_t>(), sample.at(3).get<std::int64_t>(),
                         sample.at(4).get<std::uint32_t>(), sample.at(5).get<bool>()});
    return samples;
  });
}

}  // namespace sepconv
