// Texts of option values. Each function throws InvalidArgument with a message that goes on after the
// option's name: "256Q is not a size; ...".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/geometry.hpp"
#include "io/formats.hpp"

namespace sepconv {

/// Bytes: "64M", "1.5GiB", "4096". K, M, G and T are binary, with or without iB or B.
std::int64_t parse_size(const std::string& text);
/// "COLSxROWS".
Extent parse_extent(const std::string& text);
/// "COLSxROWS+COL+ROW".
Rect parse_region(const std::string& text);
/// "COLSxROWS[xCHANNELS]:TYPE[:OFFSET]" of a raw file. TYPE ends with "be" for big-endian values.
void parse_raw(OpenOptions& options, const std::string& text);
/// A page number, which all formats support, or any other selection of images.
void parse_page(OpenOptions& options, const std::string& text);
/// A pixel value; may be NaN.
double parse_value(const std::string& text);
/// PlanOptions::devices and PlanOptions::with_cpu.
struct NamedDevices {
  std::vector<int> devices;
  bool with_cpu = false;
};
/// "cpu", "cuda" (the first GPU), "cuda:0,1", "cpu+cuda:0".
NamedDevices parse_devices(const std::string& text);
/// A whole number, with or without a sign; nullopt for other texts.
std::optional<std::int64_t> parse_whole_number(const std::string& text);

}  // namespace sepconv
