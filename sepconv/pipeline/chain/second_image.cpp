#include "sepconv/pipeline/chain/second_image.hpp"

#include <fmt/format.h>

#include "sepconv/io/reader.hpp"
#include "sepconv/pipeline/chain/chain.hpp"

namespace sepconv {

std::string SecondImage::text() const {
  if (pixels.data == nullptr) return file.string();
  return fmt::format("{}: {} x {} x {} {} at {})", kInMemoryText, pixels.extent.rows, pixels.extent.cols,
                     pixels.channels, name_of(pixels.type), fmt::ptr(pixels.data));
}

std::vector<SecondInput> open_seconds(const Chain& chain, const std::vector<ImageSpec>& specs) {
  std::vector<SecondInput> seconds;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const Stage& stage = *chain.stages()[i];
    if (stage.traits().has_second) seconds.push_back({i, stage.open_second(specs[i])});
  }
  return seconds;
}

Chain with_seconds(const Chain& chain, std::span<const ConstRegion> seconds) {
  Chain bound;
  std::size_t next = 0;
  for (const StagePtr& stage : chain.stages())
    bound.then(stage->traits().has_second ? stage->with_second(seconds[next++]) : stage);
  return bound;
}

}  // namespace sepconv
