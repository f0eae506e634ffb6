// What the writers of TIFF have in common.
#pragma once

#include <memory>
#include <optional>

#include "sepconv/io/tiff/block_pixels.hpp"
#include "sepconv/io/tiff/tiff_sink.hpp"
#include "sepconv/io/writer.hpp"
#include "sepconv/io/written_area.hpp"

namespace sepconv {

class TiffWriter : public Writer {
 public:
  const ImageSpec& spec() const noexcept final { return directory().spec; }
  const SinkLayout& layout() const noexcept final { return layout_; }

  /// Checks the request and calls write_pixels.
  void write(const Rect& rect, const ConstPixelView& in, Executor& executor) final;

 protected:
  explicit TiffWriter(std::unique_ptr<TiffSink> sink);

  virtual void write_pixels(const Rect& rect, const ConstPixelView& in, Executor& executor) = 0;

  /// Throws IoError for a file with holes, then what TiffSink::finish() does.
  void finish_sink();

  TiffSink& sink() const noexcept { return *sink_; }
  const TiffDirectory& directory() const noexcept { return sink_->directory(); }
  std::int64_t channel_of(std::int64_t plane) const noexcept {
    return directory().planar ? plane : kAllChannels;
  }

 private:
  std::unique_ptr<TiffSink> sink_;
  SinkLayout layout_;
  WrittenArea written_;
};

/// Whichever of these the directory needs.
std::unique_ptr<Writer> make_tiff_writer(std::shared_ptr<TiffOutput> output, const TiffDirectory& directory,
                                         const CreateOptions& options, bool one_of_several,
                                         std::optional<TiffPlace> place = {});
/// Every byte's place is known beforehand: any order, straight from the caller's rows where they fit.
std::unique_ptr<Writer> make_uncompressed_writer(std::unique_ptr<TiffSink> sink);
/// Blocks are encoded one a task and follow each other as they come.
std::unique_ptr<Writer> make_compressed_writer(std::unique_ptr<TiffSink> sink);

}  // namespace sepconv
