// The exceptions that sepconv throws. what() is one sentence that names the object, the problem and a remedy.
#pragma once

#include <stdexcept>
#include <string>

namespace sepconv {

/// Base class; catch it to catch every error that sepconv reports.
class Error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The caller's request is invalid: a bad option, stage, size or combination.
class InvalidArgument : public Error {
  using Error::Error;
};

/// A file could not be opened, read, decoded, encoded, written or renamed.
class IoError : public Error {
 public:
  explicit IoError(const std::string& sentence, int error = 0) : Error(sentence), error_(error) {}

  /// The errno of the failed system call, or the equivalent one; 0 if the error is in the file's contents.
  int error() const noexcept { return error_; }

 private:
  int error_;
};

/// No plan fits into the allowed memory, or an allocation failed.
class OutOfMemory : public Error {
  using Error::Error;
};

/// A limit of this process, on threads or address space, is too low for any plan.
class LimitReached : public Error {
  using Error::Error;
};

/// The caller's stop token asked the run to end.
class Cancelled : public Error {
 public:
  Cancelled() : Error("cancelled") {}
};

}  // namespace sepconv
