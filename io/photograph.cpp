#include "io/photograph.hpp"

#include <fmt/format.h>

#include <cstring>
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "io/byte_order.hpp"
#include "io/nodata.hpp"

namespace sepconv {
namespace {

/// Collects the bytes of the saved packet.
class Collector final : public pugi::xml_writer {
 public:
  void write(const void* data, std::size_t size) override {
    const auto* const bytes = static_cast<const std::byte*>(data);
    packet.insert(packet.end(), bytes, bytes + size);
  }
  std::vector<std::byte> packet;
};

struct ExpectedValue {
  std::string_view name;
  std::int64_t value;
};

/// Corrects the values of attributes and elements with these names. `any` tells whether something was
/// changed.
class Corrections final : public pugi::xml_tree_walker {
 public:
  explicit Corrections(std::span<const ExpectedValue> values) : values_(values) {}
  bool any = false;

 private:
  bool for_each(pugi::xml_node& node) override {
    for (const auto& [name, value] : values_) {
      if (auto attribute = node.attribute(std::string(name).c_str());
          attribute && whole_number_of(attribute.value()) != value)
        any |= attribute.set_value(static_cast<long long>(value));
      if (name == node.name() && whole_number_of(node.text().get()) != value)
        any |= node.text().set(static_cast<long long>(value));
    }
    return true;
  }
  std::span<const ExpectedValue> values_;
};

constexpr std::string_view kSignature = "8BIM";
constexpr unsigned kIptcResource = 0x0404;

}  // namespace

std::vector<std::byte> updated_xmp(const Metadata& metadata, Extent image) {
  const std::vector<std::byte>& packet = metadata.xmp;
  const ExpectedValue expected[] = {{"tiff:Orientation", metadata.orientation},
                                    {"tiff:ImageWidth", image.cols},
                                    {"tiff:ImageLength", image.rows},
                                    {"exif:PixelXDimension", image.cols},
                                    {"exif:PixelYDimension", image.rows}};
  pugi::xml_document document;
  constexpr unsigned kPreserveAll = pugi::parse_full | pugi::parse_ws_pcdata;
  if (packet.empty() || !document.load_buffer(packet.data(), packet.size(), kPreserveAll)) return packet;
  Corrections corrections(expected);
  document.traverse(corrections);
  if (!corrections.any) return packet;
  Collector collector;
  document.save(collector, "", pugi::format_raw | pugi::format_no_declaration, pugi::encoding_utf8);
  return std::move(collector.packet);
}

PhotoshopResources read_resources(std::span<const std::byte> resources) noexcept {
  PhotoshopResources found;
  // Each resource: signature, number, name (with length byte, padded to an even length), length, data,
  // padding.
  while (resources.size() >= 12 && std::memcmp(resources.data(), kSignature.data(), kSignature.size()) == 0) {
    const auto number = static_cast<unsigned>(read_unsigned(resources.subspan(4, 2), true));
    const std::size_t name = (std::to_integer<std::size_t>(resources[6]) + 2) / 2 * 2;
    if (resources.size() < 6 + name + 4) break;
    const std::size_t length = big32(resources.subspan(6 + name, 4));
    resources = resources.subspan(6 + name + 4);
    if (length > resources.size()) break;
    if (number == kIptcResource && found.iptc.empty())
      found.iptc = resources.first(length);
    else
      found.others = true;
    resources = resources.subspan(std::min(resources.size(), length + length % 2));
  }
  found.others |= !resources.empty();
  return found;
}

std::vector<std::byte> encode_image_resources(std::span<const std::byte> iptc) {
  std::vector<std::byte> resources;
  if (iptc.empty()) return resources;
  const auto put = [&](std::uint64_t value, int bytes) {
    for (int i = bytes - 1; i >= 0; --i) resources.push_back(static_cast<std::byte>(value >> (8 * i)));
  };
  for (const char letter : kSignature) resources.push_back(static_cast<std::byte>(letter));
  put(kIptcResource, 2);
  put(0, 2);
  put(iptc.size(), 4);
  resources.insert(resources.end(), iptc.begin(), iptc.end());
  if (iptc.size() % 2 != 0) put(0, 1);
  return resources;
}

}  // namespace sepconv
