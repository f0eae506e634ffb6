// Reads arrays whose elements must be converted to pixels or are stored in another order, such as Fortran
// order or with other axes between rows and columns.
#include <algorithm>
#include <bit>
#include <memory>

#include "io/flat/flat_image.hpp"
#include "io/flat/row_pieces.hpp"
#include "io/sample_conversion.hpp"

namespace sepconv {
namespace {

/// Maximum bytes of a read along a column. It touches as many rows of memory; these and some neighbouring
/// columns must fit in the cache.
constexpr std::int64_t kColumnBytes = std::int64_t{16} << 10;

class ElementReader final : public Reader {
 public:
  ElementReader(InputFile file, FlatImage image)
      : file_(std::move(file)),
        image_(std::move(image)),
        type_(image_.element()),
        steps_(image_.steps()),
        swap_(image_.big_endian != (std::endian::native == std::endian::big)),
        layout_(flat_source_layout(image_, file_.path())) {
    if (is_column_major())
      layout_.block = {std::clamp<std::int64_t>(column_elements(), 1, spec().extent.rows), 1};
  }

  const ImageSpec& spec() const noexcept override { return image_.spec; }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return metadata_; }
  std::int64_t changed_ns() const noexcept override { return file_.changed_ns(); }
  std::int64_t buffer_bytes(int concurrency) const override { return concurrency * kBounceBytes; }
  std::int64_t stored_bytes() const noexcept override {
    return type_.bytes_of(spec().extent.area() * image_.channels());
  }

  void read(const Rect& rect, const PixelView& out, Executor& executor) override {
    const Lines lines = lines_of(rect);
    const std::int64_t pieces = ceil_div(lines.length, lines.pixels_per_read);
    const std::int64_t groups = ceil_div(lines.count, lines.lines_per_read);
    const std::int64_t planes = lines.all_channels ? 1 : image_.channels();
    const std::int64_t groups_per_task = std::max<std::int64_t>(1, kPieceBytes / kBounceBytes);
    executor.for_each(planes * pieces * ceil_div(groups, groups_per_task), [&](std::int64_t task, int) {
      const auto bounce = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(kBounceBytes));
      const std::int64_t plane = task % planes;
      const std::int64_t piece = task / planes % pieces;
      const std::int64_t group = task / planes / pieces * groups_per_task;
      for (std::int64_t i = group; i < std::min(group + groups_per_task, groups); ++i)
        read_group(rect, out, lines,
                   Lines::Part{piece * lines.pixels_per_read, i * lines.lines_per_read, plane}, bounce.get());
    });
  }

 private:
  /// A rectangle as lines of pixels along the axis with the smaller stride.
  struct Lines {
    struct Part {
      std::int64_t first, line, plane;  ///< first pixel in the line, line, channel
    };
    std::int64_t length, count;    ///< pixels per line, number of lines
    std::int64_t step, next_line;  ///< strides in elements
    bool all_channels;             ///< all channels of a pixel are stored before the next pixel
    std::int64_t pixels_per_read;  ///< pixels of a line per read
    std::int64_t lines_per_read;   ///< lines that fit in the buffer
    std::int64_t pitch;            ///< stride of lines in the buffer; equal to next_line if the lines are
                                   ///< read at once
  };

  bool is_column_major() const noexcept { return steps_.row < steps_.col && spec().extent.rows > 1; }
  std::int64_t column_elements() const noexcept { return kColumnBytes / type_.bytes_of(1) / steps_.row; }

  Lines lines_of(const Rect& rect) const {
    const bool down = is_column_major();
    Lines lines{};
    lines.length = down ? rect.rows : rect.cols;
    lines.count = down ? rect.cols : rect.rows;
    lines.step = down ? steps_.row : steps_.col;
    lines.next_line = down ? steps_.col : steps_.row;
    const std::int64_t capacity = kBounceBytes / type_.bytes_of(1);
    const std::int64_t channels = image_.channels();
    const std::int64_t pixel_span = (channels - 1) * steps_.channel + 1;
    lines.all_channels = pixel_span <= std::min(lines.step, capacity) || channels == 1;
    const std::int64_t last = lines.all_channels ? pixel_span : 1;
    const std::int64_t max_elements =
        std::max<std::int64_t>(last, down ? kColumnBytes / type_.bytes_of(1) : capacity);
    lines.pixels_per_read = std::clamp<std::int64_t>((max_elements - last) / lines.step + 1, 1, lines.length);
    const std::int64_t span = (lines.pixels_per_read - 1) * lines.step + last;
    // Lines that are close together are read in one piece with the gaps between them.
    lines.pitch = lines.next_line <= 2 * span ? lines.next_line : span;
    lines.lines_per_read = std::clamp<std::int64_t>((capacity - span) / lines.pitch + 1, 1, lines.count);
    return lines;
  }

  void read_group(const Rect& rect, const PixelView& out, const Lines& lines, const Lines::Part& part,
                  std::byte* bounce) const {
    const std::int64_t count = std::min(lines.pixels_per_read, lines.length - part.first);
    const std::int64_t group = std::min(lines.lines_per_read, lines.count - part.line);
    const std::int64_t channels = lines.all_channels ? image_.channels() : 1;
    const std::int64_t span = (count - 1) * lines.step + (channels - 1) * steps_.channel + 1;
    const std::int64_t first = rect.row * steps_.row + rect.col * steps_.col + part.first * lines.step +
                               part.line * lines.next_line + part.plane * steps_.channel;
    if (lines.pitch == lines.next_line) {
      read_elements(first, bounce, (group - 1) * lines.pitch + span);
    } else {
      for (std::int64_t line = 0; line < group; ++line)
        read_elements(first + line * lines.next_line, bounce + type_.bytes_of(line * lines.pitch), span);
    }
    for (std::int64_t line = 0; line < group; ++line)
      convert_line(rect, out, {part.first, part.line + line, part.plane}, count, lines,
                   bounce + type_.bytes_of(line * lines.pitch));
  }

  void read_elements(std::int64_t first, std::byte* to, std::int64_t count) const {
    const std::span bytes(to, static_cast<std::size_t>(type_.bytes_of(count)));
    file_.read_at(image_.offset + type_.bytes_of(first), bytes);
    if (swap_) swap_elements(type_, bytes);
  }

  /// Converts `count` pixels of a line, starting at `part`, into `out`.
  void convert_line(const Rect& rect, const PixelView& out, const Lines::Part& part, std::int64_t count,
                    const Lines& lines, const std::byte* from) const {
    const bool down = is_column_major();
    const std::int64_t row = down ? part.first : part.line;
    const std::int64_t col = down ? part.line : part.first;
    const std::int64_t parts = type_.parts();
    const std::int64_t next = down ? out.pitch_bytes / size_of(out.type) : out.channels;
    std::byte* const to = out.row_data(row) + col * out.pixel_bytes();
    const auto load = [&](std::int64_t channel, std::int64_t step, std::int64_t elements,
                          std::int64_t to_step) {
      const std::int64_t offset = lines.all_channels ? channel * steps_.channel : 0;
      const std::int64_t converted = load_elements(type_, {from + type_.bytes_of(offset), step}, elements,
                                                   to + channel * parts * size_of(out.type), to_step);
      if (converted == elements) return;
      const std::int64_t pixel = elements == count ? converted : converted / image_.channels();
      throw_unrepresentable(file_.path(), type_, rect.row + row + (down ? pixel : 0),
                            rect.col + col + (down ? 0 : pixel),
                            elements == count ? channel : converted % image_.channels());
    };
    if (!down && steps_.channel == 1 && lines.step == image_.channels())
      return load(0, 1, count * image_.channels(), parts);  // contiguous like the pixels
    for (std::int64_t i = 0; i < (lines.all_channels ? image_.channels() : 1); ++i)
      load(part.plane + i, lines.step, count, next);
  }

  InputFile file_;
  FlatImage image_;
  SampleType type_;
  Strides steps_;
  bool swap_;
  SourceLayout layout_;
  Metadata metadata_;
};

}  // namespace

std::unique_ptr<Reader> make_element_reader(InputFile file, FlatImage image) {
  return std::make_unique<ElementReader>(std::move(file), std::move(image));
}

}  // namespace sepconv
