// Owner of a libtiff handle that captures its errors and reads and writes through TiffBytes. libtiff is not
// thread-safe: a handle is used by one thread at a time.
#pragma once

#include <tiffio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace sepconv {

/// Memory of a libtiff handle without its codec.
inline constexpr std::int64_t kHandleBytes = 64 << 10;

/// The file of a handle. Any function may throw: the exception is stored until libtiff's C code has returned,
/// and rethrown by TiffHandle::fail().
class TiffBytes {
 public:
  virtual ~TiffBytes() = default;
  /// Reads the existing bytes from `offset` on; returns their number.
  virtual std::int64_t read_some(std::int64_t offset, std::span<std::byte> bytes) = 0;
  virtual void write(std::int64_t offset, std::span<const std::byte> bytes) = 0;
  virtual std::int64_t size() = 0;
};

/// Move-only owner of a TIFF*. Closing never writes: all output is written by earlier explicit calls.
class TiffHandle {
 public:
  /// `bytes` must outlive the handle. Every message begins with `name`. `mode` as in TIFFClientOpen; memory
  /// mapping and strip chopping are always off. No single allocation of libtiff exceeds
  /// `max_allocation_bytes`. Throws IoError.
  TiffHandle(TiffBytes& bytes, std::string name, const std::string& mode, std::int64_t max_allocation_bytes);
  TiffHandle(TiffHandle&&) noexcept;
  TiffHandle& operator=(TiffHandle&&) noexcept;
  ~TiffHandle();

  TIFF* get() const noexcept;
  const std::string& name() const noexcept;

  /// Clears messages of earlier calls.
  void clear_messages() noexcept;
  /// First warning of libjpeg since clear_messages(). It only warns of truncated or invalid data and
  /// continues with grey.
  const std::string& jpeg_warning() const noexcept;
  /// Whether libjpeg skipped extraneous bytes since clear_messages().
  bool has_extra_bytes() const noexcept;
  /// First error message of libtiff since clear_messages(); empty if no error occurred.
  const std::string& message() const noexcept;

  /// Rethrows an exception of TiffBytes, else throws IoError "name: what: libtiff's message", or OutOfMemory.
  [[noreturn]] void fail(std::string_view what) const;
  void check(bool success, std::string_view what) const {
    if (!success) fail(what);
  }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sepconv
