#include "io/stack/stack.hpp"

#include "io/stack/ngff.hpp"

namespace sepconv {

bool is_ome(std::string_view description) {
  return description.find("<OME") != std::string_view::npos ||
         description.find(":OME ") != std::string_view::npos;
}

bool is_stack_description(std::string_view description) {
  return is_ome(description) || is_imagej(description) || is_ngff(description) || is_shaped(description);
}

Stack read_stack(const std::string& description, const SampleSpec& spec, std::int64_t pages) {
  if (is_ome(description)) return read_ome(description, spec, pages);
  if (is_ngff(description)) return {.problem = pages == 1 ? "" : "its description is that of an OME-Zarr"};
  return is_imagej(description) ? read_imagej(description, spec, pages) : read_shaped(description, spec);
}

bool describes_single_image(const std::string& description, const SampleSpec& spec) {
  if (!is_stack_description(description)) return true;
  const Stack stack = read_stack(description, spec, 1);
  return stack.problem.empty() && stack.refusal.empty() && raster_count(stack.axes) == 1 &&
         stack.unlike.empty();
}

std::string describe_stack(const std::string& description, const RasterAxes& axes, const ImageChange& change,
                           std::vector<std::string>& lost) {
  std::string result = is_ome(description)      ? describe_ome(description, axes, change, lost)
                       : is_imagej(description) ? describe_imagej(description, axes, change, lost)
                       : is_ngff(description)   ? describe_ngff(description, axes, change, lost)
                                                : describe_shaped(description, axes, change);
  if (result.empty()) lost.emplace_back("the description is left out: it counts images differently");
  return result;
}

}  // namespace sepconv
