// A random run for the property test: generating, running, shrinking and printing it.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "pipeline/run/run.hpp"

namespace sepconv::test {

/// The value of holes, which every pixel type can represent.
inline constexpr double kHole = 7;

struct PropertyCase {
  ImageSpec spec;  ///< spec of the image, or of a plane of a volume
  std::vector<std::string> stages;
  std::uint64_t image_seed = 0;
  int slots = 1;
  int threads = 1;
  std::int64_t band_rows = 1;
  std::int64_t band_cols = 0;
  Extent tile;
  int delay_us = 0;    ///< maximum delay of a read, of a stage on a tile, and of a write
  ImageSpec matrix{};  ///< matrix of a gemm stage; no rows: no such stage
  std::uint64_t matrix_seed = 0;
  ImageSpec second{};  ///< second image of a stage; no rows: no such stage
  std::uint64_t second_seed = 0;
  bool holes = false;        ///< some pixels are kHole, or NaN if they are floating
  MissingOptions missing{};  ///< may declare the holes
  std::int64_t depth =
      0;  ///< depth of a volume, whose planes are the rows of the image that is run; 0: no volume
  std::int64_t planes = 1;  ///< planes of the volume side by side in a row
};

/// An environment variable's number, or `fallback` if it is not set.
std::uint64_t from_environment(const char* name, std::uint64_t fallback);

PropertyCase random_case(std::mt19937_64& random);

/// Whether the streaming runner, on the CPU or on `devices` (which may contain kCpu), gives the bytes of the
/// whole-image runner.
/// Throws std::logic_error if the plan does not have the case's bands, slots, threads and devices.
bool holds(const PropertyCase& c, const std::vector<int>& devices = {});

/// Whether a random region of the result equals the crop of the whole-image runner's result. The region's
/// plan is converted to JSON and back, and its bands run as ranges in random order.
bool holds_in_parts(const PropertyCase& c, std::mt19937_64& random, const std::vector<int>& devices = {});

/// The smallest case that still fails, found by dropping stages, halving sizes and disabling options.
PropertyCase shrunk(PropertyCase failing, const std::function<bool(const PropertyCase&)>& fails);

/// Commands that generate the image, run both runners and compare their results.
std::string command_line(const PropertyCase& c);

}  // namespace sepconv::test
