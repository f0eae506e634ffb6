#include "sepconv/io/flat/flat_image.hpp"
#include "sepconv/io/flat/row_pieces.hpp"
#include "sepconv/io/one_at_a_time.hpp"
#include "sepconv/io/written_area.hpp"

namespace sepconv {
namespace {

class FlatWriter final : public Writer {
 public:
  FlatWriter(std::unique_ptr<OutputFile> file, const ImageSpec& spec, std::vector<std::byte> header,
             SinkLayout layout)
      : file_(std::move(file)), spec_(spec), header_(std::move(header)), layout_(std::move(layout)) {
    file_->expect(offset_of(spec_.extent.rows, 0));
    file_->add_warnings(layout_.warnings);
  }

  const ImageSpec& spec() const noexcept override { return spec_; }
  const SinkLayout& layout() const noexcept override { return layout_; }
  std::int64_t buffer_bytes(int) const override { return kBounceBytes; }

  void write(const Rect& rect, const ConstPixelView& in, Executor& threads) override {
    written_.add(rect);
    OneAtATime executor(threads);
    const bool whole_rows = rect.cols == spec_.extent.cols;
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

  void finish() override {
    written_.check_all_of(spec_.extent, file_->target().native());
    file_->write_at(0, header_);
    file_->commit();
  }

 private:
  std::int64_t offset_of(std::int64_t row, std::int64_t col) const noexcept {
    return static_cast<std::int64_t>(header_.size()) + row * spec_.row_bytes() + col * spec_.pixel_bytes();
  }

  void write_bytes(std::int64_t offset, const std::byte* data, std::int64_t bytes) {
    file_->write_at(offset, {data, static_cast<std::size_t>(bytes)});
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

  std::unique_ptr<OutputFile> file_;
  WrittenArea written_;
  ImageSpec spec_;
  std::vector<std::byte> header_;
  SinkLayout layout_;
};

}  // namespace

std::unique_ptr<Writer> make_flat_writer(std::unique_ptr<OutputFile> file, const ImageSpec& spec,
                                         std::vector<std::byte> header, SinkLayout layout, bool is_image) {
  check_flat_image({spec, static_cast<std::int64_t>(header.size()), false, {}, is_image}, file->target());
  return std::make_unique<FlatWriter>(std::move(file), spec, std::move(header), std::move(layout));
}

SinkLayout flat_layout(std::string description, const CreateOptions& options) {
  SinkLayout layout;
  layout.warnings = options.warnings;
  const std::string format = description.substr(0, description.find_first_of(" ,"));
  if (std::string lost = not_kept(options.metadata, 0, format); !lost.empty())
    layout.warnings.push_back(std::move(lost));
  layout.description = std::move(description);
  return layout;
}

}  // namespace sepconv
