#include "io/sibling_mask.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <pugixml.hpp>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "io/byte_file.hpp"
#include "io/gdal_tags.hpp"
#include "io/nodata.hpp"
#include "io/tiff/masked_reader.hpp"
#include "io/tiff/tiff.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

/// Whether the flags of the first band contain GDAL's GMF_PER_DATASET, without which GDAL does not use the
/// file as a mask.
bool is_mask_of_all_bands(const Metadata& mask) {
  constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
  constexpr std::int64_t kPerDataset = 2;
  const auto tag = std::ranges::find(mask.geo_tags, kGdalMetadata, &RawTag::tag);
  if (tag == mask.geo_tags.end() || tag->data.size() > kMaxBytes) return false;
  pugi::xml_document xml;
  if (!xml.load_buffer(tag->data.data(), tag->data.size() - 1)) return false;
  for (const pugi::xml_node item : xml.child("GDALMetadata").children("Item")) {
    if (std::string_view(item.attribute("name").value()) == "INTERNAL_MASK_FLAGS_1")
      return (whole_number_of(item.text().get()).value_or(0) & kPerDataset) != 0;
  }
  return false;
}

/// The mask, or the reason why it is not used.
struct MaskResult {
  std::unique_ptr<Reader> mask{};
  std::string reason{};
};

MaskResult open_mask(const fs::path& path, const Reader& image, const OpenOptions& options) {
  if (image.layout().has_mask) return {{}, "the image has one of its own"};
  if (!options.masks) return {{}, "missing pixels count as if they were there"};
  try {
    auto mask = only_raster(*open_tiff_set(InputFile(path), {.level = options.level}), path);
    if (!is_mask_of_all_bands(mask->metadata()))
      return {{}, "it is not marked as the mask of all bands, as GDAL's masks are (INTERNAL_MASK_FLAGS_1)"};
    if (!is_mask_of(*mask, image))
      return {{},
              "it does not have the image's size and a single channel of up "
              "to 8 bits"};
    return {std::move(mask), {}};
  } catch (const Error& error) {
    return {{}, error.what()};
  }
}

/// A set that adds missing pixels to the rasters of another set.
class MaskedSet final : public RasterSet {
 public:
  MaskedSet(std::unique_ptr<RasterSet> set, const fs::path& path, const OpenOptions& options)
      : MaskedSet(set->raster(0), set, path, options) {}

  bool has_changed() const override { return set_->has_changed(); }

 private:
  MaskedSet(std::unique_ptr<Reader> first, std::unique_ptr<RasterSet>& set, const fs::path& path,
            const OpenOptions& options)
      : RasterSet(path.native(), with_missing(std::move(first), set->count() == 1, path, options)->spec(),
                  set->axes()),
        set_(std::move(set)),
        path_(path),
        options_(options) {}

  std::unique_ptr<Reader> open_raster(std::int64_t index, bool) override {
    return with_missing(set_->raster(index), set_->count() == 1, path_, options_);
  }

  static std::unique_ptr<Reader> with_missing(std::unique_ptr<Reader> image, bool is_only,
                                              const fs::path& path, const OpenOptions& options) {
    HiddenPixels missing;
    if (const std::string name = sibling_mask(path); !name.empty()) {
      MaskResult result = is_only ? open_mask(path.parent_path() / name, *image, options)
                                  : MaskResult{{}, "the file has several images"};
      if (!result.reason.empty())
        missing.warnings.push_back(fmt::format("{} next to it is not read: {}", name, result.reason));
      missing.mask = std::move(result.mask);
    }
    if (options.nodata_of_all) {
      const Metadata& metadata = image->metadata();
      const PixelType type = image->spec().type;
      const SampleType stored = image->layout().stored.value_or(SampleType(type));
      missing.of_all =
          options.nodata ? value_as(*options.nodata, type) : declared_nodata(metadata, type, stored);
      if (!missing.of_all)
        throw InvalidArgument(
            fmt::format("{} declares no nodata value that its pixels could have in all channels; set "
                        "MissingOptions::value",
                        path.native()));
    }
    return make_masked_reader(std::move(image), std::move(missing));
  }

  std::unique_ptr<RasterSet> set_;
  fs::path path_;
  OpenOptions options_;
};

}  // namespace

std::string sibling_mask(const fs::path& image) {
  for (const char* const ending : {".msk", ".MSK"}) {
    std::error_code ignored;
    const fs::path name = image.native() + ending;
    if (fs::is_regular_file(name, ignored)) return name.filename().native();
  }
  return {};
}

std::unique_ptr<RasterSet> with_missing_pixels(std::unique_ptr<RasterSet> set, const fs::path& path,
                                               const OpenOptions& options) {
  if (sibling_mask(path).empty() && !options.nodata_of_all) return set;
  return std::make_unique<MaskedSet>(std::move(set), path, options);
}

}  // namespace sepconv
