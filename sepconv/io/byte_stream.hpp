// Files one byte after another, through a buffer: how codecs and parsers of text see them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sepconv/io/byte_file.hpp"

namespace sepconv {

inline constexpr std::int64_t kStreamBytes = std::int64_t{64} << 10;

/// The bytes of a file, which must outlive this, from an offset on. Throws IoError as InputFile does.
class InputBytes {
 public:
  explicit InputBytes(const InputFile& file, std::int64_t offset = 0,
                      std::int64_t buffer_bytes = kStreamBytes);

  /// Where in the file the next byte lies.
  std::int64_t position() const noexcept { return buffered_end_ - std::ssize(rest_); }
  /// The next byte, or -1 at the end of the file.
  int get() {
    if (rest_.empty() && !fill()) return -1;
    const auto byte = std::to_integer<int>(rest_.front());
    rest_ = rest_.subspan(1);
    return byte;
  }
  /// Some bytes, at least one but at the end of the file; valid until the next call.
  std::span<const std::byte> next();
  /// Exactly these; throws where the file ends before.
  void read(std::span<std::byte> bytes);
  void skip(std::int64_t bytes);

 private:
  bool fill();

  const InputFile& file_;
  std::vector<std::byte> buffer_;
  std::span<const std::byte> rest_;
  std::int64_t buffered_end_;
};

/// Appends to a file that is being made, or to bytes in memory.
class OutputBytes {
 public:
  explicit OutputBytes(OutputFile& file);
  explicit OutputBytes(std::vector<std::byte>& memory);
  void write(std::span<const std::byte> bytes);
  /// To be called at the end.
  void flush();

 private:
  void put(std::span<const std::byte> bytes);

  OutputFile* file_ = nullptr;
  std::vector<std::byte>* memory_ = nullptr;
  std::vector<std::byte> buffer_;
  std::size_t filled_ = 0;
  std::int64_t offset_ = 0;
};

}  // namespace sepconv
