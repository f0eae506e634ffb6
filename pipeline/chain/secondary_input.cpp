#include "pipeline/chain/secondary_input.hpp"

#include <fmt/format.h>

#include "io/reader.hpp"
#include "pipeline/chain/chain.hpp"

namespace sepconv {

std::string SecondaryImage::text() const {
  if (pixels.data == nullptr) return file.string();
  return fmt::format("{}: {} x {} x {} {} at {})", kInMemoryPrefix, pixels.extent.rows, pixels.extent.cols,
                     pixels.channels, name_of(pixels.type), fmt::ptr(pixels.data));
}

std::vector<SecondaryInput> open_secondaries(const Chain& chain, const std::vector<ImageSpec>& specs) {
  std::vector<SecondaryInput> secondaries;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const Stage& stage = *chain.stages()[i];
    if (stage.properties().has_secondary) secondaries.push_back({i, stage.open_secondary(specs[i])});
  }
  return secondaries;
}

Chain bind_secondaries(const Chain& chain, std::span<const ConstRegion> secondaries) {
  Chain bound;
  std::size_t next = 0;
  for (const StagePtr& stage : chain.stages())
    bound.then(stage->properties().has_secondary ? stage->bind_secondary(secondaries[next++]) : stage);
  return bound;
}

}  // namespace sepconv
