// The standard streams. All text output uses these functions. They print control characters as visible
// escapes (printable() of core), because file names and the contents of files are untrusted. Pixels bypass
// them.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/printable.hpp"
#include "io/stream/stream.hpp"

namespace sepconv::app {

/// Opens descriptors 0 to 2 that the caller closed (`2>&-`) so that reading and writing them fails. Otherwise
/// the next opened file would get their number, and messages would be written into an image. Must be called
/// before any file is opened.
void reserve_standard_descriptors() noexcept;

/// A message of the library with the flags of the options that it names.
std::string with_flags(std::string_view text);

/// Prints lines to stdout. finish_stdout() reports write errors.
void print_lines(std::string_view lines);

/// Prints text that contains intended terminal escapes to stdout, unchanged.
void print_escapes(std::string_view text);

template <class T>
using Printed = std::conditional_t<std::is_convertible_v<const T&, std::string_view>, std::string, T>;

template <class T>
decltype(auto) printed(const T& value) {
  if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return printable(value);
  } else {
    return (value);
  }
}

/// Prints formatted lines to stdout. Line ends in string values are printed as escapes.
template <class... Values>
void print(fmt::format_string<Printed<Values>...> format, const Values&... values) {
  print_lines(fmt::vformat(fmt::string_view(format), fmt::make_format_args(printed(values)...)));
}

/// Whether all printed text was written. finish_stdout() flushes stdout; it must be called once, at the end.
enum class StdoutStatus : std::uint8_t { written, broken_pipe, failed };
StdoutStatus finish_stdout() noexcept;

/// Writes lines to stderr, in one write if stdio can. Errors are ignored.
void write_to_stderr(std::string_view lines) noexcept;

/// Prints "warning: MESSAGE" to stderr, one line for each message.
void warn(const std::vector<std::string>& messages);

/// Prints "sepconv: MESSAGE" to stderr, as one line.
void print_error(std::string_view message) noexcept;
/// Likewise replaces a progress line, from any thread. Prints nothing if the write would block.
void print_error_nonblocking(std::string_view message) noexcept;

/// Whether stderr is a terminal that supports cursor movement and colours.
bool stderr_supports_escapes() noexcept;

bool stdin_is_terminal() noexcept;
bool stdout_is_terminal() noexcept;
/// The device path of stdout's terminal; empty if stdout is not a terminal.
std::string stdout_terminal();

/// Images on standard input and output; see bytes_from(). Text printed to stdout would corrupt the image
/// data.
InputStream open_stdin(const OpenOptions& options, std::stop_token stop);
std::unique_ptr<RasterSetWriter> create_stdout(StreamFormat format, const RasterSetSpec& spec,
                                               const CreateOptions& options, std::stop_token stop);
/// Replaces the line at the cursor with `text`.
void rewrite_stderr_line(std::string_view text) noexcept;

}  // namespace sepconv::app
