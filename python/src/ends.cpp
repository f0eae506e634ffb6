// Sets of rasters whose pixels Python objects give and take: anything that is sliced, a piece of rows at a
// time, and arrays in memory, of which nothing is copied.
#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "files.hpp"

namespace sepconv::python {
namespace {

/// What is asked of an object at once, unless its blocks are larger.
constexpr std::int64_t kPieceBytes = std::int64_t{8} << 20;
/// A piece as the object gives it, decoded and as pixels.
constexpr std::int64_t kCopiesOfPiece = 4;

using Axis = std::pair<std::string, std::int64_t>;
/// Kind and bits of elements, as NumPy has them.
using Element = std::pair<char, int>;

struct Facts {
  ImageSpec spec;
  Extent block;
  std::string description;
  std::optional<StoredType> stored{};
  std::vector<std::string> warnings{};

  /// Whole blocks: rows of full width, or parts of a row of blocks where that is more than a piece.
  Extent piece() const {
    const std::int64_t rows = std::clamp<std::int64_t>(kPieceBytes / spec.row_bytes(), 1, spec.extent.rows);
    const std::int64_t high = round_up(rows, block.rows);
    const std::int64_t cols = std::max<std::int64_t>(kPieceBytes / (high * spec.pixel_bytes()), 1);
    return {high,
            cols < spec.extent.cols && high == block.rows ? round_up(cols, block.cols) : spec.extent.cols};
  }
  std::int64_t piece_bytes() const {
    const Rect most = Rect{0, 0, piece().rows, piece().cols}.intersect(Rect::whole(spec.extent));
    return kCopiesOfPiece * most.area() * spec.pixel_bytes();
  }
  /// For SourceLayout and SinkLayout.
  template <class Layout>
  Layout layout() const {
    Layout all;
    all.block = block;
    all.description = description;
    all.stored = stored;
    all.warnings = warnings;
    return all;
  }
};

/// Calls the object for the pieces of a rectangle.
template <class View>
void each_piece(const Facts& facts, const char* method, nb::handle object, std::int64_t raster,
                const Rect& rect, const View& pixels) {
  const Extent step = facts.piece();
  const auto next = [](std::int64_t at, std::int64_t unit, std::int64_t end) {
    return std::min((at / unit + 1) * unit, end);
  };
  for (std::int64_t row = rect.row, row_end = 0; row < rect.row_end(); row = row_end) {
    row_end = next(row, step.rows, rect.row_end());
    for (std::int64_t col = rect.col, col_end = 0; col < rect.col_end(); col = col_end) {
      col_end = next(col, step.cols, rect.col_end());
      const Rect part{row - rect.row, col - rect.col, row_end - row, col_end - col};
      const nb::gil_scoped_acquire acquired;
      object.attr(method)(raster, row, col, array_of(pixels.crop(part)));
    }
  }
}

class ObjectReader final : public Reader {
 public:
  ObjectReader(const Facts& facts, nb::handle object, std::int64_t raster)
      : facts_(facts), layout_(facts.layout<SourceLayout>()), object_(object), raster_(raster) {}
  const ImageSpec& spec() const noexcept override { return facts_.spec; }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return metadata_; }
  std::int64_t stored_bytes() const noexcept override { return 0; }
  std::int64_t buffer_bytes(int) const override { return facts_.piece_bytes(); }
  void read(const Rect& rect, const PixelView& out, Executor&) override {
    const std::lock_guard lock(one_piece_);
    each_piece(facts_, "read", object_, raster_, rect, out);
  }

 private:
  Facts facts_;
  SourceLayout layout_;
  Metadata metadata_;
  nb::handle object_;
  std::int64_t raster_;
  std::mutex one_piece_;
};

class ObjectWriter final : public Writer {
 public:
  ObjectWriter(const Facts& facts, nb::handle object, std::int64_t raster)
      : facts_(facts), layout_(facts.layout<SinkLayout>()), object_(object), raster_(raster) {}
  const ImageSpec& spec() const noexcept override { return facts_.spec; }
  const SinkLayout& layout() const noexcept override { return layout_; }
  std::int64_t buffer_bytes(int) const override { return facts_.piece_bytes(); }
  void write(const Rect& rect, const ConstPixelView& in, Executor&) override {
    each_piece(facts_, "write", object_, raster_, rect, in);
  }
  void finish() override {}

 private:
  Facts facts_;
  SinkLayout layout_;
  nb::handle object_;
  std::int64_t raster_;
};

/// The image of a raster where it lies in memory as pixels; without data where it does not.
PixelView memory_of(nb::handle object, std::int64_t raster) {
  const nb::gil_scoped_acquire acquired;
  const nb::object array = object.attr("memory")(raster);
  return array.is_none() ? PixelView{} : view_of_array(array);
}

class ObjectSet final : public RasterSet {
 public:
  ObjectSet(Facts facts, RasterAxes axes, nb::handle object)
      : RasterSet(facts.description, facts.spec, std::move(axes)),
        facts_(std::move(facts)),
        object_(object) {}

 private:
  std::unique_ptr<Reader> open_raster(std::int64_t index, bool) override {
    if (const PixelView memory = memory_of(object_, index); memory.data != nullptr)
      return make_memory_reader(memory);
    return std::make_unique<ObjectReader>(facts_, object_, index);
  }

  Facts facts_;
  nb::handle object_;
};

class ObjectSinks final : public RasterSetWriter {
 public:
  ObjectSinks(Facts facts, nb::handle object) : facts_(std::move(facts)), object_(object) {}
  std::unique_ptr<Writer> next(const Metadata&) override {
    const std::int64_t raster = next_++;
    if (const PixelView memory = memory_of(object_, raster); memory.data != nullptr)
      return make_memory_writer(memory);
    return std::make_unique<ObjectWriter>(facts_, object_, raster);
  }
  void finish() override {}

 private:
  Facts facts_;
  nb::handle object_;
  std::int64_t next_ = 0;
};

StoredType stored_of(const Element& element) {
  using Kind = StoredType::Kind;
  const auto [kind, bits] = element;
  return {kind == 'b'   ? Kind::boolean
          : kind == 'u' ? Kind::natural
          : kind == 'i' ? Kind::integer
          : kind == 'f' ? Kind::floating
                        : Kind::complex,
          bits};
}

Element element_of(const StoredType& stored) { return {"buifc"[static_cast<int>(stored.kind)], stored.bits}; }

nb::dlpack::dtype dtype_of(PixelType type) {
  return visit_pixel_type(type, [](auto tag) { return nb::dtype<typename decltype(tag)::type>(); });
}

template <class Array, class View>
nb::object made_array(const View& pixels) {
  const std::size_t shape[] = {static_cast<std::size_t>(pixels.extent.rows),
                               static_cast<std::size_t>(pixels.extent.cols),
                               static_cast<std::size_t>(pixels.channels)};
  const std::int64_t strides[] = {pixels.pitch_bytes / size_of(pixels.type), pixels.channels, 1};
  return nb::cast(Array(pixels.data, 3, shape, nb::handle(), strides, dtype_of(pixels.type)),
                  nb::rv_policy::reference);
}

}  // namespace

nb::object array_of(const ConstPixelView& pixels) {
  return made_array<nb::ndarray<nb::numpy, nb::ro>>(pixels);
}
nb::object array_of(const PixelView& pixels) { return made_array<nb::ndarray<nb::numpy>>(pixels); }

PixelView view_of_array(nb::handle array) {
  const auto pixels = nb::cast<nb::ndarray<nb::ro, nb::device::cpu>>(array);
  const PixelType* const type =
      std::ranges::find_if(kPixelTypes, [&](PixelType one) { return dtype_of(one) == pixels.dtype(); });
  if (type == std::end(kPixelTypes) || pixels.ndim() != 3)
    throw InvalidArgument("an array of rows, columns and channels of pixels was expected");
  const auto side = [&](std::size_t axis) { return static_cast<std::int64_t>(pixels.shape(axis)); };
  PixelView view{
      static_cast<std::byte*>(const_cast<void*>(pixels.data())), {side(0), side(1)}, side(2), *type, 0};
  view.pitch_bytes = side(0) > 1 ? pixels.stride(0) * size_of(*type) : view.row_bytes();
  return view;
}

std::unique_ptr<RasterSet> open_source(nb::handle source, const OpenOptions& options) {
  std::filesystem::path path;
  {
    const nb::gil_scoped_acquire acquired;
    if (nb::hasattr(source, "memory")) {
      const auto [rows, cols, channels, type, axes, stored, block, description] =
          nb::cast<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string, std::vector<Axis>,
                              std::optional<Element>, std::pair<std::int64_t, std::int64_t>, std::string>>(
              source.attr("facts"));
      Facts facts{
          {{rows, cols}, channels, *parse_pixel_type(type)}, {block.first, block.second}, description};
      if (stored) facts.stored = stored_of(*stored);
      RasterAxes named;
      for (const auto& [name, size] : axes) named.push_back({.name = name, .size = size});
      return std::make_unique<ObjectSet>(std::move(facts), std::move(named), source);
    }
    path = nb::cast<std::filesystem::path>(source);
  }
  return open_set(path, options);
}

std::unique_ptr<RasterSetWriter> open_sinks(nb::handle sink, const RasterSetSpec& spec,
                                            const std::optional<StoredType>& stored) {
  const nb::gil_scoped_acquire acquired;
  std::vector<Axis> axes;
  for (const RasterAxis& axis : spec.axes)
    if (!axis.single) axes.emplace_back(axis.name, axis.size);
  const ImageSpec& image = spec.raster;
  const auto [block, description, warnings] =
      nb::cast<std::tuple<std::pair<std::int64_t, std::int64_t>, std::string, std::vector<std::string>>>(
          sink.attr("begin")(image.extent.rows, image.extent.cols, image.channels,
                             std::string(name_of(image.type)), axes,
                             stored ? std::optional(element_of(*stored)) : std::nullopt));
  return std::make_unique<ObjectSinks>(
      Facts{image, {block.first, block.second}, description, stored, warnings}, sink);
}

JobEnds ends_of(nb::handle source, nb::handle sink) {
  JobEnds ends;
  if (nb::hasattr(source, "memory")) {
    ends.sources = open_source(source, {});
  } else {
    ends.input = nb::cast<std::filesystem::path>(source);
  }
  if (nb::hasattr(sink, "memory")) {
    ends.make_sinks = [sink](const RasterSetSpec& spec, const CreateOptions& options) {
      return open_sinks(sink, spec, options.stored);
    };
  } else {
    ends.output = nb::cast<std::filesystem::path>(sink);
  }
  return ends;
}

}  // namespace sepconv::python
