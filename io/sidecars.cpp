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

/// The names, without their folder, of those that are there.
std::vector<std::string> sidecars_of(const fs::path& image, std::vector<fs::path> names,
                                     std::initializer_list<const char*> endings) {
  for (const char* const ending : endings) names.emplace_back(image.native() + ending);
  std::vector<std::string> found;
  for (const fs::path& name : names) {
    std::error_code ignored;
    if (fs::is_regular_file(name, ignored)) found.push_back(name.filename().native());
  }
  return found;
}

/// What GDAL's metadata declare, of the first band that has one.
std::optional<double> nodata_beside(const fs::path& image) {
  constexpr std::size_t kMaxBytes = std::size_t{16} << 20;
  std::ifstream file(image.native() + ".aux.xml", std::ios::binary);
  std::string xml(kMaxBytes, '\0');
  file.read(xml.data(), static_cast<std::streamsize>(xml.size()));
  xml.resize(static_cast<std::size_t>(file.gcount()));
  pugi::xml_document document;
  if (!parse_xml(xml, pugi::parse_default, document).empty()) return std::nullopt;
  const pugi::xml_node node = document.find_node(
      [](const pugi::xml_node& each) { return std::string_view(each.name()) == "NoDataValue"; });
  return number_of(node.text().as_string());
}

}  // namespace

void warn_of_unread_sidecars(const fs::path& source, bool reads_world_files,
                             std::vector<std::string>& warnings) {
  const std::vector<std::string> found =
      sidecars_of(source, reads_world_files ? std::vector<fs::path>{} : world_files(source),
                  {".aux.xml", ".ovr", ".OVR"});
  if (!found.empty())
    warnings.push_back(
        fmt::format("{} beside it {} not read", fmt::join(found, ", "), found.size() == 1 ? "is" : "are"));
  const std::string gdals = source.filename().native() + ".aux.xml";
  if (std::ranges::find(found, gdals) == found.end()) return;
  if (const auto nodata = nodata_beside(source))
    warnings.push_back(fmt::format(
        "{} declares the nodata value {}: where the image itself does not, MissingOptions::value {} makes "
        "pixels of it missing",
        gdals, *nodata, *nodata));
}

void warn_of_stale_sidecars(const fs::path& target, std::vector<std::string>& warnings) {
  const std::vector<std::string> found =
      sidecars_of(target, world_files(target), {".aux.xml", ".msk", ".MSK", ".ovr", ".OVR"});
  if (found.empty()) return;
  const bool one = found.size() == 1;
  warnings.push_back(
      fmt::format("{} beside {} {} there already and describe{} an earlier file of that name; remove {} if "
                  "{} not true of this one",
                  fmt::join(found, ", "), target.native(), one ? "is" : "are", one ? "s" : "",
                  one ? "it" : "them", one ? "it is" : "they are"));
}

}  // namespace sepconv
