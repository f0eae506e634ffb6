// One randomly made run, for the property test: how it is made, run, shrunk and printed.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "pipeline/run/run.hpp"

namespace sepconv::test {

/// A value of every type.
inline constexpr double kHole = 7;

struct PropertyCase {
  ImageSpec spec;  ///< of the image, or of a plane of a volume
  std::vector<std::string> stages;
  std::uint64_t image_seed = 0;
  int slots = 1;
  int threads = 1;
  std::int64_t band_rows = 1;
  std::int64_t band_cols = 0;
  Extent tile;
  int delay_us = 0;    ///< longest delay of a read, of a stage on a tile, and of a write
  ImageSpec matrix{};  ///< of a gemm stage; no rows if there is none
  std::uint64_t matrix_seed = 0;
  ImageSpec second{};  ///< beside the stage that has a second image; no rows if there is none
  std::uint64_t second_seed = 0;
  bool holes = false;        ///< some pixels are kHole, or NaN if they are floating
  MissingOptions missing{};  ///< which may declare them
  std::int64_t depth = 0;    ///< of a volume, whose planes are the rows of the image that is run; 0: none
  std::int64_t planes = 1;   ///< of it, beside each other in a row
};

PropertyCase random_case(std::mt19937_64& random);

/// Whether the streaming runner, on the CPU or on these GPUs, gives the bytes of the whole-image runner; also
/// checks that it cut the image as it was told, and ran there.
bool holds(const PropertyCase& c, const std::vector<int>& devices = {});

/// Whether a random region of the result, made by running ranges of bands of its plan in random order, is the
/// crop of the whole-image runner's result; the plan goes through its text before.
bool holds_in_parts(const PropertyCase& c, std::mt19937_64& random, const std::vector<int>& devices = {});

/// The smallest case that still fails which can be had from this failing one by dropping stages, halving
/// sizes and turning options off.
PropertyCase shrunk(PropertyCase failing, const std::function<bool(const PropertyCase&)>& fails);

/// Commands that make the image, run both runners and compare them.
std::string command_line(const PropertyCase& c);

}  // namespace sepconv::test
