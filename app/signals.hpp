// Ctrl-C, SIGTERM and SIGHUP as a stop token, and as the end of a program that does not heed it in time.
// Every other signal means what it means to any program.
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>

namespace sepconv::app {

/// Lives in main() to its end. Until start() a signal ends the program, which has nothing to clean up before.
class SignalWatcher {
 public:
  SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;
  ~SignalWatcher();

  /// Watches from now on, in a thread of its own; to be called before there is another one, which inherits
  /// the blocked signals. The first signal requests a stop. A program that has not ended half a second later
  /// is ended: what is unfinished is removed, and a sentence says what is `left`, which is called in that
  /// thread. Throws Error if none can be had.
  void start(std::function<std::string()> left);

  std::stop_token token() const noexcept { return stop_.get_token(); }

  /// For who says that the program was interrupted. Does not return where the watcher says it.
  void take_last_word();

 private:
  void watch();
  [[noreturn]] void end_program();

  sigset_t signals_;
  std::stop_source stop_;
  int arrivals_ = -1;  // a signalfd of signals_
  int end_ = -1;       // an eventfd: something to read in it ends the watching
  std::function<std::string()> left_;
  std::atomic_flag has_last_word_;
  std::jthread thread_;
};

}  // namespace sepconv::app
