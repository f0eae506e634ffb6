// Base class of the TIFF readers. The storage of blocks determines the reader.
#pragma once

#include <memory>

#include "io/reader.hpp"
#include "io/sample_conversion.hpp"
#include "io/tiff/block_pixels.hpp"
#include "io/tiff/tiff_file.hpp"

namespace sepconv {

class TiffReader : public Reader {
 public:
  const ImageSpec& spec() const noexcept final { return file_->directory().spec; }
  const SourceLayout& layout() const noexcept final { return layout_; }
  const Metadata& metadata() const noexcept final { return file_->metadata(); }
  std::int64_t stored_bytes() const noexcept final { return stored_bytes_; }
  std::int64_t changed_ns() const noexcept final { return file_->bytes().changed_ns(); }
  const TiffDirectory& directory() const noexcept { return file_->directory(); }

  /// Checks the request and calls read_pixels.
  void read(const Rect& rect, const PixelView& out, Executor& executor) final;

 protected:
  TiffReader(std::unique_ptr<TiffFile> file, bool streams);

  virtual void read_pixels(const Rect& rect, const PixelView& out, Executor& executor) = 0;

  /// Calls `look_up(plane, grid_row, grid_col)`, which throws for a block that cannot be read, for all
  /// blocks, or for the first and the last if there are too many. So damage is reported before memory is
  /// allocated and a result begun.
  template <class LookUp>
  void check_blocks(const LookUp& look_up) const {
    const Extent grid = directory().grid();
    const std::int64_t last = directory().block_count() - 1;
    for (std::int64_t index = 0; index <= last; index += file().has_short_tables() || last == 0 ? 1 : last)
      look_up(index / grid.area(), index % grid.area() / grid.cols, index % grid.cols);
  }

  /// Throws IoError if an element in this part of the image has no number.
  void check_number(const std::optional<ElementPosition>& invalid, const Rect& part) const {
    if (invalid)
      throw_unrepresentable(file_->bytes().path(), directory().block.type, part.row + invalid->row,
                            part.col + invalid->col, invalid->channel);
  }

  TiffFile& file() const noexcept { return *file_; }
  std::int64_t channel_of(std::int64_t plane) const noexcept {
    return directory().planar ? plane : kAllChannels;
  }

  /// Value of elements of unwritten blocks: the nodata value, or 0.
  double unwritten() const noexcept { return unwritten_; }

 private:
  std::unique_ptr<TiffFile> file_;
  SourceLayout layout_;
  std::int64_t stored_bytes_;
  double unwritten_;
};

/// For uncompressed blocks: reads only the requested bytes, by offset.
std::unique_ptr<TiffReader> make_uncompressed_reader(std::unique_ptr<TiffFile> file);
/// For encoded blocks: decodes one block per task; a single strip is decoded once and buffered.
std::unique_ptr<TiffReader> make_compressed_reader(std::unique_ptr<TiffFile> file);
/// Creates the reader that the file needs: see open_tiff.
std::unique_ptr<TiffReader> make_tiff_reader(std::unique_ptr<TiffFile> file);

}  // namespace sepconv
