#include "io/sidecars.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <optional>

#include "io/nodata.hpp"
#include "io/world_file.hpp"
#include "io/xml.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

/// Names, without the folder, of the files that exist.
std::vector<std::string> existing_sidecars(const fs::path& image, std::vector<fs::path> names,
                                           std::initializer_list<const char*> endings) {
  for (const char* const ending : endings) names.emplace_back(image.native() + ending);
  std::vector<std::string> found;
  for (const fs::path& name : names) {
    std::error_code ignored;
    if (fs::is_regular_file(name, ignored)) found.push_back(name.filename().native());
  }
  return found;
}

/// The nodata value in GDAL's .aux.xml, of the first band that has one.
std::optional<double> sidecar_nodata(const fs::path& image) {
  constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
  std::ifstream file(image.native() + ".aux.xml", std::ios::binary);
  std::string xml(kMaxBytes, '\0');
  file.read(xml.data(), static_cast<std::streamsize>(xml.size()));
  xml.resize(static_cast<std::size_t>(file.gcount()));
  pugi::xml_document document;
  if (!parse_xml(xml, pugi::parse_default, document).empty()) return std::nullopt;
  const pugi::xml_node node = document.find_node(
      [](const pugi::xml_node& element) { return std::string_view(element.name()) == "NoDataValue"; });
  return number_of(node.text().as_string());
}

}  // namespace

void warn_about_unread_sidecars(const fs::path& source, bool reads_world_files,
                                std::vector<std::string>& warnings) {
  const std::vector<std::string> found =
      existing_sidecars(source, reads_world_files ? std::vector<fs::path>{} : world_files(source),
                        {".aux.xml", ".ovr", ".OVR"});
  if (!found.empty())
    warnings.push_back(
        fmt::format("{} next to it {} not read", fmt::join(found, ", "), found.size() == 1 ? "is" : "are"));
  const std::string aux_name = source.filename().native() + ".aux.xml";
  if (std::ranges::find(found, aux_name) == found.end()) return;
  if (const auto nodata = sidecar_nodata(source))
    warnings.push_back(fmt::format(
        "{} declares the nodata value {}: where the image itself does not, MissingOptions::value {} makes "
        "pixels of it missing",
        aux_name, *nodata, *nodata));
}

void warn_of_stale_sidecars(const fs::path& target, std::vector<std::string>& warnings) {
  const std::vector<std::string> found =
      existing_sidecars(target, world_files(target), {".aux.xml", ".msk", ".MSK", ".ovr", ".OVR"});
  if (found.empty()) return;
  const bool is_single = found.size() == 1;
  warnings.push_back(
      fmt::format("{} beside {} {} there already and describe{} an earlier file of that name; remove {} if "
                  "{} not true of this one",
                  fmt::join(found, ", "), target.native(), is_single ? "is" : "are", is_single ? "s" : "",
                  is_single ? "it" : "them", is_single ? "it is" : "they are"));
}

}  // namespace sepconv
