#include "console.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#include "pipeline/job/option_names.hpp"

namespace sepconv::app {

namespace {

int stdout_error = 0;  // errno of the first write that failed

void record_stdout_result(bool written) noexcept {
  if (!written && stdout_error == 0) stdout_error = errno != 0 ? errno : EIO;
}

/// The word in colour if stderr supports escapes and NO_COLOR is not set (https://no-color.org).
std::string coloured(std::string_view word, std::string_view colour) {
  const char* const no_color = std::getenv("NO_COLOR");
  if (!stderr_supports_escapes() || (no_color != nullptr && *no_color != '\0')) return std::string(word);
  return fmt::format("\033[{}m{}\033[0m", colour, word);
}

/// Writes the text to stderr. Writes nothing if `make_text` runs out of memory.
template <class MakeText>
void try_write_to_stderr(const MakeText& make_text) noexcept try {
  const std::string text = make_text();
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
} catch (const std::exception&) {
}

}  // namespace

void reserve_standard_descriptors() noexcept {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    // open() returns the lowest free descriptor, which is this one. It is opened for the wrong direction, so
    // that using it remains an error.
    static_cast<void>(open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

std::string with_flags(std::string_view text) { return with_option_names(text, &OptionName::flag); }

void print_lines(std::string_view lines) { print_escapes(printable_lines(with_flags(lines))); }

void print_escapes(std::string_view text) {
  record_stdout_result(std::fwrite(text.data(), 1, text.size(), stdout) == text.size());
}

StdoutStatus finish_stdout() noexcept {
  record_stdout_result(std::fflush(stdout) == 0);
  if (stdout_error == 0) return StdoutStatus::written;
  return stdout_error == EPIPE ? StdoutStatus::broken_pipe : StdoutStatus::failed;
}

void write_to_stderr(std::string_view lines) noexcept {
  try_write_to_stderr([lines] { return printable_lines(with_flags(lines)); });
}

void warn(const std::vector<std::string>& messages) {
  for (const std::string& message : messages)
    try_write_to_stderr(
        [&] { return coloured("warning:", "33") + " " + printable(with_flags(message)) + "\n"; });
}

void print_error(std::string_view message) noexcept {
  try_write_to_stderr(
      [message] { return coloured("sepconv:", "1;31") + " " + printable(with_flags(message)) + "\n"; });
}

void print_error_nonblocking(std::string_view message) noexcept try {
  pollfd stderr_poll{STDERR_FILENO, POLLOUT, 0};
  if (poll(&stderr_poll, 1, 0) != 1 || (stderr_poll.revents & POLLOUT) == 0) return;
  const std::string line = fmt::format("{}{} {}\n", stderr_supports_escapes() ? "\r\033[K" : "",
                                       coloured("sepconv:", "1;31"), printable(with_flags(message)));
  static_cast<void>(write(STDERR_FILENO, line.data(), line.size()));
} catch (const std::exception&) {
}

bool stderr_supports_escapes() noexcept {
  const char* const term = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && (term == nullptr || std::string_view(term) != "dumb");
}

bool stdin_is_terminal() noexcept { return isatty(STDIN_FILENO) == 1; }

bool stdout_is_terminal() noexcept { return isatty(STDOUT_FILENO) == 1; }

std::string stdout_terminal() {
  const char* const name = ttyname(STDOUT_FILENO);
  return name == nullptr ? "" : name;
}

InputStream open_stdin(const OpenOptions& options, std::stop_token stop) {
  const std::string name = "standard input";
  return open_stream(name, bytes_from(STDIN_FILENO, name, std::move(stop)), options);
}

std::unique_ptr<RasterSetWriter> create_stdout(StreamFormat format, const RasterSetSpec& spec,
                                               const CreateOptions& options, std::stop_token stop) {
  const std::string name = "standard output";
  return create_stream(name, bytes_to(STDOUT_FILENO, name, std::move(stop)), format, spec, options);
}

void rewrite_stderr_line(std::string_view text) noexcept {
  // A single write, so that no other output is interleaved.
  try_write_to_stderr([text] { return "\r\033[K" + printable(text); });
}

}  // namespace sepconv::app
