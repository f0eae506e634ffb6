#include "sepconv/io/byte_stream.hpp"

#include <algorithm>
#include <utility>

namespace sepconv {

InputBytes::InputBytes(const InputFile& file, std::int64_t offset, std::int64_t buffer_bytes)
    : file_(file), buffer_(static_cast<std::size_t>(buffer_bytes)), buffered_end_(offset) {}

bool InputBytes::fill() {
  const std::int64_t count = file_.read_some_at(buffered_end_, buffer_);
  rest_ = std::span(buffer_).first(static_cast<std::size_t>(count));
  buffered_end_ += count;
  return count > 0;
}

std::span<const std::byte> InputBytes::next() {
  if (rest_.empty()) fill();
  return std::exchange(rest_, {});
}

void InputBytes::read(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    // What is large goes past the buffer; at the end of the file read_at() says what is missing.
    if (rest_.empty() && (bytes.size() >= buffer_.size() || !fill())) {
      file_.read_at(buffered_end_, bytes);
      buffered_end_ += std::ssize(bytes);
      return;
    }
    const std::size_t count = std::min(bytes.size(), rest_.size());
    std::copy_n(rest_.begin(), count, bytes.begin());
    rest_ = rest_.subspan(count);
    bytes = bytes.subspan(count);
  }
}

void InputBytes::skip(std::int64_t bytes) {
  const std::int64_t held = std::min(bytes, std::ssize(rest_));
  rest_ = rest_.subspan(static_cast<std::size_t>(held));
  buffered_end_ += bytes - held;
}

OutputBytes::OutputBytes(OutputFile& file) : file_(&file), buffer_(static_cast<std::size_t>(kStreamBytes)) {}

OutputBytes::OutputBytes(std::vector<std::byte>& memory)
    : memory_(&memory), buffer_(static_cast<std::size_t>(kStreamBytes)) {}

void OutputBytes::put(std::span<const std::byte> bytes) {
  if (file_ != nullptr) {
    file_->write_at(offset_, bytes);
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
