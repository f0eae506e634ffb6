#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "sepconv/core/error.hpp"
#include "sepconv/core/printable.hpp"
#include "sepconv/io/zarr/label_images.hpp"
#include "sepconv/io/zarr/ome_result.hpp"
#include "sepconv/io/zarr/zarr.hpp"
#include "sepconv/io/zarr/zarr_blocks.hpp"

namespace sepconv {
namespace {

/// Of a chunk that several images share; one that is asked for may have more.
constexpr double kMostSharedBytes = 64 << 20;

/// An image and its smaller levels, each in an array.
class LevelsWriter final : public Writer {
 public:
  LevelsWriter(std::unique_ptr<Writer> image, std::vector<std::unique_ptr<Writer>> smaller,
               std::function<void()> then)
      : image_(std::move(image)), smaller_(std::move(smaller)), then_(std::move(then)) {}

  const ImageSpec& spec() const noexcept override { return image_->spec(); }
  const SinkLayout& layout() const noexcept override { return image_->layout(); }
  std::int64_t buffer_bytes(int concurrency) const override { return image_->buffer_bytes(concurrency); }
  void write(const Rect& rect, const ConstPixelView& in, Executor& executor) override {
    image_->write(rect, in, executor);
  }
  ResumableWriter* resumable() noexcept override { return image_->resumable(); }
  EncodedWriter* encoded() noexcept override { return image_->encoded(); }
  std::vector<Writer*> levels() override {
    std::vector<Writer*> sinks;
    for (const auto& level : smaller_) sinks.push_back(level.get());
    return sinks;
  }
  void finish() override {
    for (const auto& level : smaller_) level->finish();
    image_->finish();
    if (then_) then_();
  }

 private:
  std::unique_ptr<Writer> image_;
  std::vector<std::unique_ptr<Writer>> smaller_;
  std::function<void()> then_;
};

/// A folder that becomes an array, or a group of OME-Zarr.
class ZarrMaking {
 public:
  ZarrMaking(const std::filesystem::path& path, const RasterSetSpec& spec, const CreateOptions& options)
      : spec_(spec) {
    std::vector<std::string> warnings;
    const std::optional<OmeResult> ome = ome_result(spec, options, warnings);
    folder_ = std::make_shared<UnfinishedFolder>(
        path, UnfinishedFolder::Options{options.overwrite, options.durable, options.partial});
    CreateOptions rest = options;
    rest.layout = layout_for(spec, options, ome.has_value(), warnings);
    std::vector<Extent> extents{spec.raster.extent};
    if (ome) extents = with_smaller(spec.raster.extent, options.layout);
    const LabelImages& labels = options.layout.zarr.labels;
    if (ome && fit_levels(labels, options.layout.levels, extents))
      labels_ = labels.folder;
    else if (!labels.left_out.empty())
      warnings.push_back(labels.left_out);
    for (const Extent extent : extents) add_array(extent, rest, ome, warnings);
    say_what_waits(warnings);
    if (ome) {
      const ZarrArray& array = levels_.front()->array;
      group_ = zarr_group_texts(array.version,
                                ngff_attributes(ome->image, ome->steps(extents), array.version,
                                                options.layout.nearest_levels, options.metadata.attributes));
      rest.metadata = ome->left;
    }
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

  std::unique_ptr<Writer> writer(std::int64_t raster, std::function<void()> then = {}) {
    const std::vector<std::int64_t> position = position_of(levels_.front()->axes.rasters, raster);
    std::vector<std::unique_ptr<Writer>> sinks;
    for (const auto& level : levels_) {
      // What is restored and added up is of one image.
      if (level->shards && folder_->partial()) level->shards = std::make_unique<ShardWriter>(*level);
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
    return std::make_unique<LevelsWriter>(std::move(image), std::move(sinks), std::move(then));
  }

  void finish() {
    for (const auto& level : levels_) level->finish();
    if (!labels_.empty()) copy_label_images(labels_, *folder_, "labels");
    for (const auto& [name, text] : group_) folder_->add(name, std::as_bytes(std::span(text)));
    folder_->commit();
  }

 private:
  void say_what_waits(std::vector<std::string>& warnings) const {
    std::int64_t bytes = 0;
    for (const auto& level : levels_)
      bytes += ZarrBlocks::waiting_bytes(
          *level, {zarr_image(level->array, level->axes).extent, spec_.raster.channels, spec_.raster.type});
    if (bytes > 0)
      warnings.push_back(fmt::format(
          "chunks hold several images: they wait on the disk, beside the result, until a chunk's last "
          "is there, {:.1f} MiB at most",
          static_cast<double>(bytes) / (1 << 20)));
  }

  /// Gives an image that has levels as many as the label images have. False: it cannot have them.
  static bool fit_levels(const LabelImages& labels, Levels levels, std::vector<Extent>& extents) {
    if (labels.folder.empty()) return false;
    if (levels == Levels::none) return labels.levels == 1;
    std::vector<Extent> fitting{extents.front()};
    while (std::ssize(fitting) < labels.levels && fitting.back().area() > 1)
      fitting.push_back({ceil_div(fitting.back().rows, 2), ceil_div(fitting.back().cols, 2)});
    if (std::ssize(fitting) < labels.levels) return false;
    extents = std::move(fitting);
    return true;
  }

  static std::vector<Extent> with_smaller(Extent image, const FileLayout& layout) {
    std::vector<Extent> extents = level_extents(image, layout);
    extents.insert(extents.begin(), image);
    return extents;
  }

  /// OME-Zarr's axes of space are y and x.
  static void take_usual_names(ZarrLayout& layout, std::vector<std::string>& warnings) {
    const std::string rows = std::exchange(layout.rows_name, ""), cols = std::exchange(layout.cols_name, "");
    layout.channels_name.clear();
    layout.keeps_channel = false;
    if ((!rows.empty() && rows != "y") || (!cols.empty() && cols != "x"))
      warnings.push_back(fmt::format("the axes {} and {} are called y and x, as OME-Zarr has them",
                                     printable(rows), printable(cols)));
  }

  /// Cuts what chunks are to hold of axes beside y and x where it cannot be.
  static FileLayout layout_for(const RasterSetSpec& spec, const CreateOptions& options, bool is_ome,
                               std::vector<std::string>& warnings) {
    FileLayout layout = options.layout;
    if (is_ome) take_usual_names(layout.zarr, warnings);
    std::vector<AxisPositions>& chunk = layout.zarr.chunk_others;
    std::vector<AxisPositions>& shard = layout.zarr.shard_others;
    const auto are_images = [&](const AxisPositions& positions) {
      const RasterAxis* const axis = find_axis(spec.axes, positions.axis);
      return axis != nullptr && axis->size > 1 && positions.count > 1;
    };
    const auto cut = [&](std::vector<AxisPositions>& of, std::string_view why) {
      std::vector<AxisPositions> images;
      std::ranges::copy_if(of, std::back_inserter(images), are_images);
      if (images.empty()) return;
      std::erase_if(of, are_images);
      warnings.push_back(fmt::format("a {} holds one image in place of {}: {}",
                                     &of == &shard ? "shard" : "chunk", to_string(images), why));
    };
    double bytes = static_cast<double>(layout.tile.area() * spec.raster.pixel_bytes());
    bool is_asked_for = false;
    for (const AxisPositions& positions : chunk) {
      if (are_images(positions)) bytes *= static_cast<double>(positions.count);
      is_asked_for |= positions.asked_for;
    }
    if (!is_asked_for && bytes > kMostSharedBytes) cut(chunk, "all of them would be more than 64 MiB");
    for (auto* const of : {&chunk, &shard}) {
      if (options.partial != nullptr)
        cut(*of, "a result that is made in several runs is made image by image");
      // A pixel's channels are positions of OME-Zarr's c, one a chunk unless something else is said.
      if (is_ome && find_positions(*of, "c") == nullptr) of->push_back({"c", 1});
    }
    return layout;
  }

  void add_array(Extent extent, const CreateOptions& options, const std::optional<OmeResult>& ome,
                 std::vector<std::string>& warnings) {
    RasterSetSpec spec = spec_;
    spec.raster.extent = extent;
    if (ome) spec.axes = ome->axes.rasters;
    std::vector<std::string> said;
    auto target = std::make_shared<ZarrTarget>();
    target->folder = folder_;
    target->array = zarr_result(spec, options, said);
    target->axes = zarr_result_axes(target->array, spec.raster.channels > target->array.type.parts() ||
                                                       options.layout.zarr.keeps_channel);
    if (ome) {
      target->key = std::to_string(levels_.size());
      target->array = ome->ordered(std::move(target->array));
      target->axes = ome->axes;
    }
    set_order(options.layout.zarr, target->axes, target->array, said);
    if (levels_.empty()) warnings.insert(warnings.end(), said.begin(), said.end());
    set_raster(target->array, target->axes);
    if (!target->array.shards.empty()) target->shards = std::make_unique<ShardWriter>(*target);
    levels_.push_back(std::move(target));
  }

  RasterSetSpec spec_;
  std::shared_ptr<UnfinishedFolder> folder_;
  std::vector<std::shared_ptr<ZarrTarget>> levels_;  // the image, and smaller ones
  ZarrTexts group_;                                  // of OME-Zarr
  std::filesystem::path labels_;                     // that go along
  SinkLayout layout_;
};

class ZarrSetWriter final : public RasterSetWriter {
 public:
  ZarrSetWriter(const std::filesystem::path& path, const RasterSetSpec& spec, const CreateOptions& options)
      : making_(path, spec, options), count_(spec.count()) {}

  std::unique_ptr<Writer> next(const Metadata&) override { return making_.writer(made_++); }

  bool skip_to(std::int64_t raster) override {
    made_ = raster;
    return true;
  }

  void finish() override {
    if (made_ != count_)
      throw IoError(fmt::format("{}: only {} of {} images were written; write all of them",
                                making_.target().native(), made_, count_));
    making_.finish();
  }

 private:
  ZarrMaking making_;
  std::int64_t count_, made_ = 0;
};

}  // namespace

std::unique_ptr<RasterSetWriter> create_zarr_set(const std::filesystem::path& path, const RasterSetSpec& spec,
                                                 const CreateOptions& options) {
  return std::make_unique<ZarrSetWriter>(path, spec, options);
}

std::unique_ptr<Writer> create_zarr(const std::filesystem::path& path, const ImageSpec& spec,
                                    const CreateOptions& options) {
  const auto making = std::make_shared<ZarrMaking>(path, RasterSetSpec{spec}, options);
  return making->writer(0, [making] { making->finish(); });
}

}  // namespace sepconv
