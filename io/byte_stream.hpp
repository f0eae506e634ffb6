// Buffered sequential access to files, pipes, sockets and memory, for codecs and text parsers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "io/byte_file.hpp"

namespace sepconv {

inline constexpr std::int64_t kStreamBytes = std::int64_t{64} << 10;

/// Source of bytes such as a pipe or a socket: fills the beginning of the span with at least one byte and
/// returns the number; 0 at the end. Its exceptions propagate to the reader.
using ReadBytes = std::function<std::size_t(std::span<std::byte>)>;
/// Destination of bytes: writes the whole span.
using WriteBytes = std::function<void(std::span<const std::byte>)>;

/// Reads the bytes of a file from an offset on. The file must outlive this object. Throws IoError as
/// InputFile does.
class InputBytes {
 public:
  explicit InputBytes(const InputFile& file, std::int64_t offset = 0,
                      std::int64_t buffer_bytes = kStreamBytes);
  /// Reads from `read`. Error messages begin with `name`.
  InputBytes(std::string name, ReadBytes read);

  /// Name in error messages.
  std::filesystem::path name() const { return file_ != nullptr ? file_->path() : name_; }
  /// Offset of the next byte in the file.
  std::int64_t position() const noexcept { return buffered_end_ - std::ssize(rest_); }
  /// The next byte, or -1 at the end of the file.
  int get() {
    if (rest_.empty() && !fill()) return -1;
    const auto byte = std::to_integer<int>(rest_.front());
    rest_ = rest_.subspan(1);
    return byte;
  }
  /// Returns the buffered bytes, at least one except at the end of the file. Valid until the next call.
  std::span<const std::byte> next();
  /// Fills `bytes`; throws if the file ends before.
  void read(std::span<std::byte> bytes);
  void skip(std::int64_t bytes);

 private:
  std::int64_t read_some(std::span<std::byte> bytes);
  bool fill();
  [[noreturn]] void throw_end(std::span<std::byte> missing) const;

  const InputFile* file_ = nullptr;
  std::filesystem::path name_;
  ReadBytes read_;
  std::vector<std::byte> buffer_;
  std::span<const std::byte> rest_;
  std::int64_t buffered_end_;
};

/// Appends to a file, to memory, or to a WriteBytes function.
class OutputBytes {
 public:
  explicit OutputBytes(OutputFile& file);
  explicit OutputBytes(std::vector<std::byte>& memory);
  explicit OutputBytes(WriteBytes write);
  void write(std::span<const std::byte> bytes);
  /// Writes the buffered bytes. Must be called at the end.
  void flush();

 private:
  void put(std::span<const std::byte> bytes);

  OutputFile* file_ = nullptr;
  std::vector<std::byte>* memory_ = nullptr;
  WriteBytes write_;
  std::vector<std::byte> buffer_;
  std::size_t filled_ = 0;
  std::int64_t offset_ = 0;
};

}  // namespace sepconv
