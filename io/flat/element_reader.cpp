// Rectangles of arrays whose elements become pixels when they are read, or lie in another order than an
// image's: in Fortran order, or with other axes between rows and columns.
#include <algorithm>
#include <bit>
#include <memory>

#include "io/flat/flat_image.hpp"
#include "io/flat/row_pieces.hpp"
#include "io/sample_conversion.hpp"

namespace sepconv {
namespace {

/// For a run down a column, which is spread over as many rows of memory: this many of these, and some runs
/// next to it, stay in the cache.
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
    if (runs_down()) layout_.block = {std::clamp<std::int64_t>(column_elements(), 1, spec().extent.rows), 1};
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
    const std::int64_t runs = ceil_div(lines.length, lines.run);
    const std::int64_t groups = ceil_div(lines.count, lines.together);
    const std::int64_t planes = lines.all_channels ? 1 : image_.channels();
    const std::int64_t per_task = std::max<std::int64_t>(1, kPieceBytes / kBounceBytes);
    executor.for_each(planes * runs * ceil_div(groups, per_task), [&](std::int64_t task, int) {
      const auto bounce = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(kBounceBytes));
      const std::int64_t plane = task % planes;
      const std::int64_t run = task / planes % runs;
      const std::int64_t group = task / planes / runs * per_task;
      for (std::int64_t i = group; i < std::min(group + per_task, groups); ++i)
        read_group(rect, out, lines, Lines::Part{run * lines.run, i * lines.together, plane}, bounce.get());
    });
  }

 private:
  /// A rectangle as lines of pixels along the axis with the smaller step.
  struct Lines {
    struct Part {
      std::int64_t first, line, plane;  ///< pixel of a line, line, channel
    };
    std::int64_t length, count;    ///< pixels of a line, lines
    std::int64_t step, next_line;  ///< elements
    bool all_channels;             ///< lie between a pixel and the next
    std::int64_t run;              ///< pixels that are read at once
    std::int64_t together;         ///< lines that fit next to each other
    std::int64_t pitch;            ///< elements from line to line where they are read; next_line if as one
  };

  bool runs_down() const noexcept { return steps_.row < steps_.col && spec().extent.rows > 1; }
  std::int64_t column_elements() const noexcept { return kColumnBytes / type_.bytes_of(1) / steps_.row; }

  Lines lines_of(const Rect& rect) const {
    const bool down = runs_down();
    Lines lines{};
    lines.length = down ? rect.rows : rect.cols;
    lines.count = down ? rect.cols : rect.rows;
    lines.step = down ? steps_.row : steps_.col;
    lines.next_line = down ? steps_.col : steps_.row;
    const std::int64_t capacity = kBounceBytes / type_.bytes_of(1);
    const std::int64_t channels = image_.channels();
    const std::int64_t of_pixel = (channels - 1) * steps_.channel + 1;
    lines.all_channels = of_pixel <= std::min(lines.step, capacity) || channels == 1;
    const std::int64_t last = lines.all_channels ? of_pixel : 1;
    const std::int64_t most =
        std::max<std::int64_t>(last, down ? kColumnBytes / type_.bytes_of(1) : capacity);
    lines.run = std::clamp<std::int64_t>((most - last) / lines.step + 1, 1, lines.length);
    const std::int64_t span = (lines.run - 1) * lines.step + last;
    // Lines that lie close to each other are read with what is between them.
    lines.pitch = lines.next_line <= 2 * span ? lines.next_line : span;
    lines.together = std::clamp<std::int64_t>((capacity - span) / lines.pitch + 1, 1, lines.count);
    return lines;
  }

  void read_group(const Rect& rect, const PixelView& out, const Lines& lines, const Lines::Part& part,
                  std::byte* bounce) const {
    const std::int64_t count = std::min(lines.run, lines.length - part.first);
    const std::int64_t group = std::min(lines.together, lines.count - part.line);
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
      spread(rect, out, {part.first, part.line + line, part.plane}, count, lines,
             bounce + type_.bytes_of(line * lines.pitch));
  }

  void read_elements(std::int64_t first, std::byte* to, std::int64_t count) const {
    const std::span bytes(to, static_cast<std::size_t>(type_.bytes_of(count)));
    file_.read_at(image_.offset + type_.bytes_of(first), bytes);
    if (swap_) swap_elements(type_, bytes);
  }

  /// `count` pixels of a line, from where part says, to where they belong.
  void spread(const Rect& rect, const PixelView& out, const Lines::Part& part, std::int64_t count,
              const Lines& lines, const std::byte* from) const {
    const bool down = runs_down();
    const std::int64_t row = down ? part.first : part.line;
    const std::int64_t col = down ? part.line : part.first;
    const std::int64_t parts = type_.parts();
    const std::int64_t next = down ? out.pitch_bytes / size_of(out.type) : out.channels;
    std::byte* const to = out.row_data(row) + col * out.pixel_bytes();
    const auto load = [&](std::int64_t channel, std::int64_t step, std::int64_t elements,
                          std::int64_t to_step) {
      const std::int64_t at = lines.all_channels ? channel * steps_.channel : 0;
      const std::int64_t done = load_elements(type_, {from + type_.bytes_of(at), step}, elements,
                                              to + channel * parts * size_of(out.type), to_step);
      if (done == elements) return;
      const std::int64_t pixel = elements == count ? done : done / image_.channels();
      throw_no_number(file_.path(), type_, rect.row + row + (down ? pixel : 0),
                      rect.col + col + (down ? 0 : pixel),
                      elements == count ? channel : done % image_.channels());
    };
    if (!down && steps_.channel == 1 && lines.step == image_.channels())
      return load(0, 1, count * image_.channels(), parts);  // as dense as the pixels
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
