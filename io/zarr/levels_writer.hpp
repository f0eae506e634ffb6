// Private to this folder.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "io/writer.hpp"

namespace sepconv {

/// Writes an image and its smaller levels, each to an array.
class LevelsWriter final : public Writer {
 public:
  /// `label_bytes`: memory in bytes that finish() needs for label images. finish() calls `on_finish` last.
  LevelsWriter(std::unique_ptr<Writer> image, std::vector<std::unique_ptr<Writer>> smaller,
               std::int64_t label_bytes, std::function<void()> on_finish)
      : image_(std::move(image)),
        smaller_(std::move(smaller)),
        label_bytes_(label_bytes),
        on_finish_(std::move(on_finish)) {}

  const ImageSpec& spec() const noexcept override { return image_->spec(); }
  const SinkLayout& layout() const noexcept override { return image_->layout(); }
  std::int64_t buffer_bytes(int concurrency) const override {
    return image_->buffer_bytes(concurrency) + label_bytes_;
  }
  void write(const Rect& rect, const ConstPixelView& in, Executor& executor) override {
    image_->write(rect, in, executor);
  }
  ResumableWriter* resumable() noexcept override { return image_->resumable(); }
  EncodedWriter* encoded() noexcept override { return image_->encoded(); }
  std::vector<Writer*> levels() override {
    std::vector<Writer*> sinks;
    for (const auto& level : smaller_) sinks.push_back(level.get());
    return sinks;
  }
  void finish() override {
    for (const auto& level : smaller_) level->finish();
    image_->finish();
    if (on_finish_) on_finish_();
  }

 private:
  std::unique_ptr<Writer> image_;
  std::vector<std::unique_ptr<Writer>> smaller_;
  std::int64_t label_bytes_;
  std::function<void()> on_finish_;
};

}  // namespace sepconv
