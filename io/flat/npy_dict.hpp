// The dictionary in an NPY header: a Python literal of three known keys, read without Python.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sepconv {

struct NpyDict {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

/// Returns null if `text` is not a dictionary of exactly these keys, or describes a structured array.
std::optional<NpyDict> parse_npy_dict(std::string_view text);

}  // namespace sepconv
