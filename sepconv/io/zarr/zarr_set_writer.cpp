#include <fmt/format.h>

#include <utility>

#include "sepconv/core/error.hpp"
#include "sepconv/io/zarr/zarr.hpp"
#include "sepconv/io/zarr/zarr_writer.hpp"

namespace sepconv {
namespace {

struct Beginning {
  std::shared_ptr<ZarrTarget> target;
  SinkLayout layout;
};

Beginning begin(const std::filesystem::path& path, const RasterSetSpec& spec, const CreateOptions& options) {
  std::vector<std::string> warnings;
  auto target = std::make_shared<ZarrTarget>();
  target->array = zarr_result(spec, options, warnings);
  target->axes = zarr_result_axes(target->array, spec.raster.channels > target->array.type.parts());
  target->folder =
      std::make_shared<UnfinishedFolder>(path, UnfinishedFolder::Options{options.overwrite, options.durable});
  SinkLayout layout = zarr_sink_layout(*target, options);
  layout.warnings.insert(layout.warnings.end(), warnings.begin(), warnings.end());
  return {std::move(target), std::move(layout)};
}

void finish(const ZarrTarget& target) {
  target.write_metadata();
  target.folder->commit();
}

class ZarrSetWriter final : public RasterSetWriter {
 public:
  ZarrSetWriter(Beginning begun, const RasterSetSpec& spec)
      : target_(std::move(begun.target)), layout_(std::move(begun.layout)), spec_(spec) {}

  std::unique_ptr<Writer> next(const Metadata&) override {
    std::vector<std::int64_t> position = position_of(target_->axes.rasters, made_++);
    auto writer = make_zarr_writer(target_, spec_.raster, std::move(position), layout_);
    layout_.warnings.clear();
    return writer;
  }

  void finish() override {
    if (made_ != spec_.count())
      throw IoError(fmt::format("{}: only {} of {} images were written; write all of them",
                                target_->folder->target().native(), made_, spec_.count()));
    sepconv::finish(*target_);
  }

 private:
  std::shared_ptr<ZarrTarget> target_;
  SinkLayout layout_;
  RasterSetSpec spec_;
  std::int64_t made_ = 0;
};

}  // namespace

std::unique_ptr<RasterSetWriter> create_zarr_set(const std::filesystem::path& path, const RasterSetSpec& spec,
                                                 const CreateOptions& options) {
  return std::make_unique<ZarrSetWriter>(begin(path, spec, options), spec);
}

std::unique_ptr<Writer> create_zarr(const std::filesystem::path& path, const ImageSpec& spec,
                                    const CreateOptions& options) {
  auto [target, layout] = begin(path, {spec}, options);
  return make_zarr_writer(target, spec, {}, std::move(layout), [target] { finish(*target); });
}

}  // namespace sepconv
