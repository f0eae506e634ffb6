#include "console.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <exception>

#include "option_names.hpp"

namespace sepconv::app {

namespace {

int stdout_error = 0;  // errno of the first write that failed

void note_stdout(bool written) noexcept {
  if (!written && stdout_error == 0) stdout_error = errno != 0 ? errno : EIO;
}

/// `make_text` may run out of memory, in which case nothing is said.
template <class MakeText>
void say(const MakeText& make_text) noexcept try {
  const std::string text = make_text();
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
} catch (const std::exception&) {
}

}  // namespace

void reserve_standard_descriptors() noexcept {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    // The lowest free number is this one. Opened for the wrong direction, so that its use is still an error.
    static_cast<void>(open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

void print_lines(std::string_view lines) {
  const std::string text = printable_lines(with_flags(lines));
  note_stdout(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

StdoutFate finish_stdout() noexcept {
  note_stdout(std::fflush(stdout) == 0);
  if (stdout_error == 0) return StdoutFate::written;
  return stdout_error == EPIPE ? StdoutFate::reader_gone : StdoutFate::failed;
}

void write_to_stderr(std::string_view lines) noexcept {
  say([lines] { return printable_lines(with_flags(lines)); });
}

void warn(const std::vector<std::string>& sentences) {
  for (const std::string& sentence : sentences)
    write_to_stderr(fmt::format("warning: {}\n", printable(sentence)));
}

void complain(std::string_view sentence) noexcept {
  say([sentence] { return "sepconv: " + printable(with_flags(sentence)) + "\n"; });
}

bool stderr_is_terminal() noexcept { return isatty(STDERR_FILENO) == 1; }

void rewrite_stderr_line(std::string_view text) noexcept {
  // One write, so that nothing else comes in between.
  say([text] { return "\r\033[K" + printable(text); });
}

}  // namespace sepconv::app
