#include "io/coverage_tracker.hpp"
#include "io/flat/flat_image.hpp"
#include "io/flat/row_pieces.hpp"
#include "io/limited_executor.hpp"
#include "io/resumable.hpp"
#include "io/sample_conversion.hpp"

namespace sepconv {
namespace {

class FlatWriter final : public Writer, private ResumableWriter {
 public:
  FlatWriter(std::shared_ptr<OutputFile> file, const ImageSpec& spec, std::int64_t offset, SinkLayout layout)
      : file_(std::move(file)),
        spec_(spec),
        offset_(offset),
        layout_(std::move(layout)),
        stored_(layout_.stored.value_or(SampleType(spec.type))) {}

  /// Makes this writer the owner of the file, which gets this header.
  void set_header(std::vector<std::byte> header) {
    header_ = std::move(header);
    owns_file_ = true;
    file_->expect(offset_of(spec_.extent.rows, 0));
    layout_.max_write_threads = file_->max_write_threads();
    file_->add_warnings(layout_.warnings);
  }

  const ImageSpec& spec() const noexcept override { return spec_; }
  const SinkLayout& layout() const noexcept override { return layout_; }
  std::int64_t buffer_bytes(int concurrency) const override {
    return file_->write_threads_bound(concurrency) * kBounceBytes + file_->memory_bytes(concurrency);
  }

  void write(const Rect& rect, const ConstPixelView& in, Executor& parallel_executor) override {
    written_.add(rect);
    const bool whole_rows = rect.cols == spec_.extent.cols;
    LimitedExecutor executor(
        parallel_executor,
        file_->begin_writes(write_threads(layout_, spec_, rect.extent(), parallel_executor.concurrency())));
    if (!stored_.is_pixels()) {
      for_each_row_piece(rect.rows, in.row_bytes(), executor, [&](std::int64_t first, std::int64_t count) {
        const Rect part{rect.row + first, rect.col, count, rect.cols};
        write_stored(part, in.crop({first, 0, count, rect.cols}));
      });
      return;
    }
    if (whole_rows && in.contiguous()) {
      for_each_byte_piece(rect.rows * in.row_bytes(), executor, [&](std::int64_t first, std::int64_t count) {
        write_bytes(offset_of(rect.row, 0) + first, in.data + first, count);
      });
      return;
    }
    for_each_row_piece(rect.rows, in.row_bytes(), executor, [&](std::int64_t first, std::int64_t count) {
      const ConstPixelView rows = in.crop({first, 0, count, rect.cols});
      if (whole_rows && 2 * in.row_bytes() <= kBounceBytes) {
        write_short_rows(rect.row + first, rows);
      } else {
        write_rows(rect.row + first, rect.col, rows);
      }
    });
  }

  ResumableWriter* resumable() noexcept override { return file_->checkpoint() ? this : nullptr; }

  void finish() override {
    written_.check_coverage(spec_.extent, file_->target().native());
    if (!owns_file_) return;
    file_->write_at(0, header_);
    if (file_->checkpoint())
      file_->resize(offset_of(spec_.extent.rows, 0));  // other processes may have
                                                       // extended it
    file_->commit();
  }

 private:
  std::int64_t offset_of(std::int64_t row, std::int64_t col) const noexcept {
    return offset_ + stored_.bytes_of((row * spec_.extent.cols + col) * spec_.channels / stored_.parts());
  }

  WriterState take_state() override { return {}; }
  void restore(std::int64_t pixels, const WriterState&, const StateFiles&, Executor&) override {
    written_.add_pixels(pixels);
  }
  void mark_rest_written() override { written_.add_pixels(spec_.extent.area()); }

  void write_bytes(std::int64_t offset, const std::byte* data, std::int64_t bytes) {
    file_->write_pixels_at(offset, {data, static_cast<std::size_t>(bytes)});
  }

  void write_rows(std::int64_t first_row, std::int64_t col, const ConstPixelView& in) {
    for (std::int64_t row = 0; row < in.extent.rows; ++row) {
      write_bytes(offset_of(first_row + row, col), in.row_data(row), in.row_bytes());
    }
  }

  void write_short_rows(std::int64_t first_row, const ConstPixelView& in) {
    const std::int64_t rows_at_once = kBounceBytes / in.row_bytes();
    const auto bounce = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(kBounceBytes));
    for (std::int64_t row = 0; row < in.extent.rows; row += rows_at_once) {
      const Extent extent{std::min(rows_at_once, in.extent.rows - row), in.extent.cols};
      copy_pixels(in.crop({row, 0, extent.rows, extent.cols}),
                  {bounce.get(), extent, in.channels, in.type, in.row_bytes()});
      write_bytes(offset_of(first_row + row, 0), bounce.get(), extent.rows * in.row_bytes());
    }
  }

  /// Converts and writes as many whole rows as fit in the buffer, or parts of one row.
  void write_stored(const Rect& rect, const ConstPixelView& in) {
    const auto bounce = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(kBounceBytes));
    const std::int64_t pixel_bytes = stored_.bytes_of(in.channels / stored_.parts());
    const std::int64_t max_pixels = std::max<std::int64_t>(1, kBounceBytes / pixel_bytes);
    const bool whole_rows = rect.cols == spec_.extent.cols && rect.cols <= max_pixels;
    const Extent step{whole_rows ? max_pixels / rect.cols : 1, std::min(rect.cols, max_pixels)};
    for (std::int64_t row = 0; row < rect.rows; row += step.rows) {
      for (std::int64_t col = 0; col < rect.cols; col += step.cols) {
        const Rect part = Rect{row, col, step.rows, step.cols}.intersect(Rect::whole(rect.extent()));
        const std::int64_t row_bytes = part.cols * pixel_bytes;
        for (std::int64_t i = 0; i < part.rows; ++i)
          store_elements(stored_, in.row_data(row + i) + col * in.pixel_bytes(), stored_.parts(),
                         part.cols * in.channels / stored_.parts(), bounce.get() + i * row_bytes);
        write_bytes(offset_of(rect.row + row, rect.col + col), bounce.get(), part.rows * row_bytes);
      }
    }
  }

  std::shared_ptr<OutputFile> file_;
  CoverageTracker written_;
  ImageSpec spec_;
  std::int64_t offset_;
  std::vector<std::byte> header_;
  bool owns_file_ = false;
  SinkLayout layout_;
  SampleType stored_;
};

}  // namespace

std::unique_ptr<Writer> make_flat_writer(std::unique_ptr<OutputFile> file, const ImageSpec& spec,
                                         std::vector<std::byte> header, SinkLayout layout, bool is_image) {
  check_flat_image({spec, static_cast<std::int64_t>(header.size()), false, {}, is_image}, file->target());
  auto writer = std::make_unique<FlatWriter>(std::move(file), spec, std::ssize(header), std::move(layout));
  writer->set_header(std::move(header));
  return writer;
}

std::unique_ptr<Writer> make_flat_part_writer(std::shared_ptr<OutputFile> file, const ImageSpec& spec,
                                              std::int64_t offset, SinkLayout layout) {
  return std::make_unique<FlatWriter>(std::move(file), spec, offset, std::move(layout));
}

SinkLayout flat_layout(std::string description, const CreateOptions& options) {
  SinkLayout layout;
  layout.warnings = options.warnings;
  const std::string format = description.substr(0, description.find_first_of(" ,"));
  if (std::string warning = dropped_metadata_warning(options.metadata, 0, format); !warning.empty())
    layout.warnings.push_back(std::move(warning));
  layout.description = std::move(description);
  if (options.stored && !options.stored->is_pixels()) {
    layout.stored = options.stored;
    layout.description += ", " + name_of(*options.stored);
  }
  return layout;
}

}  // namespace sepconv
