#include "pipeline/stages/binary_op_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/count_text.hpp"
#include "core/error.hpp"
#include "io/broadcast_reader.hpp"
#include "io/memory_image.hpp"
#include "io/nodata.hpp"
#include "io/raster_set.hpp"
#include "io/tiff/masked_reader.hpp"
#include "io/volume_set.hpp"
#include "pipeline/chain/wrap.hpp"
#include "pipeline/stages/execution_backends.hpp"

namespace sepconv {
namespace {

using Kind = PointwiseOp::Kind;

/// The header of a second image, read when its stage is created.
struct ImageHeader {
  SecondaryImage image;
  std::string axes_text;  ///< letters of the axes of an array, as given
  ImageSpec spec;
  RasterAxes axes;
  std::optional<double> nodata;
  bool has_mask = false;   ///< the last channel is a mask
  bool adds_mask = false;  ///< a mask channel is added, with all pixels valid
};

/// Replaces the option name OpenOptions::axes in an error message by the key of the stage.
std::string with_key_name(std::string sentence) {
  constexpr std::string_view kOption = "OpenOptions::axes";
  for (std::size_t at = 0; (at = sentence.find(kOption, at)) != sentence.npos;) {
    const bool has_value = sentence.substr(at + kOption.size(), 1) == " ";
    sentence.replace(at, kOption.size() + (has_value ? 1 : 0), "axes=");
  }
  return sentence;
}

std::unique_ptr<RasterSet> open_image(const ImageHeader& header) {
  try {
    return open_set(header.image.file, {.axes = header.axes_text});
  } catch (const IoError& error) {
    throw IoError(with_key_name(error.what()), error.error());
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(with_key_name(error.what()));
  }
}

std::unique_ptr<Reader> reader_of_pixels(const SecondaryImage& image, std::int64_t raster) {
  const std::int64_t rows = image.pixels.extent.rows / raster_count(image.rasters);
  return make_memory_reader(image.pixels.crop({raster * rows, 0, rows, image.pixels.extent.cols}));
}

/// Opens one raster of the second image, without an added mask. Throws IoError if the file has changed.
std::unique_ptr<Reader> raster_reader(const ImageHeader& header, std::int64_t raster) {
  const std::int64_t count = raster_count(header.axes);
  if (raster < 0 && count > 1)
    throw InvalidArgument(fmt::format(
        "{} has {} rasters ({}), and is the second image of one; give one of them, or a stack of as many",
        header.image.text(), count, to_string(header.axes)));
  if (count == 1) raster = 0;
  if (header.image.pixels.data != nullptr) return reader_of_pixels(header.image, raster);
  const auto set = open_image(header);
  ImageSpec spec = header.spec;
  if (header.adds_mask) --spec.channels;
  if (set->spec() != spec || set->axes() != header.axes)
    throw IoError(fmt::format("{} has changed since the chain was created; create the chain again",
                              header.image.file.string()));
  return set->raster(raster);
}

std::unique_ptr<Reader> reader_of(const ImageHeader& header, std::int64_t raster) {
  auto reader = raster_reader(header, raster);
  return header.adds_mask ? make_masked_reader(std::move(reader), {.to_be_alpha = true}) : std::move(reader);
}

ImageHeader read_header(const SecondaryImage& image, const std::string& axes_text,
                        const StageArguments& stage_args) {
  ImageHeader header{image, axes_text, {}, image.rasters, {}};
  std::unique_ptr<Reader> reader;
  if (image.pixels.data == nullptr) {
    const auto set = open_image(header);
    header.axes = set->axes();
    reader = set->raster(0);
  } else {
    reader = reader_of_pixels(image, 0);
  }
  header.spec = reader->spec();
  const SourceLayout& layout = reader->layout();
  if (layout.access == Access::sequential)
    stage_args.refuse("file", "a pipe gives each row once, and bands may need one twice; give a file");
  if (layout.stored && layout.stored->is_complex())
    stage_args.refuse("file", "its numbers are complex; give their real or imaginary part");
  header.has_mask = reader->metadata().mask_channel;
  header.nodata = declared_nodata(reader->metadata(), header.spec.type,
                                  layout.stored.value_or(SampleType(header.spec.type)));
  return header;
}

/// The rasters of the second image, or its only raster at every position of these axes, each repeated to the
/// size of a plane of the input.
class VolumeOperand final : public RasterSet {
 public:
  VolumeOperand(std::shared_ptr<const ImageHeader> header, Extent plane, std::int64_t channels,
                RasterAxes axes)
      : RasterSet(header->image.text(), {plane, channels, header->spec.type}, std::move(axes)),
        header_(std::move(header)) {}

 private:
  std::unique_ptr<Reader> open_raster(std::int64_t index, bool) override {
    return make_broadcast_reader(reader_of(*header_, index), spec().extent, spec().channels);
  }

  std::shared_ptr<const ImageHeader> header_;
};

StageDeclaration declaration_of(std::string text, const ImageHeader& header, const PointwiseOp& op) {
  return {.text = std::move(text),
          .traits = {.nan = {.propagates = true}},
          .properties = {.is_per_pixel = true,
                         .is_complex_linear = op.kind == Kind::product || op.kind == Kind::quotient,
                         .needs_f64 = header.spec.type == PixelType::f64,
                         .runs_on_device = true,
                         .handles_nodata = true,
                         .has_secondary = true,
                         .secondary_is_raster_set = raster_count(header.axes) > 1,
                         .secondary_nodata = header.nodata}};
}

class BinaryOpStage final : public Stage {
 public:
  BinaryOpStage(std::string text, std::shared_ptr<const ImageHeader> header, const PointwiseOp& op)
      : Stage(declaration_of(std::move(text), *header, op)), header_(std::move(header)), op_(op) {}

  ImageSpec output_spec(const ImageSpec& whole) const override {
    const ImageSpec& spec = header_->spec;
    const ImageSpec input{volume_ ? volume_->plane : whole.extent, whole.channels, whole.type};
    if (!is_broadcastable_to(spec, input.extent, input.channels))
      throw InvalidArgument(fmt::format(
          "stage '{}' has a second image of {} rows x {} columns of {}, which does not fit an image of {} "
          "rows x {} columns of {}: give one as large, or one row, column or pixel of it; axes= says of an "
          "array that it is a stack",
          text(), spec.extent.rows, spec.extent.cols, count_text(spec.channels, "channel"), input.extent.rows,
          input.extent.cols, count_text(input.channels, "channel")));
    return whole;
  }

  StagePtr with_mask_channel() const override {
    if (header_->has_mask || header_->spec.channels == 1) return shared_from_this();
    ImageHeader header = *header_;
    header.adds_mask = true;
    ++header.spec.channels;
    const auto copy = std::make_shared<BinaryOpStage>(*this);
    copy->header_ = std::make_shared<const ImageHeader>(std::move(header));
    return copy;
  }

  ValueRange result_range(const ValueRange& input) const override {
    return range_of(op_, input, range_of(SampleType(header_->spec.type)));
  }

  std::unique_ptr<Reader> open_secondary(const ImageSpec& input) const override {
    if (!volume_) return make_broadcast_reader(reader_of(*header_, raster_), input.extent, input.channels);
    const bool is_single = raster_count(header_->axes) == 1;
    const VolumeAxes axes = is_single ? VolumeAxes{{}, 1, volume_->planes} : *volume_axes(header_->axes, "z");
    Volumes volumes = volumes_of(
        std::make_unique<VolumeOperand>(header_, volume_->plane, input.channels,
                                        is_single ? RasterAxes{{"plane", volume_->planes}} : header_->axes),
        axes);
    return make_broadcast_reader(volumes.set->raster(is_single ? 0 : std::max<std::int64_t>(raster_, 0)),
                                 input.extent, input.channels);
  }

  StagePtr on_volume(const ImageSpec& plane, const VolumeShape& whole) const override {
    const VolumeShape shape{plane.extent, whole.depth, whole.planes};
    const std::optional<VolumeAxes> axes = volume_axes(header_->axes, "z");
    const bool is_single = raster_count(header_->axes) == 1;
    if (!is_single && !(axes && axes->depth == shape.depth && axes->planes == shape.planes))
      throw InvalidArgument(fmt::format(
          "stage '{}' has a second image of the axes {}, which does not match {} planes along z of {} "
          "images each: give one with the same axis z and what follows it",
          text(), to_string(header_->axes), shape.depth, shape.planes));
    const auto copy = std::make_shared<BinaryOpStage>(*this);
    copy->volume_ = shape;
    return copy;
  }

  StagePtr bind_secondary(const ConstRegion& second) const override {
    const auto bound = std::make_shared<BinaryOpStage>(*this);
    bound->second_ = second;
    return bound;
  }

  StagePtr for_raster(std::int64_t raster, const RasterAxes& axes) const override {
    const std::int64_t count = raster_count(header_->axes);
    if (count == 1) return shared_from_this();
    if (volume_) return with_raster(raster);  // on_volume() has checked the axes
    const auto sizes = [](const RasterAxes& raster_axes) {
      std::vector<std::int64_t> longer;
      for (const RasterAxis& axis : raster_axes)
        if (axis.size > 1) longer.push_back(axis.size);
      return longer;
    };
    if (sizes(header_->axes) != sizes(axes))
      throw InvalidArgument(fmt::format(
          "stage '{}' has a second image of {} rasters ({}) for {} ({}): give as many, or one for all",
          text(), count, to_string(header_->axes), raster_count(axes), to_string(axes)));
    return with_raster(raster);
  }

  StagePtr with_nodata() const override {
    PointwiseOp op = op_;
    op.propagates_nodata = true;
    const bool marks = header_->nodata && !std::isnan(*header_->nodata);
    const auto stage = std::make_shared<BinaryOpStage>(
        marks ? fmt::format("{} (missing of the second image: {})", text(), *header_->nodata) : text(),
        header_, op);
    stage->marks_nodata_ = marks;
    stage->raster_ = raster_;
    stage->volume_ = volume_;
    stage->second_ = second_;
    return stage;
  }

  std::int64_t scratch_bytes(Scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    return marks_nodata_ ? Arena::view_bytes(output, input.channels, pixel_type_of(arithmetic)) : 0;
  }

  void apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker) const override {
    const Arena::Scope scope(worker);
    join(HostBackend{arithmetic, worker}, in, out);
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    join(ReferenceBackend{arithmetic}, in, out);
  }

  void enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, const Epilogue& epilogue) const override {
    const Arena::Scope scope(arena);
    join(StreamBackend{arithmetic, arena, stream, epilogue.ops, out.pixels.data}, in, out);
  }

 private:
  StagePtr with_raster(std::int64_t raster) const {
    const auto copy = std::make_shared<BinaryOpStage>(*this);
    copy->raster_ = raster;
    return copy;
  }

  template <class Backend>
  void join(const Backend& backend, const ConstRegion& in, const Region& out) const {
    ConstPixelView operand = second_at(out.rect);
    if (marks_nodata_) {
      const PixelView marked =
          backend.allocate(out.rect.extent(), out.pixels.channels, pixel_type_of(backend.arithmetic));
      backend.pointwise({.kind = Kind::mark_missing, .p = *header_->nodata}, operand, operand, marked);
      operand = marked;
    }
    backend.pointwise(op_, in.crop(out.rect).pixels, operand, out.pixels);
  }

  /// Pixels of the second image at `rect`; it may repeat beyond its edges.
  ConstPixelView second_at(const Rect& rect) const {
    const std::optional<Rect> at =
        second_.pixels.data != nullptr ? find_repetition(second_.rect, rect, second_.image) : std::nullopt;
    if (!at)
      throw std::logic_error(fmt::format(
          "stage '{}' is computed at {}, where its second image is not available", text(), to_string(rect)));
    return second_.crop(*at).pixels;
  }

  std::shared_ptr<const ImageHeader> header_;
  PointwiseOp op_;
  bool marks_nodata_ = false;            ///< nodata pixels of the second image become NaN
  std::int64_t raster_ = -1;             ///< index within a set; -1: not selected
  std::optional<VolumeShape> volume_{};  ///< if the input is a volume; raster_ counts volumes then
  ConstRegion second_{};
};

}  // namespace

StagePtr binary_op_stage(const StageArguments& stage_args, const SecondaryImage& image,
                         const std::string& axes, const PointwiseOp& op) {
  return std::make_shared<BinaryOpStage>(
      stage_args.text(), std::make_shared<ImageHeader>(read_header(image, axes, stage_args)), op);
}

}  // namespace sepconv
