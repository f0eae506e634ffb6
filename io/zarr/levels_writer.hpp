// Private to this folder.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "io/writer.hpp"

namespace sepconv {

/// An image and its smaller levels, each in an array.
class LevelsWriter final : public Writer {
 public:
  /// `of_labels`: bytes that finish() takes for those.
  LevelsWriter(std::unique_ptr<Writer> image, std::vector<std::unique_ptr<Writer>> smaller,
               std::int64_t of_labels, std::function<void()> then)
      : image_(std::move(image)),
        smaller_(std::move(smaller)),
        of_labels_(of_labels),
        then_(std::move(then)) {}

  const ImageSpec& spec() const noexcept override { return image_->spec(); }
  const SinkLayout& layout() const noexcept override { return image_->layout(); }
  std::int64_t buffer_bytes(int concurrency) const override {
    return image_->buffer_bytes(concurrency) + of_labels_;
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
    if (then_) then_();
  }

 private:
  std::unique_ptr<Writer> image_;
  std::vector<std::unique_ptr<Writer>> smaller_;
  std::int64_t of_labels_;
  std::function<void()> then_;
};

}  // namespace sepconv
