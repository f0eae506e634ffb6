// Raster sets backed by Python objects: sliceable objects, read and written in pieces of rows, and arrays in
// memory, used without copying.
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>
#include <tuple>

#include "files.hpp"
#include "images.hpp"

namespace sepconv::python {
namespace {

constexpr std::int64_t kMaxPieceBytes = std::int64_t{8} << 20;
/// Smaller pieces cost more time per call than for their pixels.
constexpr std::int64_t kMinPieceBytes = std::int64_t{256} << 10;
/// Copies of a piece in memory: encoded, decoded and as pixels.
constexpr std::int64_t kCopiesPerPiece = 4;
/// A quarter of the memory limit is for the pieces of source and sink.
constexpr std::uint64_t kPiecesInCeiling = 8 * kCopiesPerPiece;

using Axis = std::pair<std::string, std::int64_t>;
/// Kind and bits of elements, as in NumPy.
using Element = std::pair<char, int>;
/// Rows and columns of a block, and the number of images that share a block.
using Blocks = std::tuple<std::int64_t, std::int64_t, std::int64_t>;

/// Memory limits of the endpoints, from the memory limit of the run.
struct Limits {
  explicit Limits(const Settings& settings) {
    const PlanOptions& options = settings.plan ? settings.plan->asked : settings.run;
    const auto ceiling = static_cast<std::uint64_t>(memory_ceiling(options));
    shared_block_bytes = static_cast<std::int64_t>(ceiling / 4);
    piece_bytes = std::clamp(static_cast<std::int64_t>(std::bit_floor(ceiling / kPiecesInCeiling)),
                             kMinPieceBytes, kMaxPieceBytes);
    if (options.band_rows == 0) min_bytes = kMinPieceBytes;
  }

  std::int64_t shared_block_bytes = 0;  ///< for images that share blocks, per endpoint
  std::int64_t piece_bytes = 0;         ///< size of a piece, unless blocks are larger
  std::int64_t min_bytes = 0;           ///< minimum size of a piece; 0 if the caller sets band rows
};

/// Properties of an endpoint object, and the size of the pieces it is accessed in.
struct Facts {
  Facts(const ImageSpec& image, const Blocks& blocks, std::string description_text,
        const std::optional<SampleType>& element, std::vector<std::string> warning_texts,
        const Limits& limits)
      : spec(image),
        description(std::move(description_text)),
        stored(element),
        warnings(std::move(warning_texts)) {
    std::tie(block.rows, block.cols, images) = blocks;
    piece_bytes = limits.piece_bytes / images;
    const std::int64_t min_rows = limits.min_bytes / std::max<std::int64_t>(spec.row_bytes() * images, 1);
    const std::int64_t max_rows =
        std::max<std::int64_t>(spec.extent.rows, 1);  // an empty image is rejected later
    block.rows =
        round_up(std::clamp<std::int64_t>(min_rows, 1, max_rows), std::max<std::int64_t>(block.rows, 1));
  }

  ImageSpec spec;
  Extent block;
  std::int64_t images = 1;
  std::int64_t piece_bytes = 0;  ///< per image
  std::string description;
  std::optional<SampleType> stored;
  std::vector<std::string> warnings;
  std::optional<std::string> nodata;  ///< in the text form of a file's nodata declaration

  /// Extent of a piece in whole blocks: full-width rows, or part of a row of blocks if that is too large.
  Extent piece() const {
    const std::int64_t rows = std::clamp<std::int64_t>(piece_bytes / spec.row_bytes(), 1, spec.extent.rows);
    const std::int64_t piece_rows = round_up(rows, block.rows);
    const std::int64_t cols = std::max<std::int64_t>(piece_bytes / (piece_rows * spec.pixel_bytes()), 1);
    return {piece_rows, cols < spec.extent.cols && piece_rows == block.rows ? round_up(cols, block.cols)
                                                                            : spec.extent.cols};
  }
  std::int64_t buffer_bytes() const {
    const Rect max_rows = Rect{0, 0, piece().rows, piece().cols}.intersect(Rect::whole(spec.extent));
    return kCopiesPerPiece * images * max_rows.area() * spec.pixel_bytes() +
           (images > 1 ? images * spec.bytes() : 0);
  }
  /// For SourceLayout and SinkLayout.
  template <class Layout>
  Layout layout() const {
    Layout result;
    result.block = block;
    result.description = description;
    result.stored = stored;
    result.warnings = warnings;
    return result;
  }
};

/// Calls `method` of the object for each piece of a rectangle.
template <class View>
void for_each_piece(const Facts& facts, const char* method, const Endpoint& end, std::int64_t raster,
                    const Rect& rect, const View& pixels) {
  const Extent piece = facts.piece();
  const auto next = [](std::int64_t position, std::int64_t unit, std::int64_t end) {
    return std::min((position / unit + 1) * unit, end);
  };
  for (std::int64_t row = rect.row, row_end = 0; row < rect.row_end(); row = row_end) {
    row_end = next(row, piece.rows, rect.row_end());
    for (std::int64_t col = rect.col, col_end = 0; col < rect.col_end(); col = col_end) {
      col_end = next(col, piece.cols, rect.col_end());
      const Rect part{row - rect.row, col - rect.col, row_end - row, col_end - col};
      end.thread->call([&] { end.object.attr(method)(raster, row, col, array_of(pixels.crop(part))); });
    }
  }
}

class ObjectReader final : public Reader {
 public:
  ObjectReader(const Facts& facts, Endpoint end, std::int64_t raster)
      : facts_(facts), layout_(facts.layout<SourceLayout>()), end_(std::move(end)), raster_(raster) {
    set_nodata(metadata_, facts_.nodata);
  }
  const ImageSpec& spec() const noexcept override { return facts_.spec; }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return metadata_; }
  std::int64_t stored_bytes() const noexcept override { return 0; }
  std::int64_t buffer_bytes(int) const override { return facts_.buffer_bytes(); }
  void read(const Rect& rect, const PixelView& out, Executor&) override {
    for_each_piece(facts_, "read", end_, raster_, rect, out);
  }

 private:
  Facts facts_;
  SourceLayout layout_;
  Metadata metadata_;
  Endpoint end_;
  std::int64_t raster_;
};

class ObjectWriter final : public Writer {
 public:
  ObjectWriter(const Facts& facts, Endpoint end, std::int64_t raster)
      : facts_(facts), layout_(facts.layout<SinkLayout>()), end_(std::move(end)), raster_(raster) {}
  const ImageSpec& spec() const noexcept override { return facts_.spec; }
  const SinkLayout& layout() const noexcept override { return layout_; }
  std::int64_t buffer_bytes(int) const override { return facts_.buffer_bytes(); }
  void write(const Rect& rect, const ConstPixelView& in, Executor&) override {
    for_each_piece(facts_, "write", end_, raster_, rect, in);
  }
  void finish() override {}

 private:
  Facts facts_;
  SinkLayout layout_;
  Endpoint end_;
  std::int64_t raster_;
};

/// The pixels of a raster that is in memory; a view without data otherwise.
PixelView memory_of(const Endpoint& end, std::int64_t raster) {
  PixelView memory;
  end.thread->call([&] {
    const nb::object array = end.object.attr("memory")(raster);
    if (!array.is_none()) memory = view_of_array(array);
  });
  return memory;
}

class ObjectSet final : public RasterSet {
 public:
  ObjectSet(Facts facts, RasterAxes axes, Endpoint end)
      : RasterSet(facts.description, facts.spec, std::move(axes)),
        facts_(std::move(facts)),
        end_(std::move(end)) {}

 private:
  std::unique_ptr<Reader> open_raster(std::int64_t index, bool) override {
    const bool has_metadata = facts_.nodata.has_value();
    if (const PixelView memory = memory_of(end_, index); memory.data != nullptr && !has_metadata)
      return make_memory_reader(memory);
    return std::make_unique<ObjectReader>(facts_, end_, index);
  }

  Facts facts_;
  Endpoint end_;
};

class ObjectSinks final : public RasterSetWriter {
 public:
  ObjectSinks(Facts facts, Endpoint end) : facts_(std::move(facts)), end_(std::move(end)) {}
  std::unique_ptr<Writer> next(const Metadata&) override {
    const std::int64_t raster = next_++;
    if (const PixelView memory = memory_of(end_, raster); memory.data != nullptr)
      return make_memory_writer(memory);
    return std::make_unique<ObjectWriter>(facts_, end_, raster);
  }
  void finish() override {}

 private:
  Facts facts_;
  Endpoint end_;
  std::int64_t next_ = 0;
};

SampleType stored_of(const Element& element) {
  using Kind = SampleType::Kind;
  const auto [kind, bits] = element;
  return {kind == 'b'   ? Kind::boolean
          : kind == 'u' ? Kind::natural
          : kind == 'i' ? Kind::integer
          : kind == 'f' ? Kind::floating
                        : Kind::complex,
          bits};
}

Element element_of(const SampleType& stored) { return {"buifc"[static_cast<int>(stored.kind)], stored.bits}; }

}  // namespace

std::unique_ptr<RasterSet> open_source(const Endpoint& source, const Settings& settings) {
  std::unique_ptr<RasterSet> set;
  std::filesystem::path path;
  const Limits limits(settings);
  source.thread->call([&] {
    if (source.is_path()) {
      path = nb::cast<std::filesystem::path>(source.object);
      return;
    }
    const auto [rows, cols, channels, type, axes, stored, blocks, description, warnings, nodata] =
        nb::cast<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string, std::vector<Axis>,
                            std::optional<Element>, Blocks, std::string, std::vector<std::string>,
                            std::optional<std::string>>>(
            source.object.attr("facts")(limits.shared_block_bytes));
    std::optional<SampleType> element;
    if (stored) element = stored_of(*stored);
    RasterAxes named;
    for (const auto& [name, size] : axes) named.push_back({.name = name, .size = size});
    Facts known({{rows, cols}, channels, type_named(type)}, blocks, description, element, warnings, limits);
    known.nodata = nodata;
    set = std::make_unique<ObjectSet>(std::move(known), std::move(named), source);
  });
  return set ? std::move(set) : open_set(path, settings.files.open);
}

JobEndpoints sink_of(const Endpoint& sink, const Settings& settings) {
  JobEndpoints ends;
  if (sink.is_path()) {
    ends.output = nb::cast<std::filesystem::path>(sink.object);
    return ends;
  }
  ends.make_sinks = [sink, limits = Limits(settings)](const RasterSetSpec& spec,
                                                      const CreateOptions& options) {
    std::vector<Axis> axes;
    for (const RasterAxis& axis : spec.axes)
      if (!axis.single) axes.emplace_back(axis.name, axis.size);
    const ImageSpec& image = spec.raster;
    std::unique_ptr<RasterSetWriter> sinks;
    sink.thread->call([&] {
      const auto [blocks, description, warnings] =
          nb::cast<std::tuple<Blocks, std::string, std::vector<std::string>>>(sink.object.attr("begin")(
              image.extent.rows, image.extent.cols, image.channels, std::string(name_of(image.type)), axes,
              options.stored ? std::optional(element_of(*options.stored)) : std::nullopt,
              limits.shared_block_bytes));
      sinks = std::make_unique<ObjectSinks>(
          Facts(image, blocks, description, options.stored, warnings, limits), sink);
    });
    return sinks;
  };
  return ends;
}

}  // namespace sepconv::python
