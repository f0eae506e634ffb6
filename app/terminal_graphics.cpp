#include "terminal_graphics.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <span>
#include <string_view>
#include <vector>

#include "console.hpp"
#include "core/base64.hpp"
#include "core/error.hpp"
#include "io/png/png_pixels.hpp"

namespace sepconv::app {

namespace {

/// Timeout for a reply: long enough for a terminal on a slow line. A terminal that does not know the query
/// never replies.
constexpr std::chrono::milliseconds kReplyTimeout{500};

bool is_set(const char* name, std::string_view value = "") {
  const char* const found = std::getenv(name);
  return found != nullptr && *found != '\0' && (value.empty() || value == found);
}

bool contains(const char* name, std::string_view part) {
  const char* const found = std::getenv(name);
  return found != nullptr && std::string_view(found).find(part) != std::string_view::npos;
}

/// Switches the terminal to unbuffered input without echo during its lifetime.
class RawTerminal {
 public:
  explicit RawTerminal(int descriptor)
      : descriptor_(descriptor), is_terminal_(tcgetattr(descriptor, &saved_) == 0) {
    if (!is_terminal_) return;
    termios raw = saved_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(descriptor_, TCSANOW, &raw);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  ~RawTerminal() {
    if (is_terminal_) tcsetattr(descriptor_, TCSANOW, &saved_);
  }

 private:
  int descriptor_;
  termios saved_{};
  bool is_terminal_;
};

/// The terminal's reply to `query` up to the character `last`, or the part that arrived before the
/// timeout.
std::string query_terminal(std::string_view query, char last) {
  const int terminal = open(stdout_terminal().c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY);
  if (terminal < 0) return "";
  std::string reply;
  {
    const RawTerminal raw(terminal);
    static_cast<void>(!write(terminal, query.data(), query.size()));
    const auto end = std::chrono::steady_clock::now() + kReplyTimeout;
    while (reply.find(last) == std::string::npos) {
      const auto remaining =
          std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
      pollfd poll_request{terminal, POLLIN, 0};
      if (remaining.count() <= 0 || poll(&poll_request, 1, static_cast<int>(remaining.count())) <= 0) break;
      std::array<char, 256> chunk{};
      const ssize_t count = read(terminal, chunk.data(), chunk.size());
      if (count <= 0) break;
      reply.append(chunk.data(), static_cast<std::size_t>(count));
    }
  }
  close(terminal);
  return reply;
}

/// Sends two queries: kitty's, for an image of one pixel, and the device attributes. A terminal without
/// kitty's protocol replies only to the second. Attribute 4 means sixel.
PictureProtocol query_protocol() {
  const std::string reply = query_terminal("\033_Gi=1,s=1,v=1,a=q,t=d,f=24;AAAA\033\\\033[c", 'c');
  if (reply.find("\033_Gi=1;OK") != std::string::npos) return PictureProtocol::kitty;
  const std::size_t begin = reply.find("\033[?");
  if (begin == std::string::npos) return PictureProtocol::none;
  const std::string attributes = ";" + reply.substr(begin + 3, reply.find('c', begin) - begin - 3) + ";";
  return attributes.find(";4;") != std::string::npos ? PictureProtocol::sixel : PictureProtocol::none;
}

std::string to_kitty(const std::vector<std::byte>& png) {
  constexpr std::size_t kChunk = 4096;  // maximum payload of an escape sequence
  const std::string data = base64(png);
  std::string text;
  for (std::size_t at = 0; at < data.size(); at += kChunk) {
    const bool more = at + kChunk < data.size();
    text += fmt::format("\033_G{}m={};{}\033\\", at == 0 ? "a=T,f=100,q=2," : "", more ? 1 : 0,
                        std::string_view(data).substr(at, kChunk));
  }
  return text + "\n";
}

std::string to_iterm(const std::vector<std::byte>& png) {
  return fmt::format("\033]1337;File=inline=1;size={}:{}\a\n", png.size(), base64(png));
}

/// Maps pixels to 216 of sixel's 256 colours, 6 levels each of red, green and blue, with ordered dither
/// (Bayer 1973).
class SixelColours {
 public:
  static constexpr int kLevels = 6, kCount = kLevels * kLevels * kLevels, kClear = kCount;

  explicit SixelColours(const Preview& picture) : picture_(picture) {}

  /// kClear where the picture is transparent.
  int at(std::int64_t row, std::int64_t col) const {
    const std::uint8_t* const pixel =
        picture_.pixels.data() + (row * picture_.extent.cols + col) * picture_.channels;
    if (picture_.channels == 4 && pixel[3] < 128) return kClear;
    int colour = 0;
    for (int k = 0; k < 3; ++k)
      colour = colour * kLevels + level(pixel[picture_.channels == 1 ? 0 : k], row, col);
    return colour;
  }

 private:
  static int level(int value, std::int64_t row, std::int64_t col) {
    constexpr int kBayer[4][4] = {{0, 8, 2, 10}, {12, 4, 14, 6}, {3, 11, 1, 9}, {15, 7, 13, 5}};
    return (value * (kLevels - 1) * 16 + 255 * kBayer[row % 4][col % 4]) / (255 * 16);
  }

  const Preview& picture_;
};

/// The sixel data of one colour in six rows of `cols` pixels.
std::string sixel_line(const std::vector<int>& six_rows, std::int64_t cols, int colour) {
  std::string text;
  std::int64_t run = 0;
  char run_character = 0;
  const auto flush_run = [&] {
    if (run > 3)
      text += fmt::format("!{}{}", run, run_character);
    else
      text.append(static_cast<std::size_t>(run), run_character);
  };
  for (std::int64_t col = 0; col < cols; ++col) {
    int bits = 0;
    for (int k = 0; k < 6; ++k)
      bits |= (six_rows[static_cast<std::size_t>(k * cols + col)] == colour ? 1 : 0) << k;
    const char character = static_cast<char>('?' + bits);
    if (character != run_character) {
      flush_run();
      run = 0;
      run_character = character;
    }
    ++run;
  }
  flush_run();
  return text;
}

std::string to_sixel(const Preview& picture) {
  const auto [rows, cols] = picture.extent;
  const SixelColours colours(picture);
  std::string text = fmt::format("\033P0;1q\"1;1;{};{}", cols, rows);
  constexpr int kLevels = SixelColours::kLevels;
  for (int i = 0; i < SixelColours::kCount; ++i)
    text += fmt::format("#{};2;{};{};{}", i, i / kLevels / kLevels * 20, i / kLevels % kLevels * 20,
                        i % kLevels * 20);
  for (std::int64_t row = 0; row < rows; row += 6) {
    std::vector<int> six(static_cast<std::size_t>(6 * cols), SixelColours::kClear);
    std::array<bool, SixelColours::kCount + 1> used{};
    for (std::int64_t i = 0; i < 6 * cols && row + i / cols < rows; ++i) {
      const int colour = colours.at(row + i / cols, i % cols);
      six[static_cast<std::size_t>(i)] = colour;
      used[static_cast<std::size_t>(colour)] = true;
    }
    for (int colour = 0; colour < SixelColours::kCount; ++colour) {
      if (used[static_cast<std::size_t>(colour)])
        text += fmt::format("#{}{}$", colour, sixel_line(six, cols, colour));
    }
    text += "-";
  }
  return text + "\033\\\n";
}

}  // namespace

PictureProtocol picture_protocol() {
  if (!stdout_is_terminal() || is_set("TERM", "dumb") || is_set("TERM", "linux"))
    return PictureProtocol::none;
  // A multiplexer may not support what the outer terminal supports.
  const bool in_multiplexer = is_set("TMUX") || is_set("STY");
  if (!in_multiplexer) {
    if (is_set("KITTY_WINDOW_ID") || contains("TERM", "kitty") || is_set("TERM_PROGRAM", "ghostty"))
      return PictureProtocol::kitty;
    if (is_set("TERM_PROGRAM", "iTerm.app") || is_set("LC_TERMINAL", "iTerm2") ||
        is_set("TERM_PROGRAM", "WezTerm"))
      return PictureProtocol::iterm;
  }
  return query_protocol();
}

std::int64_t terminal_pixels() {
  const int terminal = open(stdout_terminal().c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  winsize size{};
  const bool is_known = terminal >= 0 && ioctl(terminal, TIOCGWINSZ, &size) == 0;
  if (terminal >= 0) close(terminal);
  return is_known ? size.ws_xpixel : 0;
}

std::string picture_text(const Preview& picture, PictureProtocol protocol) {
  const auto png = [&picture] {
    std::vector<std::uint8_t> pixels = picture.pixels;
    return encode_png_in_memory(view_of(pixels.data(), picture.extent, picture.channels));
  };
  switch (protocol) {
    case PictureProtocol::kitty:
      return to_kitty(png());
    case PictureProtocol::iterm:
      return to_iterm(png());
    case PictureProtocol::sixel:
      return to_sixel(picture);
    case PictureProtocol::none:
      break;
  }
  throw InvalidArgument(
      "preview has nowhere to show a picture: standard output is not a terminal that is known to show pictures "
      "(kitty, iTerm2, sixel); give -o FILE, like -o view.png");
}

}  // namespace sepconv::app
