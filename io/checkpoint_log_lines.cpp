#include "io/checkpoint_log_lines.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <span>

#include "io/crc32c.hpp"

namespace sepconv {
namespace {

constexpr std::size_t kChecksumDigits = 8;
/// The text after the first checksum.
constexpr std::string_view kBegin = " begin ";

bool is_plausible_byte(std::size_t position, char byte) {
  if (byte == '\0') return true;  // a byte that never reached the disk
  return position < kChecksumDigits
             ? std::string_view("0123456789abcdef").find(byte) != std::string_view::npos
             : byte == kBegin[position - kChecksumDigits];
}

/// The text of a line if its checksum, which continues `sum`, is correct; updates `sum`.
std::optional<std::string_view> verified_text(std::string_view line, std::uint32_t& sum) {
  std::uint32_t stored_sum = 0;
  if (line.size() <= kChecksumDigits || line[kChecksumDigits] != ' ') return std::nullopt;
  const char* const end = line.data() + kChecksumDigits;
  const auto [read, error] = std::from_chars(line.data(), end, stored_sum, 16);
  const std::string_view text = line.substr(kChecksumDigits + 1);
  if (error != std::errc() || read != end || journal_checksum(text, sum) != stored_sum) return std::nullopt;
  sum = stored_sum;
  return text;
}

struct CloseFile {
  void operator()(FILE* file) const { fclose(file); }
};
using FileHandle = std::unique_ptr<FILE, CloseFile>;

/// Returns null for symbolic links and for anything but a regular file. Another user may have created a pipe,
/// which would block.
FileHandle open_regular(const std::filesystem::path& path) {
  const int opened = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  struct stat status {};
  const bool is_file = opened >= 0 && fstat(opened, &status) == 0 && S_ISREG(status.st_mode);
  FileHandle file(is_file ? fdopen(opened, "r") : nullptr);
  if (opened >= 0 && !file) close(opened);
  return file;
}

/// Reads a file line by line.
class TextLine {
 public:
  TextLine() = default;
  TextLine(const TextLine&) = delete;
  TextLine& operator=(const TextLine&) = delete;
  ~TextLine() { free(buffer_); }

  /// Returns false if no complete line follows.
  bool read(FILE* file) {
    length_ = getline(&buffer_, &capacity_, file);
    return length_ > 0 && buffer_[length_ - 1] == '\n';
  }
  std::string_view text() const { return {buffer_, static_cast<std::size_t>(length_ - 1)}; }

 private:
  char* buffer_ = nullptr;  // allocated by getline()
  std::size_t capacity_ = 0;
  ssize_t length_ = 0;
};

}  // namespace

bool for_each_line(const std::filesystem::path& path, const std::function<bool(const JournalLine&)>& visit) {
  const FileHandle file = open_regular(path);
  TextLine line;
  std::int64_t end = 0;
  std::uint32_t sum = 0;
  while (file && line.read(file.get())) {
    const std::optional<std::string_view> text = verified_text(line.text(), sum);
    end += std::ssize(line.text()) + 1;
    if (!text) return true;
    if (!visit({*text, end, sum})) return false;
  }
  return false;
}

bool may_be_journal(const std::filesystem::path& path) {
  const FileHandle file = open_regular(path);
  std::array<char, kChecksumDigits + kBegin.size()> bytes{};
  const std::size_t count = file ? fread(bytes.data(), 1, bytes.size(), file.get()) : 0;
  std::size_t damaged = 0;
  for (std::size_t i = 0; i < count; ++i) damaged += !is_plausible_byte(i, bytes[i]);
  return file && kChecksumDigits * damaged <= count;
}

std::uint32_t journal_checksum(std::string_view text, std::uint32_t previous_checksum) {
  return crc32c(std::as_bytes(std::span(text)), previous_checksum);
}

std::string journal_line(std::string_view text, std::uint32_t checksum) {
  return fmt::format("{:08x} {}\n", checksum, text);
}

}  // namespace sepconv
