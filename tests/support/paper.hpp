// A source and a sink of any size and layout, without pixels: planning needs none.
#pragma once

#include <utility>

#include "sepconv/io/reader.hpp"
#include "sepconv/io/writer.hpp"

namespace sepconv::test {

class PaperReader final : public Reader {
 public:
  PaperReader(ImageSpec spec, SourceLayout layout) : spec_(spec), layout_(std::move(layout)) {}
  const ImageSpec& spec() const noexcept override { return spec_; }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return metadata_; }
  void read(const Rect&, const PixelView&, Executor&) override {}
  std::int64_t buffer_bytes(int concurrency) const override {
    return layout_.streams ? concurrency << 20 : spec_.bytes();
  }

 private:
  ImageSpec spec_;
  SourceLayout layout_;
  Metadata metadata_;
};

class PaperWriter final : public Writer {
 public:
  PaperWriter(ImageSpec spec, SinkLayout layout) : spec_(spec), layout_(std::move(layout)) {}
  const ImageSpec& spec() const noexcept override { return spec_; }
  const SinkLayout& layout() const noexcept override { return layout_; }
  void write(const Rect&, const ConstPixelView&, Executor&) override {}
  void finish() override {}
  std::int64_t buffer_bytes(int concurrency) const override { return concurrency << 20; }

 private:
  ImageSpec spec_;
  SinkLayout layout_;
};

}  // namespace sepconv::test
