#include "mlp_data.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>

#include "sepconv/format.hpp"

namespace mlp {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& fact) {
  throw sepconv::IoError("cannot read " + path.native() + ": " + fact);
}

/// Opens the file. Throws a specific error if only the compressed file exists, as MNIST is distributed.
sepconv::InputFile open(const std::filesystem::path& path) {
  const std::filesystem::path packed = path.native() + ".gz";
  if (!std::filesystem::exists(path) && std::filesystem::exists(packed))
    refuse(path, "only " + packed.filename().native() + " is there; unpack it with gunzip");
  return sepconv::InputFile(path);
}

std::uint32_t big_endian(std::span<const std::uint8_t, 4> bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 |
         bytes[3];
}

struct Idx {
  std::vector<std::int64_t> sizes;
  std::vector<std::uint8_t> bytes;
};

/// Checks the first four bytes of the file: two of 0, 8 for unsigned bytes, and the number of dimensions.
void check_kind(const std::filesystem::path& path, std::span<const std::uint8_t, 4> magic,
                std::size_t dimensions) {
  if (magic[0] == 0x1f && magic[1] == 0x8b) refuse(path, "it is compressed by gzip; unpack it with gunzip");
  const std::array<std::uint8_t, 4> expected{0, 0, 8, static_cast<std::uint8_t>(dimensions)};
  if (!std::ranges::equal(magic, expected)) {
    refuse(path, "its magic number is " + std::to_string(big_endian(magic)) + " and not " +
                     std::to_string(big_endian(expected)) + "; it is not an IDX file of bytes with " +
                     std::to_string(dimensions) + (dimensions == 1 ? " dimension" : " dimensions"));
  }
}

Idx read_idx(const std::filesystem::path& path, std::size_t dimensions) {
  const sepconv::InputFile file = open(path);
  std::vector<std::uint8_t> header(4 + 4 * dimensions);
  const std::int64_t read = file.read_some_at(0, std::as_writable_bytes(std::span(header)));
  if (read >= 4) check_kind(path, std::span(header).first<4>(), dimensions);
  if (read < std::ssize(header)) refuse(path, "it ends inside its header; it is cut off");

  Idx idx;
  const std::int64_t remaining = file.size() - std::ssize(header);
  std::int64_t needed = 1;
  std::string shape;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const std::int64_t size = big_endian(std::span(header).subspan(4 + 4 * i).first<4>());
    if (size == 0) refuse(path, "its header says that it is empty");
    idx.sizes.push_back(size);
    shape += (i == 0 ? "" : " x ") + std::to_string(size);
    needed =
        needed > remaining / size ? remaining + 1 : needed * size;  // exceeds the remaining bytes: the exact
                                                                    // product does not matter
  }
  if (needed != remaining) {
    refuse(path, "its header says " + shape + " bytes and " + std::to_string(remaining) + " follow; it is " +
                     (needed > remaining ? "cut off" : "damaged"));
  }
  idx.bytes.resize(static_cast<std::size_t>(remaining));
  file.read_at(std::ssize(header), std::as_writable_bytes(std::span(idx.bytes)));
  return idx;
}

std::string size_text(const Digits& digits) {
  return std::to_string(digits.rows) + " x " + std::to_string(digits.cols);
}

}  // namespace

Digits read_digits(const std::filesystem::path& images, const std::filesystem::path& labels) {
  Idx pixels = read_idx(images, 3);
  Idx digits = read_idx(labels, 1);
  if (pixels.sizes[0] != digits.sizes[0]) {
    refuse(labels, "it has " + std::to_string(digits.sizes[0]) + " labels for the " +
                       std::to_string(pixels.sizes[0]) + " images of " + images.native() +
                       "; the files do not belong together");
  }
  const auto wrong = std::ranges::find_if(digits.bytes, [](std::uint8_t label) { return label > 9; });
  if (wrong != digits.bytes.end()) {
    refuse(labels, "label " + std::to_string(wrong - digits.bytes.begin()) + ", counted from 0, is " +
                       std::to_string(*wrong) + " and no digit; it is damaged");
  }
  return {pixels.sizes[1], pixels.sizes[2], std::move(pixels.bytes), std::move(digits.bytes)};
}

DataSet read_data_set(const std::filesystem::path& folder) {
  const auto part = [&folder](const std::string& name) {
    return read_digits(folder / (name + "-images-idx3-ubyte"), folder / (name + "-labels-idx1-ubyte"));
  };
  DataSet data{part("train"), part("t10k")};
  if (data.train.rows != data.held_out.rows || data.train.cols != data.held_out.cols) {
    refuse(folder, "its images to learn from have " + size_text(data.train) + " pixels and those held out " +
                       size_text(data.held_out) + "; the files do not belong together");
  }
  return data;
}

}  // namespace mlp
