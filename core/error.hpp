// The exceptions that sepconv throws. what() is one sentence that names the object, the fact and the way out.
#pragma once

#include <stdexcept>
#include <string>

namespace sepconv {

/// Base of all of them; catch this to catch everything that sepconv reports on purpose.
class Error : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The caller asked for something that cannot be: a bad option, stage, size or combination.
class InvalidArgument : public Error {
  using Error::Error;
};

/// A file could not be opened, read, decoded, encoded, written or renamed.
class IoError : public Error {
 public:
  explicit IoError(const std::string& sentence, int error = 0) : Error(sentence), error_(error) {}

  /// The errno of what the system refused, or would have; 0 where it is about the file's contents.
  int error() const noexcept { return error_; }

 private:
  int error_;
};

/// No plan fits the memory that was allowed, or memory could not be had.
class OutOfMemory : public Error {
  using Error::Error;
};

/// A limit on this process, of threads or of address space, leaves no room for what any plan needs.
class LimitReached : public Error {
  using Error::Error;
};

/// The caller's stop token asked the run to end.
class Cancelled : public Error {
 public:
  Cancelled() : Error("cancelled") {}
};

}  // namespace sepconv
