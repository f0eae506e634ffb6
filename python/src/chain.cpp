// Chains, and descriptions of stages: the keys from which Python signatures are generated.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "images.hpp"

namespace sepconv::python {
namespace {

nb::dict key_facts(const StageKey& key) {
  nb::dict facts;
  facts["name"] = key.name;
  facts["type"] = nb::str(name_of(key.type).data(), name_of(key.type).size());
  facts["help"] = key.help();
  facts["former_name"] = key.former_name;
  facts["choices"] = key.choices;
  facts["default"] = key.default_text;
  facts["needed"] = key.needed && key.only_with.empty() && key.not_with.empty();
  return facts;
}

nb::dict stage_facts(const StageEntry& entry) {
  nb::dict facts;
  facts["name"] = entry.name;
  facts["help"] = entry.help;
  facts["example"] = entry.example;
  facts["former_name"] = entry.former_name;
  nb::list keys;
  for (const StageKey& key : entry.keys) keys.append(key_facts(key));
  facts["keys"] = keys;
  return facts;
}

nb::list stages() {
  nb::list list;
  for (const StageEntry& entry : stage_table()) list.append(stage_facts(entry));
  return list;
}

using Sizes = std::vector<std::pair<std::string, std::int64_t>>;

/// A second image from an array of rows, columns and channels, which it keeps alive. If `axes` is not empty,
/// the array contains several images, stacked along these axes.
SecondaryImage second_image(const nb::object& array, const Sizes& axes) {
  const PixelView pixels = view_of_array(array);
  const auto release = [](nb::object* object) {
    const nb::gil_scoped_acquire acquired;
    delete object;
  };
  SecondaryImage image{pixels, std::shared_ptr<nb::object>(new nb::object(array), release)};
  for (const auto& [name, size] : axes) image.rasters.push_back({.name = name, .size = size});
  return image;
}

/// A chain of one stage from key texts (of arbitrary characters) and arrays.
Chain make_stage(const std::string& name, std::vector<std::pair<std::string, std::string>> pairs,
                 const std::vector<std::tuple<std::string, nb::object, Sizes>>& arrays) {
  const StageEntry& entry = find_stage_entry(name);
  StageText text{entry.name, std::move(pairs), {}};
  for (const auto& [key, array, axes] : arrays) text.images.emplace_back(key, second_image(array, axes));
  return Chain(entry.make(text));
}

/// The chain of SciPy's ndimage functions: correlation with taps along rows and columns, rounded to `type` if
/// given.
Chain taps_chain(const std::vector<double>& row, const std::vector<double>& col, std::string_view border,
                 double value, std::optional<std::string> type) {
  const auto mode = parse_border_mode(border);
  if (!mode) throw InvalidArgument("'" + std::string(border) + "' is not a border");
  const Chain chain(convolve({.row = row, .col = col, .border = {*mode, value}}));
  return type ? chain | Chain(cast({.type = type_named(*type)})) : chain;
}

using SpecTuple = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string>;

ImageSpec spec_of(const SpecTuple& input) {
  const auto& [rows, cols, channels, name] = input;
  return {{rows, cols}, channels, type_named(name)};
}

/// Rows, columns, channels and type of the result for this input.
SpecTuple result_spec(const Chain& chain, const SpecTuple& input) {
  const ImageSpec spec = chain.result_spec(spec_of(input));
  return {spec.extent.rows, spec.extent.cols, spec.channels, std::string(name_of(spec.type))};
}

using RectTuple = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

/// The rectangle (row, column, rows, columns) of the input that this rectangle of the result depends on.
RectTuple input_for(const Chain& chain, const RectTuple& output, const SpecTuple& input) {
  const auto& [row, col, rows, cols] = output;
  const Rect rect = chain.input_for({row, col, rows, cols}, spec_of(input));
  return {rect.row, rect.col, rect.rows, rect.cols};
}

bool is_complex_linear(const Chain& chain) {
  return std::ranges::all_of(chain.stages(),
                             [](const StagePtr& stage) { return stage->properties().is_complex_linear; });
}

bool has_second_stack(const Chain& chain) {
  return std::ranges::any_of(
      chain.stages(), [](const StagePtr& stage) { return stage->properties().secondary_is_raster_set; });
}

/// Whether the chain processes stacks instead of single images: it filters along z, or has a stack as second
/// input.
bool is_for_stacks(const Chain& chain) { return filters_along_z(chain) || has_second_stack(chain); }

/// The chain for volumes stored as images in which each row is a plane.
Chain chain_on_volume(const Chain& chain, const SpecTuple& plane, std::int64_t depth) {
  const ImageSpec spec = spec_of(plane);
  return on_volume(chain, spec, {spec.extent, depth});
}

/// The equivalent chain for the transposed image; empty if none exists.
std::optional<Chain> transposed_chain(const Chain& chain) {
  Chain transposed;
  for (const StagePtr& stage : chain.stages()) {
    const StagePtr transposed_stage = stage->transposed();
    if (transposed_stage == nullptr) return std::nullopt;
    transposed.then(transposed_stage);
  }
  return transposed;
}

std::vector<std::string> texts(const Chain& chain) {
  std::vector<std::string> list;
  for (const StagePtr& stage : chain.stages()) list.push_back(stage->text());
  return list;
}

}  // namespace

void bind_chain(nb::module_& module) {
  nb::class_<Chain>(module, "NativeChain")
      .def("__or__", [](const Chain& first, const Chain& second) { return first | second; })
      .def_prop_ro("texts", texts)
      .def_prop_ro("by_parts", is_complex_linear)
      .def_prop_ro("of_stacks", is_for_stacks)
      .def_prop_ro("of_volumes",
                   [](const Chain& chain) { return filters_along_z(chain) && !has_second_stack(chain); })
      .def_prop_ro("turned", transposed_chain)
      .def_prop_ro("turns", &Chain::turns)
      .def("on_volume", chain_on_volume, nb::arg("plane"), nb::arg("depth"))
      .def("input_for", input_for, nb::arg("output"), nb::arg("input"))
      .def("result_spec", result_spec, nb::arg("input"));
  module.def("parse", [](const std::vector<std::string>& stages) { return Chain::parse(stages); });
  module.def("make_stage", make_stage);
  module.def("split_chain", split_chain);
  module.def("with_absolute_paths", [](const std::string& stage) { return with_absolute_paths(stage); });
  module.attr("in_memory") = nb::str(kInMemoryPrefix.data(), kInMemoryPrefix.size());
  module.def("taps", taps_chain, nb::arg("row"), nb::arg("col"), nb::arg("border"), nb::arg("value"),
             nb::arg("type").none());
  module.def("stages", stages);
}

}  // namespace sepconv::python
