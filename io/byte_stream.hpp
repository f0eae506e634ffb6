// Files, and what can be had only once, one byte after another, through a buffer: how codecs and parsers of
// text see them.
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

/// Where bytes come from that come once, a pipe or a socket: fills the beginning of what it is given, at
/// least a byte, and says how many; 0 at the end. What it throws reaches who reads.
using ReadBytes = std::function<std::size_t(std::span<std::byte>)>;
/// Likewise where they go to: takes all.
using WriteBytes = std::function<void(std::span<const std::byte>)>;

/// The bytes of a file, which must outlive this, from an offset on. Throws IoError as InputFile does.
class InputBytes {
 public:
  explicit InputBytes(const InputFile& file, std::int64_t offset = 0,
                      std::int64_t buffer_bytes = kStreamBytes);
  /// Those that `read` has, from here on; `name` begins errors.
  InputBytes(std::string name, ReadBytes read);

  /// What errors call it.
  std::filesystem::path name() const { return file_ != nullptr ? file_->path() : name_; }
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

/// Appends to a file that is being made, to bytes in memory, or to where `write` takes them.
class OutputBytes {
 public:
  explicit OutputBytes(OutputFile& file);
  explicit OutputBytes(std::vector<std::byte>& memory);
  explicit OutputBytes(WriteBytes write);
  void write(std::span<const std::byte> bytes);
  /// To be called at the end.
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
