// Parses OME-XML for the pages of its file.
// https://docs.openmicroscopy.org/ome-model/6.2.2/ome-tiff/specification.html
#include "io/stack/ome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "io/nodata.hpp"
#include "io/stack/stack.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kMaxPlanes = 1 << 24;

/// Planes of an image: sizes by axis, in the order of its pages, fastest first.
struct Planes {
  std::string order;  ///< "zct"
  std::int64_t sizes[3]{1, 1, 1};
  std::int64_t count() const { return sizes[0] * sizes[1] * sizes[2]; }
  std::int64_t index(const std::int64_t (&at)[3]) const {
    return at[0] + sizes[0] * (at[1] + sizes[1] * at[2]);
  }
};

std::string name_of_size(char axis) { return fmt::format("Size{}", static_cast<char>(std::toupper(axis))); }

/// Returns an empty order if the sizes or the order are invalid.
Planes planes_of(const pugi::xml_node& pixels, std::int64_t channels) {
  Planes planes;
  std::string order = pixels.attribute("DimensionOrder").as_string();
  std::ranges::transform(order, order.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string sorted = order;
  std::ranges::sort(sorted);
  if (!order.starts_with("xy") || sorted != "ctxyz") return planes;
  std::int64_t count = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const char axis = order[i + 2];
    std::int64_t size = ome_count(pixels.attribute(name_of_size(axis).c_str()));
    if (axis == 'c' && channels > 0 && size % channels == 0) size /= channels;
    if (size < 1 || size > kMaxPlanes || (count *= size) > kMaxPlanes) return planes;
    planes.sizes[i] = size;
  }
  planes.order = order.substr(2);
  return planes;
}

/// Whether a plane is stored in another file than that of this UUID.
bool is_elsewhere(const pugi::xml_node& pixels, const std::string& file_id) {
  return std::ranges::any_of(ome_children(pixels, "TiffData"), [&](const pugi::xml_node& data) {
    const pugi::xml_node id = ome_child(data, "UUID");
    return id && id.text().as_string() != file_id;
  });
}

/// The page of the file for each plane; -1 if the XML states no page.
std::vector<std::int64_t> pages_of_planes(const pugi::xml_node& pixels, const Planes& planes) {
  std::vector<std::int64_t> pages(static_cast<std::size_t>(planes.count()), -1);
  std::int64_t budget = 4 * planes.count();  // limits the time that a malicious file can take
  for (const pugi::xml_node& data : ome_children(pixels, "TiffData")) {
    std::int64_t at[3]{};
    bool is_valid = true;
    for (std::size_t i = 0; i < 3; ++i) {
      const std::string name = fmt::format("First{}", static_cast<char>(std::toupper(planes.order[i])));
      at[i] = ome_count(data.attribute(name.c_str()));
      is_valid = is_valid && at[i] >= 0 && at[i] < planes.sizes[i];
    }
    if (!is_valid) continue;
    const std::int64_t first = planes.index(at);
    const bool has_page = !data.attribute("IFD").empty();
    const std::int64_t page = ome_count(data.attribute("IFD"));
    const std::int64_t remaining_planes = planes.count() - first;
    const std::int64_t count = std::min<std::int64_t>(
        {remaining_planes, ome_count(data.attribute("PlaneCount"), has_page ? 1 : remaining_planes), budget});
    for (std::int64_t i = 0; i < count; ++i) pages[static_cast<std::size_t>(first + i)] = page + i;
    budget -= std::max<std::int64_t>(count, 0);
  }
  return pages;
}

/// The UUID of this file in TiffData: that of the document, else the only one in all TiffData.
std::string id_of_file(const pugi::xml_node& root, const std::vector<pugi::xml_node>& images) {
  if (const std::string id = root.attribute("UUID").as_string(); !id.empty()) return id;
  std::set<std::string> ids;
  for (const pugi::xml_node& image : images) {
    for (const pugi::xml_node& data : ome_children(ome_child(image, "Pixels"), "TiffData"))
      if (const pugi::xml_node id = ome_child(data, "UUID")) ids.insert(id.text().as_string());
  }
  return ids.size() == 1 ? *ids.begin() : "";
}

bool is_companion(std::string name) {
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* const keyword : {"label", "macro", "thumbnail", "overview"}) {
    if (name.find(keyword) != name.npos) return true;
  }
  return false;
}

bool are_valid_pages(const std::vector<std::int64_t>& pages, std::int64_t count) {
  return std::ranges::all_of(pages, [&](std::int64_t page) { return page >= 0 && page < count; });
}

}  // namespace

bool has_ome_name(const pugi::xml_node& node, std::string_view name) {
  std::string_view local_name = node.name();
  if (const std::size_t colon = local_name.find(':'); colon != local_name.npos)
    local_name.remove_prefix(colon + 1);
  return local_name == name;
}

pugi::xml_node ome_child(const pugi::xml_node& node, std::string_view name) {
  return node.find_child([&](const pugi::xml_node& child) { return has_ome_name(child, name); });
}

std::vector<pugi::xml_node> ome_children(const pugi::xml_node& node, std::string_view name) {
  std::vector<pugi::xml_node> found;
  for (const pugi::xml_node& child : node.children()) {
    if (has_ome_name(child, name)) found.push_back(child);
  }
  return found;
}

std::int64_t ome_count(const pugi::xml_attribute& attribute, std::int64_t missing) {
  return attribute ? whole_number_of(attribute.value()).value_or(-1) : missing;
}

std::optional<std::uint32_t> ome_colour(const pugi::xml_node& channel) {
  const std::optional<double> number =
      number_of(channel.attribute("Color").value());  // red, green, blue, alpha
  if (!number || *number != std::floor(*number) || std::abs(*number) >= 0x1p32) return std::nullopt;
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(*number)) >> 8;
}

std::string parse_ome(const std::string& xml, pugi::xml_document& document) {
  if (const std::string problem = parse_xml(xml, pugi::parse_default | pugi::parse_declaration, document);
      !problem.empty())
    return "its OME-XML " + problem;
  const pugi::xml_node root = document.document_element();
  if (!has_ome_name(root, "OME")) return "its OME-XML has another root";
  return ome_child(ome_child(root, "Image"), "Pixels") || ome_child(root, "BinaryOnly")
             ? ""
             : "its OME-XML has no image";
}

bool has_same_shape(const pugi::xml_node& pixels, const pugi::xml_node& first) {
  for (const char* const name : {"SizeX", "SizeY", "SizeZ", "SizeC", "SizeT", "Type", "DimensionOrder"}) {
    if (std::string_view(pixels.attribute(name).as_string()) != first.attribute(name).as_string())
      return false;
  }
  return true;
}

Stack read_ome(const std::string& xml, const SampleSpec& spec, std::int64_t pages) {
  Stack stack;
  pugi::xml_document document;
  stack.problem = parse_ome(xml, document);
  if (!stack.problem.empty()) return stack;
  const pugi::xml_node root = document.document_element();
  if (ome_child(root, "BinaryOnly")) {
    stack.refusal = "its OME-XML is in another file, which says how its pages belong together";
    return stack;
  }
  const std::vector<pugi::xml_node> images = ome_children(root, "Image");
  const pugi::xml_node first = ome_child(images.front(), "Pixels");
  const Planes planes = planes_of(first, spec.channels);
  if (planes.order.empty()) {
    stack.problem = "its OME-XML states invalid sizes or an invalid order of dimensions";
    return stack;
  }
  const std::string file_id = id_of_file(root, images);
  std::int64_t same_shape_images = 0, all_planes = 0;
  bool has_data = false;
  for (const pugi::xml_node& image : images) {
    const pugi::xml_node pixels = ome_child(image, "Pixels");
    const Planes image_planes = planes_of(pixels, spec.channels);
    std::vector<std::int64_t> plane_pages;
    if (image_planes.order.empty()) {
      stack.problem = "its OME-XML states invalid sizes or an invalid order of dimensions";
      return stack;
    }
    if (is_elsewhere(pixels, file_id)) {
      stack.refusal = "its OME-XML spreads the images over several files, and one is read";
      return stack;
    }
    has_data = has_data || ome_child(pixels, "TiffData");
    if (image_planes.count() > pages) {
      stack.problem = "its OME-XML counts planes for which there are no pages";
      return stack;
    }
    all_planes += image_planes.count();
    if (all_planes > kMaxPlanes) {
      stack.problem = fmt::format("its OME-XML counts more than the {} planes that are read", kMaxPlanes);
      return stack;
    }
    plane_pages = pages_of_planes(pixels, image_planes);
    if (has_same_shape(pixels, first)) {
      ++same_shape_images;
      stack.pages.insert(stack.pages.end(), plane_pages.begin(), plane_pages.end());
    } else if (const std::string name = image.attribute("Name").as_string(); is_companion(name)) {
      stack.unlike.emplace_back(plane_pages.front(), name);
    } else {
      stack.refusal =
          fmt::format("its OME-XML has {} images (series) of several sizes or types", images.size());
      stack.is_mixed = true;
      return stack;
    }
  }
  if (same_shape_images > 1) stack.axes.push_back({"s", same_shape_images});
  for (std::size_t i = 3; i-- > 0;) stack.axes.push_back({std::string(1, planes.order[i]), planes.sizes[i]});
  if (!has_data && same_shape_images == 1) stack.pages.clear();
  const Extent stated{ome_count(first.attribute("SizeY")), ome_count(first.attribute("SizeX"))};
  if (stated != spec.extent)
    stack.problem = fmt::format("its OME-XML states images of {} x {} pixels, which its pages do not have",
                                stated.cols, stated.rows);
  else if ((has_data && !are_valid_pages(stack.pages, pages)) ||
           (!has_data && raster_count(stack.axes) > pages))
    stack.problem = "its OME-XML counts planes for which there are no pages";
  return stack;
}

}  // namespace sepconv
