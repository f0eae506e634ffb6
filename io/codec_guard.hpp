// Error handling for C codecs: libpng and libjpeg report a failure by a function that must not return.
#pragma once

#include <csetjmp>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/error.hpp"

namespace sepconv {

/// Warning about bytes that a JPEG's scan does not account for.
inline constexpr const char* kExtraBytes =
    "its JPEG data hold bytes that belong to no pixel: padding of its writer, or damage that changed pixels; "
    "compare it with another copy";

/// Runs calls of a C codec and catches their failures by longjmp. No destructors run for the frames that are
/// skipped: those of the codec, its callbacks, and the lambda passed to run(), which may therefore only use
/// objects that are defined outside.
class CodecGuard {
 public:
  /// Returns false if the codec failed; message() is its reason.
  template <class Call>
  [[nodiscard]] bool run(const Call& call) {
    static_assert(std::is_trivially_destructible_v<Call>);
    if (setjmp(jump_buffer_) != 0) return false;
    call();
    return true;
  }

  /// For callbacks, whose exceptions must not cross C code: stores the exception of `call` and fails.
  template <class Call>
  void keep(const Call& call) noexcept {
    if (!succeeds(call)) std::longjmp(jump_buffer_, 1);
  }

  /// For the codec's error function.
  [[noreturn]] void fail(const char* message) noexcept {
    std::snprintf(message_, sizeof message_, "%s", message);
    std::longjmp(jump_buffer_, 1);
  }

  /// Throws the stored exception of a callback, else OutOfMemory or IoError with `before`, the codec's
  /// message and `after`.
  [[noreturn]] void rethrow(const std::string& before, const std::string& after) const {
    if (exception_) std::rethrow_exception(exception_);
    for (const char* const text : {"Out of memory", "Insufficient memory"}) {  // of libpng and libjpeg
      if (std::string_view(message_).find(text) != std::string_view::npos)
        throw OutOfMemory(before +
                          "there is no memory for its decoder or encoder; raise the process's limit (ulimit "
                          "-v), or free some");
    }
    throw IoError(before + message_ + after);
  }

  const char* message() const noexcept { return message_; }

  /// Records the codec's warning about extra bytes.
  void note_extra_bytes() noexcept { has_extra_bytes_ = true; }
  bool has_extra_bytes() const noexcept { return has_extra_bytes_; }
  void forget_extra_bytes() noexcept { has_extra_bytes_ = false; }

 private:
  template <class Call>
  bool succeeds(const Call& call) noexcept {
    try {
      call();
      return true;
    } catch (...) {
      exception_ = std::current_exception();
      return false;
    }
  }

  std::jmp_buf jump_buffer_;
  char message_[256] = "";
  std::exception_ptr exception_;
  bool has_extra_bytes_ = false;
};

}  // namespace sepconv
