// What the writers of TIFF have in common.
#pragma once

#include <memory>
#include <optional>

#include "io/coverage_tracker.hpp"
#include "io/resumable.hpp"
#include "io/tiff/block_pixels.hpp"
#include "io/tiff/tiff_page_writer.hpp"
#include "io/writer.hpp"

namespace sepconv {

struct EncoderPool;

class TiffWriter : public Writer, private ResumableWriter {
 public:
  const ImageSpec& spec() const noexcept final { return spec_; }
  const SinkLayout& layout() const noexcept final { return layout_; }

  /// Checks the request and calls write_pixels.
  void write(const Rect& rect, const ConstPixelView& in, Executor& executor) final;
  ResumableWriter* resumable() noexcept final { return sink_->is_resumable() ? this : nullptr; }
  std::vector<Writer*> levels() final;

  /// Which page of its file it makes.
  enum class Role : std::uint8_t {
    only,
    one_of_several,
    behind,  ///< a level in a page behind its image's
    inside,  ///< a level in a directory inside of its image's
    mask,    ///< of the page before
  };
  /// What another writer may encode with in turns; null: this one encodes nothing.
  virtual std::shared_ptr<EncoderPool> encoder_pool() const { return nullptr; }
  void set_role(Role role) noexcept { role_ = role; }
  void add_level(std::unique_ptr<TiffWriter> level) { levels_.push_back(std::move(level)); }
  /// For a page whose directory has one.
  void add_mask(std::unique_ptr<TiffWriter> mask) { mask_ = std::move(mask); }
  /// Null where there is none.
  TiffWriter* mask() const noexcept { return mask_.get(); }
  /// Adds this to the layout's description.
  void describe_also(std::string_view text) { layout_.description += text; }
  void make_levels_nearest() { layout_.nearest_levels = true; }

 protected:
  explicit TiffWriter(std::unique_ptr<TiffSink> sink);

  /// `in` has what the file holds of each pixel; of a page that splits_blocks(), all of it.
  virtual void write_pixels(const Rect& rect, const ConstPixelView& in, Executor& executor) = 0;
  /// Whether write_pixels() takes what the mask is made of, and what the file does not hold.
  virtual bool splits_blocks() const noexcept { return false; }

  /// Throws InvalidArgument for a part that is outside of the image or off its blocks.
  void check_rect(const Rect& rect) const;
  void add_written(const Rect& rect);

  /// Throws IoError for a file with holes, then what TiffSink::finish() does. A level waits for its image.
  void finish_sink();

  TiffSink& sink() const noexcept { return *sink_; }
  static TiffSink& sink_of(const TiffWriter& page) noexcept { return *page.sink_; }
  /// What is held for pixels on their way to the image and to its mask.
  std::int64_t split_bytes(int concurrency) const;
  const TiffDirectory& directory() const noexcept { return sink_->directory(); }
  std::int64_t channel_of(std::int64_t plane) const noexcept {
    return directory().planar ? plane : kAllChannels;
  }

 private:
  WriterState take_state() final;
  void restore(std::int64_t pixels, const WriterState& state, const StateFiles& files, Executor&) final;
  void leave_rest() final;
  std::vector<std::uint64_t> finish_levels(Role role);
  void settle();
  void write_split(const Rect& rect, const ConstPixelView& in, Executor& executor);
  std::int64_t split_row_bytes() const noexcept;

  std::unique_ptr<TiffSink> sink_;
  ImageSpec spec_;
  SinkLayout layout_;
  CoverageTracker written_;
  Role role_ = Role::only;
  std::uint64_t offset_ = 0;  // of the directory, once it is finished and inside of another
  std::vector<std::unique_ptr<TiffWriter>> levels_;
  std::unique_ptr<TiffWriter> mask_;
};

/// Whichever of these the directory needs, with those of its levels.
std::unique_ptr<Writer> make_tiff_writer(std::shared_ptr<TiffOutput> output, const TiffDirectory& directory,
                                         const CreateOptions& options, TiffWriter::Role role,
                                         std::optional<TiffPlace> place = {});
/// Every byte's place is known beforehand: any order, straight from the caller's rows where they fit.
std::unique_ptr<TiffWriter> make_uncompressed_writer(std::unique_ptr<TiffSink> sink);
/// Blocks are encoded one a task and follow each other as they come. `image`: of a writer for blocks of this
/// format that takes turns with this one; null: there is none.
std::unique_ptr<TiffWriter> make_compressed_writer(std::unique_ptr<TiffSink> sink,
                                                   std::shared_ptr<EncoderPool> image = nullptr);

}  // namespace sepconv
