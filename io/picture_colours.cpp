#include "io/picture_colours.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "io/extra_samples.hpp"

namespace sepconv {

Background parse_background(std::string_view text) {
  if (text == "white") return {};
  if (text == "black") return {{0, 0, 0}};
  if (text == "grey") return {{128, 128, 128}};
  Background background;
  const char* begin = text.data();
  const char* const end = begin + text.size();
  for (std::size_t i = 0; i < 3; ++i) {
    const auto [next, error] = std::from_chars(begin, end, background.rgb[i]);
    const bool has_valid_end = i < 2 ? next != end && *next == ',' : next == end;
    if (error != std::errc() || !has_valid_end)
      throw InvalidArgument(fmt::format(
          "'{}' is not a background; use white, black, grey, or red, green and blue from 0 to 255, "
          "like 255,128,0",
          printable(text)));
    begin = next + 1;
  }
  return background;
}

namespace {

std::int64_t colours_of(const Metadata& metadata) {
  if (!metadata.photometric) return 0;
  switch (*metadata.photometric) {
    case Photometric::min_is_black:
      return 1;
    case Photometric::rgb:
      return 3;
    case Photometric::cmyk:
      return 4;
    default:
      return 0;
  }
}

bool has(std::string_view counts, std::int64_t channels) {
  return channels < 10 && counts.find(static_cast<char>('0' + channels)) != counts.npos;
}

}  // namespace

PictureColours picture_colours(std::int64_t channels, const Metadata& metadata, std::string_view counts,
                               const std::optional<Background>& background) {
  PictureColours conversion{.channels = channels, .colours = colours_of(metadata)};
  conversion.cmyk = conversion.colours == 4 && channels >= 4;
  conversion.alpha = alpha_channel(metadata, channels);
  // Arrays have no metadata; the last of two or four channels is assumed to be alpha.
  const bool nothing_known =
      conversion.colours == 0 && metadata.extra_samples.empty() && !metadata.photometric;
  if (nothing_known && background && (channels == 2 || channels == 4)) {
    conversion.colours = channels - 1;
    conversion.alpha = conversion.colours;
  }
  // Three bands of a raster are displayed as red, green and blue, as by GDAL's picture drivers.
  if (conversion.colours == 1 && channels - (conversion.alpha ? 1 : 0) == 3) conversion.colours = 3;
  const bool fits = conversion.cmyk || (conversion.alpha && *conversion.alpha >= conversion.colours);
  if (conversion.colours == 0 || !fits) return conversion;
  conversion.multiplied = conversion.alpha && alpha_is_associated(metadata);
  const bool keeps_alpha = conversion.alpha && has(counts, 4) && !background;
  if (conversion.alpha && !keeps_alpha) {
    if (!background) return conversion;
    conversion.background = background;
  }
  const bool has_others = channels > conversion.colours + (conversion.alpha ? 1 : 0);
  conversion.converts = conversion.cmyk || conversion.background || conversion.multiplied ||
                        conversion.colours == 1 || has_others;
  if (!conversion.converts) return conversion;
  const bool is_grey = conversion.colours == 1 && conversion.background && conversion.background->is_grey();
  conversion.channels = keeps_alpha ? 4 : is_grey ? 1 : 3;
  if (conversion.cmyk) conversion.warnings.emplace_back("CMYK becomes RGB, without a profile of colours");
  if (conversion.cmyk && !metadata.icc_profile.empty())
    conversion.warnings.emplace_back("the ICC profile is left out: it is for CMYK, which becomes RGB");
  if (has_others)
    conversion.warnings.emplace_back("channels that are neither colours nor alpha are left out");
  if (conversion.background)
    conversion.warnings.push_back(fmt::format("alpha is left out: the picture is laid on the colour {},{},{}",
                                              conversion.background->rgb[0], conversion.background->rgb[1],
                                              conversion.background->rgb[2]));
  return conversion;
}

Metadata metadata_of_picture(const PictureColours& conversion, Metadata metadata) {
  if (!conversion.converts) return metadata;
  if (conversion.cmyk || (conversion.colours == 1 && conversion.channels != 1)) metadata.icc_profile.clear();
  metadata.photometric = conversion.channels == 1 ? Photometric::min_is_black : Photometric::rgb;
  metadata.extra_samples.clear();
  if (conversion.channels == 4) metadata.extra_samples = {kUnassociatedAlpha};
  return metadata;
}

namespace {

template <class T>
class Painter {
 public:
  explicit Painter(const PictureColours& conversion) : conversion_(conversion) {
    if (conversion.background)
      for (std::size_t i = 0; i < 3; ++i) background_[i] = conversion.background->rgb[i] * kMax / 255;
  }

  void paint(const T* in, std::int64_t channels, std::int64_t cols, T* out) const {
    const std::int64_t colours = std::min<std::int64_t>(conversion_.channels, 3);
    for (std::int64_t col = 0; col < cols; ++col, in += channels, out += conversion_.channels) {
      const double alpha = conversion_.alpha ? in[*conversion_.alpha] : kMax;
      for (std::int64_t k = 0; k < colours; ++k) out[k] = blended(colour(in, k), alpha, k);
      if (conversion_.channels == 4)
        out[3] = conversion_.alpha ? in[*conversion_.alpha] : std::numeric_limits<T>::max();
    }
  }

 private:
  static constexpr double kMax = std::numeric_limits<T>::max();

  /// Converts CMYK to RGB like Pillow.
  T colour(const T* in, std::int64_t k) const {
    if (!conversion_.cmyk) return in[conversion_.colours == 1 ? 0 : k];
    constexpr std::uint64_t max_value = std::numeric_limits<T>::max();
    return static_cast<T>(((max_value - in[k]) * (max_value - in[3]) + max_value / 2) / max_value);
  }

  T blended(T colour, double alpha, std::int64_t k) const {
    if (conversion_.background) {
      const double background = background_[static_cast<std::size_t>(k)] * (kMax - alpha);
      return rounded(conversion_.multiplied ? colour + background / kMax
                                            : (colour * alpha + background) / kMax);
    }
    if (!conversion_.multiplied) return colour;
    return alpha > 0 ? rounded(colour * kMax / alpha) : T{0};
  }

  static T rounded(double value) { return static_cast<T>(std::min(std::floor(value + 0.5), kMax)); }

  const PictureColours& conversion_;
  std::array<double, 3> background_{};
};

}  // namespace

void paint(const PictureColours& conversion, const ConstPixelView& result, const PixelView& picture) {
  const auto paint_rows = [&]<class T>(std::type_identity<T>) {
    const Painter<T> painter(conversion);
    for (std::int64_t row = 0; row < result.extent.rows; ++row)
      painter.paint(result.row<T>(row), result.channels, result.extent.cols, picture.row<T>(row));
  };
  if (result.type == PixelType::u8)
    paint_rows(std::type_identity<std::uint8_t>{});
  else
    paint_rows(std::type_identity<std::uint16_t>{});
}

}  // namespace sepconv
