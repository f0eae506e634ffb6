// What the readers of TIFF have in common. Which one reads a file is decided by how its blocks are stored.
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
  /// blocks: what is damaged shows before anybody makes room for pixels and begins a result. Where there are
  /// too many for that it is the first and the last.
  template <class LookUp>
  void check_blocks(const LookUp& look_up) const {
    const Extent grid = directory().grid();
    const std::int64_t last = directory().block_count() - 1;
    for (std::int64_t index = 0; index <= last; index += file().has_short_tables() || last == 0 ? 1 : last)
      look_up(index / grid.area(), index % grid.area() / grid.cols, index % grid.cols);
  }

  /// Throws IoError for an element without a number, if there is one in this part of the image.
  void check_number(const std::optional<Place>& without, const Rect& part) const {
    if (without)
      throw_no_number(file_->bytes().path(), directory().block.type, part.row + without->row,
                      part.col + without->col, without->channel);
  }

  TiffFile& file() const noexcept { return *file_; }
  std::int64_t channel_of(std::int64_t plane) const noexcept {
    return directory().planar ? plane : kAllChannels;
  }

  /// What elements are of blocks that were never written: what is missing, or 0.
  double unwritten() const noexcept { return unwritten_; }

 private:
  std::unique_ptr<TiffFile> file_;
  SourceLayout layout_;
  std::int64_t stored_bytes_;
  double unwritten_;
};

/// Blocks as they are in the file: read by offset, only the bytes that are asked for.
std::unique_ptr<TiffReader> make_uncompressed_reader(std::unique_ptr<TiffFile> file);
/// Encoded blocks: decoded one a task; one strip of everything is decoded once and held.
std::unique_ptr<TiffReader> make_compressed_reader(std::unique_ptr<TiffFile> file);
/// Whichever of them the file needs: see open_tiff.
std::unique_ptr<TiffReader> make_tiff_reader(std::unique_ptr<TiffFile> file);

}  // namespace sepconv
