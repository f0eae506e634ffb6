// The options of sources, plans and missing pixels.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "core/printable.hpp"
#include "pipeline/job/option.hpp"
#include "pipeline/job/option_values.hpp"

namespace sepconv {
namespace {

constexpr int kMaxLevel = 64;
constexpr std::string_view kSize = "SIZE";

template <auto member>
void set_integer(auto& options, const std::string& text) {
  auto& option = options.*member;
  option = static_cast<std::remove_reference_t<decltype(option)>>(parse_whole_number(text).value());
}

template <auto member>
void set_size(PlanOptions& options, const std::string& text) {
  options.*member = parse_size(text);
}

void set_axes(OpenOptions& options, const std::string& text) {
  if (text.empty()) throw InvalidArgument("is empty; give a letter for each axis");
  options.axes = text;
}

void set_missing_chunks(OpenOptions& options, const std::string& text) {
  options.missing_chunks = text == "error" ? MissingChunks::error : MissingChunks::fill;
}

void set_devices(PlanOptions& options, const std::string& text) {
  options.choose_device = text == "auto";
  const NamedDevices named = options.choose_device ? NamedDevices() : parse_devices(text);
  options.devices = named.devices;
  options.with_cpu = named.with_cpu;
}

void set_arithmetic(PlanOptions& options, const std::string& text) {
  options.arithmetic = text == "f64" ? Arithmetic::f64 : Arithmetic::f32;
}

void set_region(PlanOptions& options, const std::string& text) { options.region = parse_region(text); }

void set_nodata(MissingOptions& options, const std::string& text) {
  options.none = text == "none";
  if (!options.none) options.value = parse_value(text);
}

void set_all_channels(MissingOptions& options, const std::string& text) {
  options.all_channels = text == "all";
}

void set_alpha_rule(MissingOptions& options, const std::string& text) {
  options.alpha_rule = alpha_rule_named(text);
}

void set_result(MissingOptions& options, const std::string& text) { options.result = parse_value(text); }

void set_orient(FileOptions& options, const std::string&) { options.orient = true; }

}  // namespace

const std::vector<Option<OpenOptions>>& open_option_table() {
  using enum ValueKind;
  static const std::vector<Option<OpenOptions>> table{
      {{{"OpenOptions::page", "--page", "page"}, {"OpenOptions::select", "--page", "page"}},
       "images of a file with several: 3 or 0-9 (pages of a TIFF, from 0), or positions of named axes, c=1 "
       "or z=2-5,t=0; all by default",
       parse_page,
       text,
       "PAGES"},
      {{{"OpenOptions::level", "--level", "level"}},
       "level of a pyramid: 0, the full image, by default",
       set_integer<&OpenOptions::level>,
       integer,
       "",
       0,
       kMaxLevel},
      {{{"OpenOptions::axes", "--axes", "axes"}},
       "axes of an NPY or Zarr array, or of the pages of a TIFF, a letter each: y rows, x columns, a last c "
       "channels, like tzyx",
       set_axes,
       text,
       "yx|yxc|zyx|..."},
      {{{"OpenOptions::missing_chunks", "--missing-chunks", "missing_chunks"},
        {"OpenOptions::missing_chunks = error", "--missing-chunks error", "missing_chunks='error'"},
        {"OpenOptions::missing_chunks = fill", "--missing-chunks fill", "missing_chunks='fill'"}},
       "Zarr chunks that are not stored: an error, or the fill value. Default: the fill value; an error if "
       "no chunk is stored",
       set_missing_chunks,
       choice,
       "error|fill"},
      {{{"OpenOptions::raw", "--raw", "raw"}},
       "the input has no header: its shape and type; u8 u16 i16 f32 f64, with be at the end for big-endian",
       parse_raw,
       text,
       "COLSxROWS[xCHANNELS]:TYPE[:OFFSET]"}};
  return table;
}

const std::vector<Option<PlanOptions>>& plan_option_table() {
  using enum ValueKind;
  static const std::vector<Option<PlanOptions>> table{
      {{{"PlanOptions::devices", "--device", "device", true}},
       "auto (default): the CPU, the first GPU or both, whichever is predicted to be faster; cpu; cuda: the "
       "first GPU; cuda:0,1: these GPUs; cpu+cuda:0: the CPU and these GPUs",
       set_devices,
       text,
       "auto|cpu|cpu+cuda:0|cuda|cuda:0[,1]"},
      {{{"PlanOptions::max_device_memory_bytes", "--max-device-memory", "max_device_memory", true}},
       "memory limit on each GPU. Default: nine tenths of its free memory",
       set_size<&PlanOptions::max_device_memory_bytes>,
       text,
       kSize},
      {{{"PlanOptions::max_memory_bytes", "--max-memory", "max_memory", true}},
       "memory limit of the run, such as 256M or 1.5G. Default: a quarter of the free memory",
       set_size<&PlanOptions::max_memory_bytes>,
       text,
       kSize},
      {{{"PlanOptions::threads", "--threads", "threads", true}},
       "threads; all processors by default",
       set_integer<&PlanOptions::threads>,
       integer,
       "",
       1,
       kMaxThreads},
      {{{"PlanOptions::band_rows", "--band-rows", "band_rows", true}},
       "rows of the result per band",
       set_integer<&PlanOptions::band_rows>,
       integer,
       "",
       1,
       kMaxSide},
      {{{"PlanOptions::slots", "--slots", "slots", true}},
       "bands in flight: 1 no overlap, 2 double buffering, ...",
       set_integer<&PlanOptions::slots>,
       integer,
       "",
       1,
       kMaxSlots},
      {{{"PlanOptions::band_cols", "--band-cols", "band_cols", true}},
       "columns of the result per band",
       set_integer<&PlanOptions::band_cols>,
       integer,
       "",
       1,
       kMaxSide},
      {{{"PlanOptions::arithmetic", "--arithmetic", "arithmetic", true}},
       "f32 by default, f64 for f64 images",
       set_arithmetic,
       choice,
       "f32|f64"},
      {{{"PlanOptions::region", "--region", "region", true}},
       "compute only this region of the result, and read only what it needs",
       set_region,
       text,
       "COLSxROWS+COL+ROW"}};
  return table;
}

const std::vector<Option<MissingOptions>>& missing_option_table() {
  using enum ValueKind;
  static const std::vector<Option<MissingOptions>> table{
      {{{"MissingOptions::value", "--nodata", "nodata", true},
        {"MissingOptions::none", "--nodata none", "nodata='none'"}},
       "treat this value as nodata; none: no nodata. Default: what the file declares",
       set_nodata,
       number,
       "VALUE|nan|none"},
      {{{"MissingOptions::all_channels", "--nodata-bands", "nodata_bands", true}},
       "each: a channel with the nodata value is missing. all: a pixel is missing if all its channels have "
       "it (GDAL's UNIFIED_SRC_NODATA)",
       set_all_channels,
       choice,
       "each|all"},
      {{{"MissingOptions::alpha_rule", "--alpha", "alpha", true}},
       "weight: colours are averaged by alpha. mask: pixels of alpha 0 are missing. Default: weight in "
       "pictures, mask in files with a georeference, a nodata value or a mask",
       set_alpha_rule,
       choice,
       "weight|mask"},
      {{{"MissingOptions::result", "--dst-nodata", "dst_nodata", true}},
       "nodata value of the result. Default: the input's",
       set_result,
       number,
       "VALUE|nan"}};
  return table;
}

const std::vector<Option<FileOptions>>& file_option_table() {
  static const std::vector<Option<FileOptions>> table{{{{"FileOptions::orient", "--orient", "orient"}},
                                                       "apply the orientation tag of the input (EXIF, TIFF)",
                                                       set_orient}};
  return table;
}

std::vector<std::string> choices(std::string_view value) {
  std::istringstream text{std::string(value)};
  std::vector<std::string> words;
  for (std::string word; std::getline(text, word, '|');) words.push_back(word);
  return words;
}

std::string wrong_value(ValueKind kind, std::string_view value, std::int64_t min, std::int64_t max,
                        const std::string& text) {
  if (kind == ValueKind::choice) {
    const std::vector<std::string> words = choices(value);
    if (std::ranges::find(words, text) == words.end())
      return fmt::format("'{}' is not one of {}", shortened(text), fmt::join(words, ", "));
  }
  if (kind == ValueKind::integer) {
    const std::optional<std::int64_t> number = parse_whole_number(text);
    if (!number || *number < min || *number > max)
      return fmt::format("'{}' is not a whole number from {} to {}", shortened(text), min, max);
  }
  return {};
}

}  // namespace sepconv
