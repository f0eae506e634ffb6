// A libtiff handle with an owner, its errors kept to itself, and its bytes from wherever we say. libtiff
// knows no threads: a handle is used by one thread at a time.
#pragma once

#include <tiffio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace sepconv {

/// What a handle of libtiff holds besides its codec.
inline constexpr std::int64_t kHandleBytes = 64 << 10;

/// The bytes behind a handle. Any function may throw: the exception waits until libtiff's C code has returned
/// and then comes out of TiffHandle::fail().
class TiffBytes {
 public:
  virtual ~TiffBytes() = default;
  /// Reads what there is from `offset` on; returns the number of bytes.
  virtual std::int64_t read_some(std::int64_t offset, std::span<std::byte> bytes) = 0;
  virtual void write(std::int64_t offset, std::span<const std::byte> bytes) = 0;
  virtual std::int64_t size() = 0;
};

/// Move-only owner of a TIFF*. Closing never writes: what a file gets, it gets by explicit calls before.
class TiffHandle {
 public:
  /// `bytes` must outlive the handle. `name` begins every message. `mode` as in TIFFClientOpen; memory
  /// mapping and the chopping of strips are always off. No single allocation of libtiff's exceeds
  /// `max_allocation_bytes`. Throws IoError.
  TiffHandle(TiffBytes& bytes, std::string name, const std::string& mode, std::int64_t max_allocation_bytes);
  TiffHandle(TiffHandle&&) noexcept;
  TiffHandle& operator=(TiffHandle&&) noexcept;
  ~TiffHandle();

  TIFF* get() const noexcept;
  const std::string& name() const noexcept;

  /// Forgets messages of earlier calls.
  void clear_messages() noexcept;
  /// The first complaint of libjpeg since clear_messages(): it only warns of data that end early or make no
  /// sense, and continues with grey.
  const std::string& jpeg_complaint() const noexcept;
  /// Whether libjpeg passed over bytes that belong nowhere, since clear_messages().
  bool has_extra_bytes() const noexcept;
  /// The first error since clear_messages(), in libtiff's words; empty if there was none.
  const std::string& message() const noexcept;

  /// Throws what the bytes' own functions threw, else IoError "name: what: libtiff's message".
  [[noreturn]] void fail(std::string_view what) const;
  void check(bool success, std::string_view what) const {
    if (!success) fail(what);
  }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sepconv
