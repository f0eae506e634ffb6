// The way out of C codecs: libpng and libjpeg leave a failed call through a function that must not return.
#pragma once

#include <csetjmp>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/error.hpp"

namespace sepconv {

/// What is said of bytes that a JPEG's scan does not account for.
inline constexpr const char* kExtraBytes =
    "its JPEG data hold bytes that belong to no pixel: padding of its writer, or damage that changed pixels; "
    "compare it with another copy";

/// Runs calls of a C codec and takes their failures. What is jumped over on the way back has no destructors:
/// the codec's own frames, its callbacks, and the lambda given to run(), which may only use what lives
/// outside.
class CodecGuard {
 public:
  /// False when the codec gave up; message() says why.
  template <class Call>
  [[nodiscard]] bool run(const Call& call) {
    static_assert(std::is_trivially_destructible_v<Call>);
    if (setjmp(begin_) != 0) return false;
    call();
    return true;
  }

  /// For callbacks, whose exceptions must not cross C code: keeps what `call` throws and gives up.
  template <class Call>
  void keep(const Call& call) noexcept {
    if (!succeeds(call)) std::longjmp(begin_, 1);
  }

  /// For the codec's error function.
  [[noreturn]] void fail(const char* message) noexcept {
    std::snprintf(message_, sizeof message_, "%s", message);
    std::longjmp(begin_, 1);
  }

  /// Throws what a callback threw, else OutOfMemory or IoError made of `before`, the codec's words and
  /// `after`.
  [[noreturn]] void rethrow(const std::string& before, const std::string& after) const {
    if (thrown_) std::rethrow_exception(thrown_);
    for (const char* const words : {"Out of memory", "Insufficient memory"}) {  // libpng's, libjpeg's
      if (std::string_view(message_).find(words) != std::string_view::npos)
        throw OutOfMemory(before +
                          "there is no memory for its decoder or encoder; raise the process's limit (ulimit "
                          "-v), or free some");
    }
    throw IoError(before + message_ + after);
  }

  const char* message() const noexcept { return message_; }

  /// What the codec warned of without giving up: whether bytes belong nowhere.
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
      thrown_ = std::current_exception();
      return false;
    }
  }

  std::jmp_buf begin_;
  char message_[256] = "";
  std::exception_ptr thrown_;
  bool has_extra_bytes_ = false;
};

}  // namespace sepconv
