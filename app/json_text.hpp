// JSON output.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "io/json_text.hpp"
#include "io/raster_axes.hpp"

namespace sepconv::app {

/// The position of a raster along its axes: {"c": 1, "z": 3}.
inline nlohmann::ordered_json position_json(const RasterAxes& axes, std::int64_t raster) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  const std::vector<std::int64_t> position = position_of(axes, raster);
  for (std::size_t i = 0; i < axes.size(); ++i) all[axes[i].name] = position[i];
  return all;
}

}  // namespace sepconv::app
