#include <fmt/format.h>

#include <bit>
#include <utility>

#include "core/error.hpp"
#include "io/buffered_image.hpp"
#include "io/flat/npy.hpp"
#include "io/pnm/pnm_header.hpp"
#include "io/sample_conversion.hpp"
#include "io/stream/stream.hpp"

namespace sepconv {
namespace {

constexpr BufferedFormat kPpmStream{"PPM", true, "13", kMaxSide, 0, "npy"};

/// Destination of rows. The header is written before the first row.
struct RowSink {
  RowSink(WriteBytes write, std::vector<std::byte> head) : bytes(std::move(write)), header(std::move(head)) {}
  OutputBytes bytes;
  std::vector<std::byte> header;
  std::vector<std::byte> stored{};  ///< buffer of a row in the stored type if that differs from the pixels
};

class StreamWriter final : public Writer {
 public:
  StreamWriter(std::shared_ptr<RowSink> sink, std::string name, const ImageSpec& spec, SinkLayout layout,
               bool swap)
      : sink_(std::move(sink)),
        name_(std::move(name)),
        spec_(spec),
        layout_(std::move(layout)),
        type_(layout_.stored.value_or(SampleType(spec.type))),
        swap_(swap) {}

  const ImageSpec& spec() const noexcept override { return spec_; }
  const SinkLayout& layout() const noexcept override { return layout_; }
  std::int64_t buffer_bytes(int) const override { return kStreamBytes + stored_row_bytes(); }

  void write(const Rect& rect, const ConstPixelView& in, Executor&) override {
    if (rect.row != next_row_ || rect.col != 0 || rect.cols != spec_.extent.cols)
      throw InvalidArgument(
          fmt::format("a stream takes full rows from {} on, and {} came; write them in order", next_row_,
                      to_string(rect)));
    sink_->bytes.write(std::exchange(sink_->header, {}));
    for (std::int64_t row = 0; row < rect.rows; ++row) write_row(in, row);
    next_row_ = rect.row_end();
  }

  void finish() override {
    if (next_row_ != spec_.extent.rows)
      throw IoError(fmt::format("{}: only {} of {} rows were written; write all of them", name_, next_row_,
                                spec_.extent.rows));
    sink_->bytes.flush();
  }

 private:
  std::int64_t stored_row_bytes() const {
    return type_.bytes_of(spec_.extent.cols * spec_.channels / type_.parts());
  }

  void write_row(const ConstPixelView& in, std::int64_t row) {
    const std::span pixels(in.row_data(row), static_cast<std::size_t>(in.row_bytes()));
    if (type_.is_pixels() && !swap_) return sink_->bytes.write(pixels);
    std::vector<std::byte>& stored = sink_->stored;
    stored.resize(static_cast<std::size_t>(stored_row_bytes()));
    if (type_.is_pixels()) {
      std::copy(pixels.begin(), pixels.end(), stored.begin());
    } else {
      store_elements(type_, pixels.data(), type_.parts(), spec_.extent.cols * spec_.channels / type_.parts(),
                     stored.data());
    }
    if (swap_) swap_elements(type_, stored);
    sink_->bytes.write(stored);
  }

  std::shared_ptr<RowSink> sink_;
  std::string name_;
  ImageSpec spec_;
  SinkLayout layout_;
  SampleType type_;
  bool swap_;
  std::int64_t next_row_ = 0;
};

class StreamSetWriter final : public RasterSetWriter {
 public:
  StreamSetWriter(std::string name, WriteBytes write, std::vector<std::byte> header,
                  const RasterSetSpec& spec, SinkLayout layout, bool swap)
      : sink_(std::make_shared<RowSink>(std::move(write), std::move(header))),
        name_(std::move(name)),
        spec_(spec),
        layout_(std::move(layout)),
        swap_(swap) {}

  std::unique_ptr<Writer> next(const Metadata&) override {
    ++created_;
    auto writer = std::make_unique<StreamWriter>(sink_, name_, spec_.raster, layout_, swap_);
    layout_.warnings.clear();
    return writer;
  }

  void finish() override {
    if (created_ != spec_.count())
      throw IoError(fmt::format("{}: only {} of {} images were written; write all of them", name_, created_,
                                spec_.count()));
  }

 private:
  std::shared_ptr<RowSink> sink_;
  std::string name_;
  RasterSetSpec spec_;
  SinkLayout layout_;
  bool swap_;
  std::int64_t created_ = 0;
};

std::vector<std::byte> stream_header(StreamFormat format, const RasterSetSpec& spec, SampleType stored) {
  if (format == StreamFormat::npy) return npy_header(npy_descr(stored), npy_shape(spec, stored));
  if (format == StreamFormat::ppm) return pnm_header(spec.raster);
  return {};
}

void check_ppm(const std::string& name, const RasterSetSpec& spec, const Metadata& metadata) {
  if (spec.count() > 1)
    throw InvalidArgument(
        fmt::format("{} cannot hold {} images ({}) as ppm, which has one; choose npy, or take one image with "
                    "OpenOptions::select",
                    name, spec.count(), to_string(spec.axes)));
  check_buffered_spec(name, spec.raster, kPpmStream, metadata);
  check_picture(name, spec.raster, kPpmStream, metadata);
}

}  // namespace

std::unique_ptr<RasterSetWriter> create_stream(const std::string& name, WriteBytes write, StreamFormat format,
                                               const RasterSetSpec& spec, const CreateOptions& options) {
  const std::filesystem::path file_name = fmt::format("{}.{}", name, name_of(format));
  CreateOptions adapted = adapt_stored_type(name, *format_of_name(file_name), options);
  if (format == StreamFormat::ppm) check_ppm(name, spec, options.metadata);
  if (options.layout.levels != Levels::none)
    adapted.warnings.push_back("the smaller levels are not kept: a stream holds the full image only");
  constexpr const char* kDescriptions[] = {"NPY 1.0, in a stream", "raw, in a stream", "PNM, in a stream"};
  SinkLayout layout = flat_layout(kDescriptions[static_cast<int>(format)], adapted);
  layout.block = {1, spec.raster.extent.cols};
  layout.access = Access::sequential;
  const SampleType stored = layout.stored.value_or(SampleType(spec.raster.type));
  const bool swap = format == StreamFormat::ppm && spec.raster.type == PixelType::u16 &&
                    std::endian::native == std::endian::little;
  return std::make_unique<StreamSetWriter>(name, std::move(write), stream_header(format, spec, stored), spec,
                                           std::move(layout), swap);
}

}  // namespace sepconv
