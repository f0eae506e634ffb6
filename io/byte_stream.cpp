#include "io/byte_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "io/file_errors.hpp"

namespace sepconv {

InputBytes::InputBytes(const InputFile& file, std::int64_t offset, std::int64_t buffer_bytes)
    : file_(&file), buffer_(static_cast<std::size_t>(buffer_bytes)), buffered_end_(offset) {}

InputBytes::InputBytes(std::string name, ReadBytes read)
    : name_(std::move(name)),
      read_(std::move(read)),
      buffer_(static_cast<std::size_t>(kStreamBytes)),
      buffered_end_(0) {}

std::int64_t InputBytes::read_some(std::span<std::byte> bytes) {
  const std::int64_t count =
      file_ != nullptr ? file_->read_some_at(buffered_end_, bytes) : static_cast<std::int64_t>(read_(bytes));
  buffered_end_ += count;
  return count;
}

bool InputBytes::fill() {
  rest_ = std::span(buffer_).first(static_cast<std::size_t>(read_some(buffer_)));
  return !rest_.empty();
}

void InputBytes::throw_end(std::span<std::byte> missing) const {
  if (file_ != nullptr) file_->read_at(buffered_end_, missing);  // reports the missing bytes
  throw_read_error(name_,
                   fmt::format("it ends at byte {} where {} more bytes are expected; check why the sender "
                               "ended",
                               buffered_end_, missing.size()));
}

std::span<const std::byte> InputBytes::next() {
  if (rest_.empty()) fill();
  return std::exchange(rest_, {});
}

void InputBytes::read(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    std::size_t count = std::min(bytes.size(), rest_.size());
    if (count > 0) {
      std::copy_n(rest_.begin(), count, bytes.begin());
      rest_ = rest_.subspan(count);
    } else if (bytes.size() >= buffer_.size()) {
      count = static_cast<std::size_t>(read_some(bytes));  // large reads bypass the buffer
      if (count == 0) throw_end(bytes);
    } else if (!fill()) {
      throw_end(bytes);
    }
    bytes = bytes.subspan(count);
  }
}

void InputBytes::skip(std::int64_t bytes) {
  for (;;) {
    const std::int64_t buffered = std::min(bytes, std::ssize(rest_));
    rest_ = rest_.subspan(static_cast<std::size_t>(buffered));
    bytes -= buffered;
    if (bytes == 0) return;
    if (file_ != nullptr) {
      buffered_end_ += bytes;
      return;
    }
    if (!fill()) throw_end(std::span(buffer_).first(static_cast<std::size_t>(std::min(bytes, kStreamBytes))));
  }
}

OutputBytes::OutputBytes(OutputFile& file) : file_(&file), buffer_(static_cast<std::size_t>(kStreamBytes)) {}

OutputBytes::OutputBytes(std::vector<std::byte>& memory)
    : memory_(&memory), buffer_(static_cast<std::size_t>(kStreamBytes)) {}

OutputBytes::OutputBytes(WriteBytes write)
    : write_(std::move(write)), buffer_(static_cast<std::size_t>(kStreamBytes)) {}

void OutputBytes::put(std::span<const std::byte> bytes) {
  if (file_ != nullptr) {
    file_->write_at(offset_, bytes);
  } else if (write_) {
    write_(bytes);
  } else {
    memory_->insert(memory_->end(), bytes.begin(), bytes.end());
  }
  offset_ += std::ssize(bytes);
}

void OutputBytes::write(std::span<const std::byte> bytes) {
  if (filled_ + bytes.size() > buffer_.size()) flush();
  if (bytes.size() > buffer_.size()) {
    put(bytes);
    return;
  }
  std::copy(bytes.begin(), bytes.end(), buffer_.begin() + static_cast<std::ptrdiff_t>(filled_));
  filled_ += bytes.size();
}

void OutputBytes::flush() { put(std::span(buffer_).first(std::exchange(filled_, 0))); }

}  // namespace sepconv
