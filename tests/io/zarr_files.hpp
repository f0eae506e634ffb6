// Zarr stores for tests: uncompressed chunks whose elements are numbered.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "temporary_folder.hpp"

namespace sepconv::zarr_files {

using Shape = std::vector<std::int64_t>;

inline void write(const std::filesystem::path& file, std::string_view bytes) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::string read(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Advances to the next position, last axis fastest. Returns false after the last position.
inline bool next(Shape& position, const Shape& end) {
  for (std::size_t i = end.size(); i-- > 0;) {
    if (++position[i] < end[i]) return true;
    position[i] = 0;
  }
  return false;
}

/// The index of an element in C order, or 0 outside of the array.
inline std::uint16_t value_at(const Shape& position, const Shape& shape) {
  std::int64_t value = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (position[i] >= shape[i]) return 0;
    value = value * shape[i] + position[i];
  }
  return static_cast<std::uint16_t>(value);
}

struct Store {
  Shape shape, chunk;
  std::vector<int> order{};  ///< stored order of the axes, slowest first; empty: C order
  bool big_endian = false;
  int version = 3;
  std::string separator = "/";
  std::string names{};   ///< JSON list
  std::string codecs{};  ///< further codecs as JSON, after bytes: ", {...}"
  std::string fill = "0";
};

/// The bytes of the chunk at grid position `at`.
inline std::string chunk_bytes(const Store& store, const Shape& at) {
  Shape stored_shape, position(store.shape.size());
  std::vector<int> order = store.order;
  for (std::size_t i = order.size(); i < store.shape.size(); ++i) order.push_back(static_cast<int>(i));
  for (const int axis : order) stored_shape.push_back(store.chunk[static_cast<std::size_t>(axis)]);
  std::string bytes;
  Shape in_chunk(order.size());
  do {
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto axis = static_cast<std::size_t>(order[i]);
      position[axis] = at[axis] * store.chunk[axis] + in_chunk[i];
    }
    const std::uint16_t value = value_at(position, store.shape);
    const char low = static_cast<char>(value & 0xFF), high = static_cast<char>(value >> 8);
    bytes += store.big_endian ? high : low;
    bytes += store.big_endian ? low : high;
  } while (next(in_chunk, stored_shape));
  return bytes;
}

inline std::string metadata(const Store& store) {
  if (store.version == 2)
    return fmt::format(
        R"({{"zarr_format": 2, "shape": [{}], "chunks": [{}], "dtype": "{}u2", "compressor": null, "filters": null,
            "order": "{}", "fill_value": {}, "dimension_separator": "{}"}})",
        fmt::join(store.shape, ", "), fmt::join(store.chunk, ", "), store.big_endian ? ">" : "<",
        store.order.empty() ? "C" : "F", store.fill, store.separator);
  const std::string transpose =
      store.order.empty() ? ""
                          : fmt::format(R"({{"name": "transpose", "configuration": {{"order": [{}]}}}}, )",
                                        fmt::join(store.order, ", "));
  return fmt::format(
      R"({{"zarr_format": 3, "node_type": "array", "shape": [{}], "data_type": "uint16", "fill_value": {},
          "chunk_grid": {{"name": "regular", "configuration": {{"chunk_shape": [{}]}}}},
          "chunk_key_encoding": {{"name": "default", "configuration": {{"separator": "{}"}}}},
          "codecs": [{}{{"name": "bytes", "configuration": {{"endian": "{}"}}}}{}]{}}})",
      fmt::join(store.shape, ", "), store.fill, fmt::join(store.chunk, ", "), store.separator, transpose,
      store.big_endian ? "big" : "little", store.codecs,
      store.names.empty() ? "" : fmt::format(R"(, "dimension_names": {})", store.names));
}

inline std::filesystem::path chunk_file(const Store& store, const std::filesystem::path& folder,
                                        const Shape& at) {
  const std::string key = fmt::format("{}", fmt::join(at, store.separator));
  return folder / (store.version == 2 ? key : "c" + store.separator + key);
}

/// Writes the metadata and all chunks into `folder`, and returns it.
inline std::filesystem::path make(const Store& store, const std::filesystem::path& folder) {
  write(folder / (store.version == 2 ? ".zarray" : "zarr.json"), metadata(store));
  Shape grid, at(store.shape.size());
  for (std::size_t i = 0; i < store.shape.size(); ++i)
    grid.push_back((store.shape[i] + store.chunk[i] - 1) / store.chunk[i]);
  do write(chunk_file(store, folder, at), chunk_bytes(store, at));
  while (next(at, grid));
  return folder;
}

}  // namespace sepconv::zarr_files
