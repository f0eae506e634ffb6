#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/error.hpp"
#include "io/raster_set.hpp"
#include "io/stack/ngff.hpp"
#include "io/stack/stack.hpp"
#include "io/tiff/tiff.hpp"
#include "io/tiff/tiff_layout.hpp"
#include "io/tiff/tiff_writer.hpp"

namespace sepconv {
namespace {

bool is_ome_name(const std::filesystem::path& path) { return ending_of(path.stem()) == ".ome"; }

/// Maps axes to those of OME-XML; pages without names become slices.
RasterAxes ome_axes(const RasterAxes& axes, const std::string& name, std::vector<std::string>& warnings) {
  RasterAxes ome;
  for (const RasterAxis& axis : axes) {
    const bool known = axis.name == "t" || axis.name == "c" || axis.name == "z";
    if (!known && axis.size == 1) continue;
    ome.push_back(axis);
    if (known) continue;
    if (find_axis(axes, "z") != nullptr || axes.size() > 1)
      throw InvalidArgument(fmt::format(
          "{}: OME-TIFF has the axes t, c and z, and not {}; end the name in .tif", name, axis.name));
    ome.back().name = std::string(1, 'z');
    warnings.push_back(fmt::format("the axis {} is written as z: OME-XML has t, c and z", axis.name));
  }
  return ome;
}

/// Returns a description of the axes of pages for metadata that have none.
std::string new_description(const std::filesystem::path& path, const RasterSetSpec& spec,
                            const CreateOptions& options, std::vector<std::string>& warnings) {
  const SampleSpec raster(spec.raster, options.stored);
  if (is_ome_name(path) && !ome_supports_type(raster.type))
    throw InvalidArgument(
        fmt::format("{}: OME-XML has no type {}; end the name in .tif, or the chain with a cast",
                    path.native(), name_of(raster.type)));
  if (is_ome_name(path))
    return create_ome_xml(raster, ome_axes(spec.axes, path.native(), warnings),
                          ome_image_of(options.metadata, warnings));
  const auto is_named = [](const RasterAxis& axis) { return axis.size > 1 && axis.name != "page"; };
  return std::ranges::any_of(spec.axes, is_named) ? create_shaped_description(raster, spec.axes) : "";
}

/// Converts OME-Zarr's description to OME-XML; empty if OME-XML cannot describe these pages.
std::string ome_of_ngff(const std::filesystem::path& path, const RasterSetSpec& spec,
                        const CreateOptions& options, std::vector<std::string>& warnings) {
  const SampleSpec raster(spec.raster, options.stored);
  const OmeImage image = parse_ngff_text(options.metadata.description);
  if (!image.label.empty())
    warnings.emplace_back(
        "that values are object labels (image-label, its colours and properties) is left out: TIFF has "
        "no place for it");
  const auto is_counted = [](const RasterAxis& axis) {
    return axis.size == 1 || axis.name == "t" || axis.name == "c" || axis.name == "z";
  };
  if (!ome_supports_type(raster.type) || !std::ranges::all_of(spec.axes, is_counted)) {
    warnings.emplace_back(
        "sizes of pixels and names of channels are left out: OME-XML cannot describe these");
    return "";
  }
  for (const OmeAxis& axis : image.axes) {
    if (axis.translation != 0) {
      warnings.emplace_back("the image's translation is left out: OME-XML has sizes of pixels only");
      break;
    }
  }
  if (const RasterAxis* const c = find_axis(spec.axes, "c");
      c != nullptr && c->size > 1 && !is_ome_name(path))
    warnings.push_back(
        fmt::format("the {} channels are pages, and their names and the sizes of pixels are in OME-XML "
                    "alone: readers that do not know it find pages of one band",
                    c->size));
  return create_ome_xml(raster, ome_axes(spec.axes, path.native(), warnings), image);
}

/// Whether GDAL treats alpha as a mask: in bands of these types, next to one or three others
/// (GDALRasterBand's GetMaskFlags).
bool is_mask_for_gdal(std::int64_t alpha, std::int64_t channels, SampleType type) {
  return (channels == 2 || channels == 4) && alpha == channels - 1 &&
         (type == PixelType::u8 || type == PixelType::u16);
}

/// Chooses whether alpha is also, or only, written as a mask.
void choose_mask(const std::filesystem::path& path, const RasterSetSpec& spec, CreateOptions& options) {
  const Metadata& metadata = options.metadata;
  const std::int64_t channels = spec.raster.channels;
  const auto alpha = alpha_channel(metadata, channels, options.stored);
  if (options.alpha != AlphaInFile::channel || !alpha) return;
  const bool can_store = tiff_can_store_mask(path, metadata) &&
                         !(spec.count() > 1 && is_stack_description(metadata.description));
  const bool is_gdal_mask = is_mask_for_gdal(*alpha, channels, SampleSpec(spec.raster, options.stored).type);
  if (!metadata.mask_channel && is_gdal_mask) return;
  if (can_store) {
    options.alpha = metadata.mask_channel ? AlphaInFile::mask : AlphaInFile::channel_and_mask;
    if (options.layout.levels == Levels::inside)
      options.layout.levels = Levels::behind;  // next to their masks
  } else {
    options.warnings.push_back(fmt::format(
        "{} alpha, channel {}, of the result{}: a description that counts pages leaves no place for a page "
        "that is a mask",
        metadata.mask_channel ? "the mask of the source is" : "what is hidden is known by", *alpha,
        is_gdal_mask ? "" : ", which GDAL does not take for a mask"));
  }
}

/// Adds a description of the pages' axes if the metadata have none, warns about what TIFF cannot store, and
/// chooses how alpha is written.
void describe_pages(const std::filesystem::path& path, const RasterSetSpec& spec, CreateOptions& options) {
  if (std::string lost = dropped_metadata_warning(options.metadata,
                                                  ~static_cast<unsigned>(MetadataKind::attributes), "TIFF");
      !lost.empty())
    options.warnings.push_back(std::move(lost));
  std::string& described = options.metadata.description;
  if (is_ngff(described)) {
    options.metadata.resolution = resolution_of(options.metadata);
    described = ome_of_ngff(path, spec, options, options.warnings);
  }
  const bool is_svs = options.layout.tiled && options.layout.levels == Levels::none && spec.count() == 1;
  if (!is_svs) described = hide_aperio_signature(described);
  if (!(is_ome_name(path) ? is_ome(described) : !described.empty())) {
    const std::string text = described;
    described = new_description(path, spec, options, options.warnings);
    if (!text.empty() && !is_stack_description(text))
      options.warnings.emplace_back("the description is left out: OME-XML takes its place");
  }
  choose_mask(path, spec, options);
}

class TiffSetWriter final : public RasterSetWriter {
 public:
  TiffSetWriter(const std::filesystem::path& path, const RasterSetSpec& spec, CreateOptions options)
      : path_(path), spec_(spec), options_(std::move(options)) {
    describe_pages(path_, spec_, options_);
    options_ = with_level_position(std::move(options_), spec_.count());
    if (options_.layout.levels == Levels::cloud && spec_.count() > 1)
      throw InvalidArgument(
          fmt::format("{}: a Cloud Optimized GeoTIFF holds one image and not {}; name one with "
                      "OpenOptions::select, or leave OutputOptions::cog out",
                      path_.native(), spec_.count()));
    const bool may_be_unlisted = options_.big_tiff == false && is_contiguous_stack(options_.layout);
    const TiffDirectory directory =
        plan_directory(path_, spec_.raster, options_, may_be_unlisted ? 1 : spec_.count());
    options_.big_tiff = directory.big_tiff;
    is_compressed_ = directory.compressed();
    output_ = std::make_shared<TiffOutput>(path_,
                                           OutputFile::Options{.overwrite = options_.overwrite,
                                                               .durable = options_.durable,
                                                               .checkpoint = options_.checkpoint,
                                                               .per_part = directory.compressed()},
                                           directory.big_tiff);
    if (!directory.compressed()) output_->file().expect(spec_.count() * directory.stored_bytes());
    if (is_contiguous_stack(options_.layout)) plan_positions(directory);
  }

  std::unique_ptr<Writer> next(const Metadata& metadata) override {
    CreateOptions options = options_;
    if (pages_created_ > 0) {
      options.metadata = metadata;
      options.warnings.clear();
      options.layout_warnings.clear();
    }
    ++pages_created_;
    const TiffDirectory directory = plan_directory(path_, spec_.raster, options);
    return make_tiff_writer(output_, directory, options, TiffWriter::Role::one_of_several,
                            next_position(directory, options.metadata));
  }

  /// Blocks in a part's separate file have offsets that do not depend on directories of other rasters.
  bool skip_to(std::int64_t raster) override {
    if (!is_compressed_ || !options_.checkpoint) return false;
    pages_created_ = raster;
    return true;
  }

  void finish() override {
    if (pages_created_ != spec_.count())
      throw InvalidArgument(
          fmt::format("{}: {} of {} images were written", path_.native(), pages_created_, spec_.count()));
    output_->commit();
  }

 private:
  /// Whether to write a contiguous stack, as ImageJ does and other programs expect: see TiffPagePosition.
  bool is_contiguous_stack(const FileLayout& layout) const {
    return is_imagej(options_.metadata.description) && layout.compression == Compression::none &&
           !layout.tiled && layout.levels == Levels::none;
  }

  void plan_positions(const TiffDirectory& directory) {
    const std::int64_t directory_size = directory_bytes(directory, options_.metadata);
    first_position_ = TiffPagePosition{round_up(output_->header_bytes() + directory_size, kPixelAlignment),
                                       output_->header_bytes(), directory_size};
    output_->add_gap(output_->header_bytes() + directory_size, *first_position_->pixels);
    next_directory_ = *first_position_->pixels + spec_.count() * directory.stored_bytes();
    constexpr std::int64_t kMax = (std::int64_t{1} << 32) - (std::int64_t{1} << 26);
    all_have_directories_ = directory.big_tiff || next_directory_ + spec_.count() * directory_size < kMax;
    if (!all_have_directories_)
      options_.warnings.emplace_back(
          "a classic TIFF of more than 4 GiB: only the first image has a directory, as ImageJ has it; "
          "readers that do not know ImageJ's description find one image");
  }

  std::optional<TiffPagePosition> next_position(const TiffDirectory& directory, const Metadata& metadata) {
    if (!first_position_ || pages_created_ == 1) return first_position_;
    const std::int64_t directory_size = directory_bytes(directory, metadata);
    const TiffPagePosition position{
        *first_position_->pixels + (pages_created_ - 1) * directory.stored_bytes(), next_directory_,
        directory_size, all_have_directories_};
    next_directory_ += directory_size;
    return position;
  }

  std::filesystem::path path_;
  RasterSetSpec spec_;
  CreateOptions options_;  // with the first raster's metadata
  std::shared_ptr<TiffOutput> output_;
  std::int64_t pages_created_ = 0;
  std::optional<TiffPagePosition> first_position_;  // of a contiguous stack
  std::int64_t next_directory_ = 0;
  bool all_have_directories_ = true, is_compressed_ = false;
};

}  // namespace

bool tiff_can_store_mask(const std::filesystem::path& path, const Metadata& metadata) {
  const std::string& description = metadata.description;
  return !is_ome_name(path) && !is_ome(description) && !is_ngff(description) && !is_imagej(description);
}

std::unique_ptr<Writer> create_tiff(const std::filesystem::path& path, const ImageSpec& spec,
                                    const CreateOptions& requested) {
  CreateOptions options = requested;
  describe_pages(path, {spec, {}}, options);
  options = with_level_position(std::move(options), 1);
  const TiffDirectory directory = plan_directory(path, spec, options);
  auto output = std::make_shared<TiffOutput>(path,
                                             OutputFile::Options{.overwrite = options.overwrite,
                                                                 .durable = options.durable,
                                                                 .checkpoint = options.checkpoint,
                                                                 .per_part = directory.compressed()},
                                             directory.big_tiff);
  if (!directory.compressed()) output->file().expect(directory.stored_bytes());
  return make_tiff_writer(std::move(output), directory, options, TiffWriter::Role::only);
}

std::unique_ptr<RasterSetWriter> create_tiff_set(const std::filesystem::path& path, const RasterSetSpec& spec,
                                                 const CreateOptions& options) {
  return std::make_unique<TiffSetWriter>(path, spec, options);
}

}  // namespace sepconv
