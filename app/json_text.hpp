// JSON as it is printed.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "io/raster_axes.hpp"

namespace sepconv::app {

/// Pure ASCII, so that nothing in it acts on a terminal. What is not UTF-8 is replaced.
inline std::string json_text(const nlohmann::ordered_json& value) {
  return value.dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

/// {"c": 1, "z": 3}: where a raster lies along its axes.
inline nlohmann::ordered_json position_json(const RasterAxes& axes, std::int64_t raster) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  const std::vector<std::int64_t> position = position_of(axes, raster);
  for (std::size_t i = 0; i < axes.size(); ++i) all[axes[i].name] = position[i];
  return all;
}

}  // namespace sepconv::app
