// Ctrl-C, SIGTERM and SIGHUP request a stop, and end a program that does not stop in time. SIGPIPE and
// SIGXFSZ are ignored; all other signals keep their default action.
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>

namespace sepconv::app {

/// Must live until the end of main(). Before start() a signal ends the program immediately, when no clean-up
/// is needed yet.
class SignalWatcher {
 public:
  SignalWatcher();
  SignalWatcher(const SignalWatcher&) = delete;
  SignalWatcher& operator=(const SignalWatcher&) = delete;
  ~SignalWatcher();

  /// Starts a thread that watches the signals. Must be called before any other thread is started, because
  /// threads inherit the blocked signals. The first signal requests a stop. Half a second later the thread
  /// removes all unfinished files, prints a message that contains the result of `left`, which it calls, and
  /// ends the program. Throws Error if a descriptor or the thread cannot be created.
  void start(std::function<std::string()> left);

  std::stop_token token() const noexcept { return stop_.get_token(); }

  /// Claims the message that the program was interrupted. Does not return if the watcher has already claimed
  /// it.
  void take_last_word();

 private:
  void watch();
  [[noreturn]] void end_program();

  sigset_t signals_;
  std::stop_source stop_;
  int arrivals_ = -1;  // a signalfd of signals_
  int end_ = -1;       // an eventfd: a write to it ends the thread
  std::function<std::string()> left_;
  std::atomic_flag has_last_word_;
  std::jthread thread_;
};

}  // namespace sepconv::app
