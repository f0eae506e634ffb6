#include "io/memory_image.hpp"

#include "core/view_check.hpp"
#include "io/flat/row_pieces.hpp"

namespace sepconv {
namespace {

/// Copies groups of rows in parallel; a single thread rarely reaches the memory bandwidth.
void copy_on(Executor& executor, const ConstPixelView& from, const PixelView& to) {
  for_each_row_piece(from.extent.rows, from.row_bytes(), executor,
                     [&](std::int64_t first, std::int64_t count) {
                       const Rect rows{first, 0, count, from.extent.cols};
                       copy_pixels(from.crop(rows), to.crop(rows));
                     });
}

template <class Byte>
ImageSpec spec_of(const BasicPixelView<Byte>& image) {
  return {image.extent, image.channels, image.type};
}

class MemoryReader final : public Reader {
 public:
  MemoryReader(const ConstPixelView& image, HostMemory memory)
      : image_(image), memory_(memory), spec_(spec_of(image)) {
    layout_.description = layout_.codec = kInMemory;
  }
  const ImageSpec& spec() const noexcept override { return spec_; }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return metadata_; }
  std::int64_t buffer_bytes(int) const override { return 0; }
  std::int64_t stored_bytes() const noexcept override { return 0; }
  void read(const Rect& rect, const PixelView& out, Executor& executor) override {
    copy_on(executor, image_.crop(rect), out);
  }
  ConstPixelView page_locked(const Rect& rect) const override {
    return memory_ == HostMemory::page_locked ? image_.crop(rect) : ConstPixelView{};
  }

 private:
  ConstPixelView image_;
  HostMemory memory_;
  ImageSpec spec_;
  SourceLayout layout_;
  Metadata metadata_;
};

class MemoryWriter final : public Writer {
 public:
  MemoryWriter(const PixelView& image, HostMemory memory)
      : image_(image), memory_(memory), spec_(spec_of(image)) {
    layout_.description = layout_.codec = kInMemory;
  }
  const ImageSpec& spec() const noexcept override { return spec_; }
  const SinkLayout& layout() const noexcept override { return layout_; }
  std::int64_t buffer_bytes(int) const override { return 0; }
  void write(const Rect& rect, const ConstPixelView& in, Executor& executor) override {
    const PixelView to = image_.crop(rect);
    if (to.data != in.data) copy_on(executor, in, to);
  }
  PixelView page_locked(const Rect& rect) const override {
    return memory_ == HostMemory::page_locked ? image_.crop(rect) : PixelView{};
  }
  void finish() override {}

 private:
  PixelView image_;
  HostMemory memory_;
  ImageSpec spec_;
  SinkLayout layout_;
};

}  // namespace

std::unique_ptr<Reader> make_memory_reader(const ConstPixelView& image, HostMemory memory) {
  check_view("the image of a memory reader", image);
  return std::make_unique<MemoryReader>(image, memory);
}

std::unique_ptr<Writer> make_memory_writer(const PixelView& image, HostMemory memory) {
  check_view("the image of a memory writer", image);
  return std::make_unique<MemoryWriter>(image, memory);
}

}  // namespace sepconv
