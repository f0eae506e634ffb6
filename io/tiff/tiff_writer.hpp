// Base class of the TIFF writers.
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

  /// The kind of page that it writes.
  enum class Role : std::uint8_t {
    only,
    one_of_several,
    behind,  ///< a level in a page after its image's
    inside,  ///< a level in a sub-directory of its image's
    mask,    ///< of the previous page
  };
  /// Encoders that another writer may share; null if this one does not encode.
  virtual std::shared_ptr<EncoderPool> encoder_pool() const { return nullptr; }
  void set_role(Role role) noexcept { role_ = role; }
  void add_level(std::unique_ptr<TiffWriter> level) { levels_.push_back(std::move(level)); }
  /// For a page whose directory has a mask.
  void add_mask(std::unique_ptr<TiffWriter> mask) { mask_ = std::move(mask); }
  /// Null if the page has no mask.
  TiffWriter* mask() const noexcept { return mask_.get(); }
  /// Appends to the layout's description.
  void describe_also(std::string_view text) { layout_.description += text; }
  void make_levels_nearest() { layout_.nearest_levels = true; }

 protected:
  explicit TiffWriter(std::unique_ptr<TiffSink> sink);

  /// `in` has the pixels as the file stores them; for a page that splits_alpha_per_block(), with alpha.
  virtual void write_pixels(const Rect& rect, const ConstPixelView& in, Executor& executor) = 0;
  /// Whether write_pixels() itself separates the mask and alpha that is not stored.
  virtual bool splits_alpha_per_block() const noexcept { return false; }

  /// Throws InvalidArgument for a part that is outside of the image or not aligned to its blocks.
  void check_rect(const Rect& rect) const;
  void add_written(const Rect& rect);

  /// Throws IoError if pixels are missing, then does what TiffSink::finish() does. A level waits for its
  /// image.
  void finish_sink();

  TiffSink& sink() const noexcept { return *sink_; }
  static TiffSink& sink_of(const TiffWriter& page) noexcept { return *page.sink_; }
  /// Memory for separating pixels and mask.
  std::int64_t alpha_split_bytes(int concurrency) const;
  const TiffDirectory& directory() const noexcept { return sink_->directory(); }
  std::int64_t channel_of(std::int64_t plane) const noexcept {
    return directory().planar ? plane : kAllChannels;
  }

 private:
  WriterState take_state() final;
  void restore(std::int64_t pixels, const WriterState& state, const StateFiles& files, Executor&) final;
  void mark_rest_written() final;
  std::vector<std::uint64_t> finish_levels(Role role);
  void copy_deferred();
  void write_without_alpha(const Rect& rect, const ConstPixelView& in, Executor& executor);
  std::int64_t split_row_bytes() const noexcept;

  std::unique_ptr<TiffSink> sink_;
  ImageSpec spec_;
  SinkLayout layout_;
  CoverageTracker written_;
  Role role_ = Role::only;
  std::uint64_t offset_ = 0;  // of the directory, after it is finished as a sub-directory
  std::vector<std::unique_ptr<TiffWriter>> levels_;
  std::unique_ptr<TiffWriter> mask_;
};

/// Creates the writer that the directory needs, with its mask and levels.
std::unique_ptr<Writer> make_tiff_writer(std::shared_ptr<TiffOutput> output, const TiffDirectory& directory,
                                         const CreateOptions& options, TiffWriter::Role role,
                                         std::optional<TiffPagePosition> position = {});
/// Every byte's offset is known in advance: any order, directly from the caller's rows if possible.
std::unique_ptr<TiffWriter> make_uncompressed_writer(std::unique_ptr<TiffSink> sink);
/// Blocks are encoded one per task and appended in the order of writing. `shared_pool`: encoders of a writer
/// with blocks of this format; null: not shared.
std::unique_ptr<TiffWriter> make_compressed_writer(std::unique_ptr<TiffSink> sink,
                                                   std::shared_ptr<EncoderPool> shared_pool = nullptr);

}  // namespace sepconv
