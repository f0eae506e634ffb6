// A source and a sink of any size and layout, without pixels, for planning.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "io/reader.hpp"
#include "io/writer.hpp"
#include "pipeline/job/missing_pixels.hpp"

namespace sepconv::test {

class NullReader final : public Reader {
 public:
  NullReader(ImageSpec spec, SourceLayout layout) : spec_(spec), layout_(std::move(layout)) {}
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

class NullWriter final : public Writer {
 public:
  NullWriter(ImageSpec spec, SinkLayout layout) : spec_(spec), layout_(std::move(layout)) {}
  const ImageSpec& spec() const noexcept override { return spec_; }
  const SinkLayout& layout() const noexcept override { return layout_; }
  void write(const Rect&, const ConstPixelView&, Executor&) override {}
  void finish() override {}
  std::int64_t buffer_bytes(int concurrency) const override { return concurrency << 20; }

 private:
  ImageSpec spec_;
  SinkLayout layout_;
};

inline Plan plan_for(const ImageSpec& spec, Extent source_block, Extent sink_block,
                     const std::vector<std::string>& stages, const PlanOptions& options) {
  const Chain chain = Chain::parse(stages);
  const NullReader source(spec, {.block = source_block});
  const NullWriter sink(chain.result_spec(spec), {.block = sink_block});
  return sepconv::plan(source, sink, chain, options);
}

}  // namespace sepconv::test
