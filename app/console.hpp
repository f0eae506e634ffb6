// The standard streams as this program uses them. Everything that it says goes through these functions, which
// show what would act on a terminal as escapes (printable() of core): names of files and what files hold are
// not the program's own. Pixels are not said: they go past all that.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/printable.hpp"
#include "io/stream/stream.hpp"

namespace sepconv::app {

/// Gives descriptors 0 to 2 that the caller closed (`2>&-`) a place where reading and writing fail. Else the
/// next file opened would take their number, and messages would be written into an image. To be called
/// before anything is opened.
void reserve_standard_descriptors() noexcept;

/// Lines of the program to stdout. What cannot be written shows in finish_stdout().
void print_lines(std::string_view lines);

/// What moves a terminal's cursor and draws there on purpose, to stdout as it is.
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

/// The same, formatted: line ends are those of `format`, in texts among the values they are shown as escapes.
template <class... Values>
void print(fmt::format_string<Printed<Values>...> format, const Values&... values) {
  print_lines(fmt::vformat(fmt::string_view(format), fmt::make_format_args(printed(values)...)));
}

/// What became of all that was printed: to be asked once, at the end.
enum class StdoutStatus : std::uint8_t { written, broken_pipe, failed };
StdoutStatus finish_stdout() noexcept;

/// Lines to stderr, in one write where stdio can. What is said there may be lost, and is never a reason to
/// fail.
void write_to_stderr(std::string_view lines) noexcept;

/// "warning: SENTENCE" to stderr, a line each.
void warn(const std::vector<std::string>& sentences);

/// "sepconv: SENTENCE" to stderr, as one line.
void print_error(std::string_view sentence) noexcept;
/// The same in place of a progress line, from any thread, and not at all where it would wait for its reader.
void complain_at_once(std::string_view sentence) noexcept;

/// Whether stderr is a terminal on which the cursor moves and colours show.
bool stderr_takes_escapes() noexcept;

bool stdin_is_terminal() noexcept;
bool stdout_is_terminal() noexcept;
/// The device of that terminal; empty if it is none.
std::string stdout_terminal();

/// Images that come and go there: see bytes_from(). What is printed to stdout would come between their bytes.
InputStream open_stdin(const OpenOptions& options, std::stop_token stop);
std::unique_ptr<RasterSetWriter> create_stdout(StreamFormat format, const RasterSetSpec& spec,
                                               const CreateOptions& options, std::stop_token stop);
/// Puts `text` in the place of the line that the cursor is in.
void rewrite_stderr_line(std::string_view text) noexcept;

}  // namespace sepconv::app
