#include "pipeline/job/few_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/error.hpp"
#include "core/executor.hpp"
#include "core/memory.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kSampleSide = 256;
constexpr std::int64_t kMaxBlockBytes = std::int64_t{4} << 20;
/// Photographs and measurements have more values; land cover has some ten classes.
constexpr std::size_t kMaxClasses = 16;

bool is_small_integer(PixelType type) {
  return type == PixelType::u8 || type == PixelType::u16 || type == PixelType::i16;
}

void add_values(Reader& source, const Rect& rect, std::set<int>& values) {
  const ImageSpec spec{rect.extent(), 1, source.spec().type};
  const Buffer buffer(spec.bytes());
  const PixelView pixels = dense_view(buffer.data(), spec);
  SerialExecutor executor;
  source.read(rect, pixels, executor);
  visit_pixel_type(spec.type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t row = 0; row < rect.rows && values.size() <= kMaxClasses; ++row) {
      for (std::int64_t col = 0; col < rect.cols; ++col)
        values.insert(static_cast<int>(pixels.row<T>(row)[col]));
    }
  });
}

/// Values in the middle and in two corners of the image.
std::set<int> sampled_values(Reader& source) {
  const Extent image = source.spec().extent;
  const Extent side{std::min(image.rows, kSampleSide), std::min(image.cols, kSampleSide)};
  std::set<int> values;
  for (const std::int64_t part : {1, 0, 2}) {
    const Rect rect{(image.rows - side.rows) * part / 2, (image.cols - side.cols) * part / 2, side.rows,
                    side.cols};
    add_values(source, rect, values);
    if (values.size() > kMaxClasses) break;
  }
  return values;
}

}  // namespace

std::string averaged_levels_warning(Reader& source, const Chain& chain, const FileLayout& layout) {
  const SourceLayout& layout_of_source = source.layout();
  const ImageSpec& spec = source.spec();
  const bool can_sample = layout_of_source.streams && layout_of_source.access == Access::random &&
                          layout_of_source.block.area() * spec.pixel_bytes() <= kMaxBlockBytes;
  if (layout.levels == Levels::none || layout.nearest_levels || !chain.keeps_values() || !can_sample ||
      spec.channels != 1 || !is_small_integer(spec.type))
    return "";
  try {
    const std::set<int> values = sampled_values(source);
    if (values.size() < 2 || values.size() > kMaxClasses) return "";
    return fmt::format(
        "a sample of the image has {} values only, like classes and masks, and its smaller levels are "
        "means, which are others; OutputOptions::nearest_levels makes levels of single pixels",
        values.size());
  } catch (const IoError&) {
    return "";  // the run reports unreadable data
  }
}

}  // namespace sepconv
