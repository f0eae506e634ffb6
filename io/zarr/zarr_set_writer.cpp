#include <fmt/format.h>

#include <optional>
#include <utility>

#include "core/error.hpp"
#include "io/nodata.hpp"
#include "io/zarr/label_copy_job.hpp"
#include "io/zarr/levels_writer.hpp"
#include "io/zarr/ome_result.hpp"
#include "io/zarr/result_layout.hpp"
#include "io/zarr/zarr.hpp"
#include "io/zarr/zarr_blocks.hpp"
#include "io/zarr/zarr_consolidated.hpp"
#include "io/zarr/zarr_nodata.hpp"

namespace sepconv {
namespace {

/// Writes a folder that is an array or an OME-Zarr group.
class ZarrWriteContext {
 public:
  ZarrWriteContext(const std::filesystem::path& path, const RasterSetSpec& spec, const CreateOptions& options)
      : spec_(spec) {
    std::vector<std::string> warnings;
    const std::optional<OmeResult> ome = ome_result(spec, options, warnings);
    folder_ = std::make_shared<StagingDirectory>(
        path, StagingDirectory::Options{options.overwrite, options.durable, options.checkpoint});
    CreateOptions rest = options;
    rest.layout = zarr_result_layout(spec, options, ome.has_value(), warnings);
    nodata_ = nodata_of(spec, options);
    std::vector<Extent> extents{spec.raster.extent};
    if (ome) extents = with_smaller(spec.raster.extent, options.layout);
    plan_labels(options.layout, ome.has_value(), extents, warnings);
    for (const Extent extent : extents) add_array(extent, rest, ome, warnings);
    warn_about_pending_pixels(warnings);
    if (std::string warning = stale_consolidation_warning(path); !warning.empty())
      warnings.push_back(std::move(warning));
    if (ome) {
      const ZarrArray& array = levels_.front()->array;
      group_ = zarr_group_files(array.version,
                                ngff_attributes(ome->image, ome->level_factors(extents), array.version,
                                                options.layout.nearest_levels, options.metadata.attributes));
      is_consolidated_ = options.layout.zarr.is_consolidated;
      rest.metadata = ome->remaining_metadata;
    }
    if (nodata_) set_nodata(rest.metadata, std::nullopt);
    layout_ = zarr_sink_layout(*levels_.front(), rest);
    layout_.nearest_levels = options.layout.nearest_levels;
    layout_.warnings.insert(layout_.warnings.end(), warnings.begin(), warnings.end());
    if (ome)
      layout_.description =
          fmt::format("OME-Zarr {}{}, {}", levels_.front()->array.version == 2 ? "0.4" : "0.5",
                      extents.size() > 1 ? fmt::format(" with {} smaller levels", extents.size() - 1) : "",
                      layout_.description);
  }

  const std::filesystem::path& target() const noexcept { return folder_->target(); }

  std::unique_ptr<Writer> writer(std::int64_t raster, std::function<void()> on_finish = {}) {
    const std::vector<std::int64_t> position = position_of(levels_.front()->axes.rasters, raster);
    std::vector<std::unique_ptr<Writer>> sinks;
    for (const auto& level : levels_) {
      // A checkpoint state belongs to one image, so each image gets a new ShardWriter.
      if (level->shards && folder_->checkpoint()) level->shards = std::make_unique<ShardWriter>(*level);
      const ImageSpec spec{zarr_image(level->array, level->axes).extent, spec_.raster.channels,
                           spec_.raster.type};
      SinkLayout layout = layout_;
      layout.block = zarr_source_layout(level->array, level->axes).block;
      layout.shard = shard_of(*level);
      sinks.push_back(make_zarr_writer(level, spec, position, std::move(layout)));
    }
    layout_.warnings.clear();
    std::unique_ptr<Writer> image = std::move(sinks.front());
    sinks.erase(sinks.begin());
    return std::make_unique<LevelsWriter>(std::move(image), std::move(sinks),
                                          labels_ ? labels_->memory_bytes() : 0, std::move(on_finish));
  }

  void finish() {
    folder_->set_chunk_filter([this](const std::string& name) {
      return std::ranges::any_of(levels_, [&](const auto& level) { return level->has_chunk(name); });
    });
    for (const auto& level : levels_) level->finish();
    if (labels_) labels_->write(*folder_, "labels");
    if (is_consolidated_) group_ = consolidated_group();
    for (const auto& [name, text] : group_) folder_->add(name, std::as_bytes(std::span(text)));
    folder_->commit();
  }

 private:
  MetadataFiles consolidated_group() const {
    const auto store = open_folder_store(InputFile(folder_->path(), InputFile::Folders::taken));
    return consolidated_files(*store, levels_.front()->array.version, group_);
  }

  /// The nodata value, if the array's type supports one.
  static std::optional<double> nodata_of(const RasterSetSpec& spec, const CreateOptions& options) {
    const SampleType stored = options.stored.value_or(SampleType(spec.raster.type));
    if (stored.is_complex()) return std::nullopt;
    return declared_nodata(options.metadata, spec.raster.type, stored);
  }

  void warn_about_pending_pixels(std::vector<std::string>& warnings) const {
    std::int64_t bytes = 0;
    for (const auto& level : levels_)
      bytes += ZarrBlocks::pending_bytes(
          *level, {zarr_image(level->array, level->axes).extent, spec_.raster.channels, spec_.raster.type});
    if (bytes > 0)
      warnings.push_back(fmt::format(
          "chunks hold several images: they are buffered on the disk, next to the result, until a chunk's "
          "last image is there, {:.1f} MiB at most",
          static_cast<double>(bytes) / (1 << 20)));
  }

  /// Plans to copy label images, or warns if they cannot be copied. The image gets as many levels as they
  /// have, or one.
  void plan_labels(const FileLayout& layout, bool is_ome, std::vector<Extent>& extents,
                   std::vector<std::string>& warnings) {
    const LabelImages& labels = layout.zarr.labels;
    if (labels.left_out.empty()) return;
    std::string reason;
    if (const auto label_extents = levels_of_labels(labels, layout.levels, extents.front());
        is_ome && label_extents) {
      try {
        labels_.emplace(labels, layout.zarr.version, std::ssize(*label_extents));
        extents = *label_extents;
        if (std::string difference = labels_->difference(); !difference.empty())
          warnings.push_back(std::move(difference));
        return;
      } catch (const IoError& error) {
        reason = fmt::format("; {}", error.what());
      }
    }
    warnings.push_back(labels.left_out + reason);
  }

  /// The extents of the levels of label images; null if these do not match the levels of the image.
  static std::optional<std::vector<Extent>> levels_of_labels(const LabelImages& labels, Levels levels,
                                                             Extent image) {
    std::vector<Extent> extents{image};
    if (labels.folder.empty() || (labels.levels == 1 && levels != Levels::none)) return std::nullopt;
    if (levels == Levels::none) return extents;
    while (std::ssize(extents) < labels.levels && extents.back().area() > 1)
      extents.push_back({ceil_div(extents.back().rows, 2), ceil_div(extents.back().cols, 2)});
    return std::ssize(extents) == labels.levels ? std::optional(extents) : std::nullopt;
  }

  static std::vector<Extent> with_smaller(Extent image, const FileLayout& layout) {
    std::vector<Extent> extents = level_extents(image, layout);
    extents.insert(extents.begin(), image);
    return extents;
  }

  void add_array(Extent extent, const CreateOptions& options, const std::optional<OmeResult>& ome,
                 std::vector<std::string>& warnings) {
    RasterSetSpec spec = spec_;
    spec.raster.extent = extent;
    if (ome) spec = ome->as_array(std::move(spec));
    std::vector<std::string> array_warnings;
    auto target = std::make_shared<ZarrTarget>();
    target->folder = folder_;
    target->array = zarr_result_array(spec, options, array_warnings);
    target->axes = zarr_result_axes(target->array, spec.raster.channels > target->array.type.parts() ||
                                                       options.layout.zarr.keeps_channel);
    if (ome) {
      target->key = std::to_string(levels_.size());
      target->array = ome->ordered(std::move(target->array));
      target->axes = ome->axes;
    }
    if (nodata_)
      set_array_nodata(*nodata_, options.layout.zarr.fill.empty(), target->array);
    else if (!ome)
      remove_fill_value(options.layout.zarr, target->array, array_warnings);
    set_element_order(options.layout.zarr, target->axes, target->array, array_warnings);
    if (levels_.empty()) warnings.insert(warnings.end(), array_warnings.begin(), array_warnings.end());
    set_codec_raster(target->array, target->axes);
    if (!target->array.shards.empty()) target->shards = std::make_unique<ShardWriter>(*target);
    levels_.push_back(std::move(target));
  }

  RasterSetSpec spec_;
  std::shared_ptr<StagingDirectory> folder_;
  std::vector<std::shared_ptr<ZarrTarget>> levels_;  // the image and its smaller levels
  MetadataFiles group_;                              // metadata of the OME-Zarr group
  bool is_consolidated_ = false;                     // the group gets consolidated metadata
  std::optional<LabelCopyJob> labels_;               // label images to copy
  std::optional<double> nodata_;
  SinkLayout layout_;
};

class ZarrSetWriter final : public RasterSetWriter {
 public:
  ZarrSetWriter(const std::filesystem::path& path, const RasterSetSpec& spec, const CreateOptions& options)
      : context_(path, spec, options), count_(spec.count()) {}

  std::unique_ptr<Writer> next(const Metadata&) override { return context_.writer(next_raster_++); }

  bool skip_to(std::int64_t raster) override {
    next_raster_ = raster;
    return true;
  }

  void finish() override {
    if (next_raster_ != count_)
      throw IoError(fmt::format("{}: only {} of {} images were written; write all of them",
                                context_.target().native(), next_raster_, count_));
    context_.finish();
  }

 private:
  ZarrWriteContext context_;
  std::int64_t count_, next_raster_ = 0;
};

}  // namespace

std::unique_ptr<RasterSetWriter> create_zarr_set(const std::filesystem::path& path, const RasterSetSpec& spec,
                                                 const CreateOptions& options) {
  return std::make_unique<ZarrSetWriter>(path, spec, options);
}

std::unique_ptr<Writer> create_zarr(const std::filesystem::path& path, const ImageSpec& spec,
                                    const CreateOptions& options) {
  const auto context = std::make_shared<ZarrWriteContext>(path, RasterSetSpec{spec}, options);
  return context->writer(0, [context] { context->finish(); });
}

}  // namespace sepconv
