// The five pixel types, the two arithmetic types, and the conversion of a type tag to a C++ type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace sepconv {

enum class PixelType : std::uint8_t { u8, u16, i16, f32, f64 };

inline constexpr PixelType kPixelTypes[] = {PixelType::u8, PixelType::u16, PixelType::i16, PixelType::f32,
                                            PixelType::f64};

/// The type in which a whole chain computes: the type of values between stages and between the passes of a
/// stage.
enum class Arithmetic : std::uint8_t { f32, f64 };

/// Bytes of one element (one channel of one pixel).
constexpr std::int64_t size_of(PixelType type) noexcept {
  switch (type) {
    case PixelType::u8:
      return 1;
    case PixelType::u16:
    case PixelType::i16:
      return 2;
    case PixelType::f32:
      return 4;
    case PixelType::f64:
      return 8;
  }
  return 0;
}

constexpr bool is_floating(PixelType type) noexcept {
  return type == PixelType::f32 || type == PixelType::f64;
}

constexpr PixelType pixel_type_of(Arithmetic arithmetic) noexcept {
  return arithmetic == Arithmetic::f64 ? PixelType::f64 : PixelType::f32;
}

constexpr std::string_view name_of(PixelType type) noexcept {
  constexpr std::string_view names[] = {"u8", "u16", "i16", "f32", "f64"};
  return names[static_cast<std::size_t>(type)];
}

constexpr std::string_view name_of(Arithmetic arithmetic) noexcept {
  return name_of(pixel_type_of(arithmetic));
}

/// The type with this name, or nullopt.
constexpr std::optional<PixelType> parse_pixel_type(std::string_view name) noexcept {
  for (const PixelType type : kPixelTypes) {
    if (name_of(type) == name) return type;
  }
  return std::nullopt;
}

template <class T>
constexpr PixelType pixel_type_of() noexcept {
  if constexpr (std::is_same_v<T, std::uint8_t>) return PixelType::u8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return PixelType::u16;
  if constexpr (std::is_same_v<T, std::int16_t>) return PixelType::i16;
  if constexpr (std::is_same_v<T, float>) return PixelType::f32;
  if constexpr (std::is_same_v<T, double>) return PixelType::f64;
}

/// Calls visitor(std::type_identity<T>{}) with the C++ type of the tag. Call it once, outside all loops.
template <class Visitor>
decltype(auto) visit_pixel_type(PixelType type, Visitor&& visitor) {
  switch (type) {
    case PixelType::u8:
      return std::forward<Visitor>(visitor)(std::type_identity<std::uint8_t>{});
    case PixelType::u16:
      return std::forward<Visitor>(visitor)(std::type_identity<std::uint16_t>{});
    case PixelType::i16:
      return std::forward<Visitor>(visitor)(std::type_identity<std::int16_t>{});
    case PixelType::f32:
      return std::forward<Visitor>(visitor)(std::type_identity<float>{});
    case PixelType::f64:
      break;
  }
  return std::forward<Visitor>(visitor)(std::type_identity<double>{});
}

/// As visit_pixel_type, over the two arithmetic types.
template <class Visitor>
decltype(auto) visit_arithmetic(Arithmetic arithmetic, Visitor&& visitor) {
  if (arithmetic == Arithmetic::f64) return std::forward<Visitor>(visitor)(std::type_identity<double>{});
  return std::forward<Visitor>(visitor)(std::type_identity<float>{});
}

}  // namespace sepconv
