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
  /// removes all unfinished files, prints a message that contains the result of `describe_leftovers`, which
  /// it calls, and ends the program. Throws Error if a descriptor or the thread cannot be created.
  void start(std::function<std::string()> describe_leftovers);

  std::stop_token token() const noexcept { return stop_.get_token(); }

  /// Claims the message that the program was interrupted. Does not return if the watcher has already claimed
  /// it.
  void claim_final_message();

 private:
  void watch();
  [[noreturn]] void force_exit();

  sigset_t signals_;
  std::stop_source stop_;
  int signal_descriptor_ = -1;  // a signalfd of signals_
  int end_descriptor_ = -1;     // an eventfd: a write to it ends the thread
  std::function<std::string()> describe_leftovers_;
  std::atomic_flag final_message_claimed_;
  std::jthread thread_;
};

}  // namespace sepconv::app
