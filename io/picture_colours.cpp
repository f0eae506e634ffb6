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
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < 3; ++i) {
    const auto [next, error] = std::from_chars(at, end, background.rgb[i]);
    const bool goes_on = i < 2 ? next != end && *next == ',' : next == end;
    if (error != std::errc() || !goes_on)
      throw InvalidArgument(fmt::format(
          "'{}' is not a background; use white, black, grey, or red, green and blue from 0 to 255, "
          "like 255,128,0",
          printable(text)));
    at = next + 1;
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
  PictureColours how{.channels = channels, .colours = colours_of(metadata)};
  how.cmyk = how.colours == 4 && channels >= 4;
  how.alpha = alpha_channel(metadata, channels);
  // For an array nothing is known, and the last of two or four channels is what a picture has there.
  const bool nothing_known = how.colours == 0 && metadata.extra_samples.empty() && !metadata.photometric;
  if (nothing_known && background && (channels == 2 || channels == 4)) {
    how.colours = channels - 1;
    how.alpha = how.colours;
  }
  // Bands of a raster are seen as red, green and blue, as GDAL's drivers of pictures have them.
  if (how.colours == 1 && channels - (how.alpha ? 1 : 0) == 3) how.colours = 3;
  const bool fits = how.cmyk || (how.alpha && *how.alpha >= how.colours);
  if (how.colours == 0 || !fits) return how;
  how.multiplied = how.alpha && alpha_is_associated(metadata);
  const bool keeps_alpha = how.alpha && has(counts, 4) && !background;
  if (how.alpha && !keeps_alpha) {
    if (!background) return how;
    how.background = background;
  }
  const bool has_others = channels > how.colours + (how.alpha ? 1 : 0);
  how.converts = how.cmyk || how.background || how.multiplied || how.colours == 1 || has_others;
  if (!how.converts) return how;
  const bool is_grey = how.colours == 1 && how.background && how.background->is_grey();
  how.channels = keeps_alpha ? 4 : is_grey ? 1 : 3;
  if (how.cmyk) how.said.emplace_back("CMYK becomes RGB, without a profile of colours");
  if (how.cmyk && !metadata.icc_profile.empty())
    how.said.emplace_back("the ICC profile is left out: it is for CMYK, which becomes RGB");
  if (has_others) how.said.emplace_back("channels that are neither colours nor alpha are left out");
  if (how.background)
    how.said.push_back(fmt::format("alpha is left out: the picture is laid on the colour {},{},{}",
                                   how.background->rgb[0], how.background->rgb[1], how.background->rgb[2]));
  return how;
}

Metadata metadata_of_picture(const PictureColours& how, Metadata metadata) {
  if (!how.converts) return metadata;
  if (how.cmyk || (how.colours == 1 && how.channels != 1)) metadata.icc_profile.clear();
  metadata.photometric = how.channels == 1 ? Photometric::min_is_black : Photometric::rgb;
  metadata.extra_samples.clear();
  if (how.channels == 4) metadata.extra_samples = {kUnassociatedAlpha};
  return metadata;
}

namespace {

template <class T>
class Painter {
 public:
  explicit Painter(const PictureColours& how) : how_(how) {
    if (how.background)
      for (std::size_t i = 0; i < 3; ++i) background_[i] = how.background->rgb[i] * kMax / 255;
  }

  void paint(const T* in, std::int64_t channels, std::int64_t cols, T* out) const {
    const std::int64_t colours = std::min<std::int64_t>(how_.channels, 3);
    for (std::int64_t col = 0; col < cols; ++col, in += channels, out += how_.channels) {
      const double alpha = how_.alpha ? in[*how_.alpha] : kMax;
      for (std::int64_t k = 0; k < colours; ++k) out[k] = blended(colour(in, k), alpha, k);
      if (how_.channels == 4) out[3] = how_.alpha ? in[*how_.alpha] : std::numeric_limits<T>::max();
    }
  }

 private:
  static constexpr double kMax = std::numeric_limits<T>::max();

  /// What ink leaves of the light, as Pillow has it.
  T colour(const T* in, std::int64_t k) const {
    if (!how_.cmyk) return in[how_.colours == 1 ? 0 : k];
    constexpr std::uint64_t most = std::numeric_limits<T>::max();
    return static_cast<T>(((most - in[k]) * (most - in[3]) + most / 2) / most);
  }

  T blended(T colour, double alpha, std::int64_t k) const {
    if (how_.background) {
      const double behind = background_[static_cast<std::size_t>(k)] * (kMax - alpha);
      return rounded(how_.multiplied ? colour + behind / kMax : (colour * alpha + behind) / kMax);
    }
    if (!how_.multiplied) return colour;
    return alpha > 0 ? rounded(colour * kMax / alpha) : T{0};
  }

  static T rounded(double value) { return static_cast<T>(std::min(std::floor(value + 0.5), kMax)); }

  const PictureColours& how_;
  std::array<double, 3> background_{};
};

}  // namespace

void paint(const PictureColours& how, const ConstPixelView& result, const PixelView& picture) {
  const auto all = [&]<class T>(std::type_identity<T>) {
    const Painter<T> painter(how);
    for (std::int64_t row = 0; row < result.extent.rows; ++row)
      painter.paint(result.row<T>(row), result.channels, result.extent.cols, picture.row<T>(row));
  };
  if (result.type == PixelType::u8)
    all(std::type_identity<std::uint8_t>{});
  else
    all(std::type_identity<std::uint16_t>{});
}

}  // namespace sepconv
