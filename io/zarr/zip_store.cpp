// Reads a Zarr in a zip file without unpacking it: PKWARE's APPNOTE.TXT 6.3.10, with ZIP64.
#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <utility>

#include "core/memory.hpp"
#include "io/byte_order.hpp"
#include "io/file_errors.hpp"
#include "io/zarr/zarr_store.hpp"

namespace sepconv {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint32_t kEnd = 0x06054b50, kEnd64 = 0x06064b50, kLocator64 = 0x07064b50, kEntry = 0x02014b50,
                        kLocal = 0x04034b50;
constexpr std::int64_t kEndBytes = 22, kLocatorBytes = 20, kEnd64Bytes = 56, kEntryBytes = 46,
                       kLocalBytes = 30;
constexpr std::int64_t kMaxComment = 65535;
/// Maximum size of the central directory, which is kept in memory: about a million names.
constexpr std::int64_t kMaxDirectory = std::int64_t{256} << 20;

std::int64_t read_number(Bytes bytes, std::int64_t at, std::size_t count) {
  return static_cast<std::int64_t>(read_unsigned(bytes.subspan(static_cast<std::size_t>(at), count), false));
}

/// A member's entry in the central directory.
struct Member {
  std::int64_t flags, method, crc, stored_bytes, bytes, offset;
  std::string_view name;
  std::int64_t entry_bytes;  ///< size of the entry
};

/// Reads the sizes and the offset that do not fit in 32 bits from extra field 1 (ZIP64), in this order.
bool read_zip64_fields(Bytes extra, Member& member) {
  constexpr std::int64_t kInExtraField = 0xFFFFFFFF;
  while (extra.size() >= 4) {
    const std::int64_t id = read_number(extra, 0, 2), size = read_number(extra, 2, 2);
    if (size > std::ssize(extra) - 4) return false;
    Bytes field = extra.subspan(4, static_cast<std::size_t>(size));
    for (std::int64_t* const value : {&member.bytes, &member.stored_bytes, &member.offset}) {
      if (id != 1 || *value != kInExtraField) continue;
      if (field.size() < 8) return false;
      *value = read_number(field, 0, 8);
      field = field.subspan(8);
    }
    extra = extra.subspan(4 + static_cast<std::size_t>(size));
  }
  return member.bytes >= 0 && member.stored_bytes >= 0 && member.offset >= 0;
}

/// Whether the checksum of a member was verified, which is required before parts of it are read.
struct CheckState {
  std::mutex& mutex;
  std::uint8_t& is_verified;
};

class ZipObject final : public ZarrObject {
 public:
  ZipObject(const InputFile& file, std::filesystem::path name, const Member& member, std::int64_t offset,
            const CheckState& check)
      : file_(file),
        name_(std::move(name)),
        bytes_(member.bytes),
        stored_bytes_(member.stored_bytes),
        crc_(static_cast<std::uint32_t>(member.crc)),
        deflated_(member.method != 0),
        offset_(offset),
        check_(check) {}

  std::int64_t size() const noexcept override { return bytes_; }

  void read_at(std::int64_t offset, std::span<std::byte> bytes) const override {
    const bool whole = offset == 0 && std::ssize(bytes) == bytes_;
    if (!deflated_) {
      if (!whole) check_all();
      file_.read_at(offset_ + offset, bytes);
    } else if (whole) {
      inflate(bytes);
    } else {
      throw_read_error(name_,
                       "it is deflated, so no part of it can be read separately; store shards in the zip "
                       "file as they are");
    }
    if (whole) check(libdeflate_crc32(0, bytes.data(), bytes.size()));
  }

 private:
  void check(std::uint32_t sum) const {
    if (sum != crc_) throw_read_error(name_, "its checksum (CRC-32) is wrong; copy the zip file again");
  }

  /// Verifies the checksum of the whole member once.
  void check_all() const {
    constexpr std::int64_t kPieceBytes = 64 << 10;
    const std::lock_guard lock(check_.mutex);
    if (check_.is_verified != 0) return;
    const Buffer buffer(kPieceBytes);
    std::uint32_t sum = 0;
    for (std::int64_t at = 0; at < bytes_; at += kPieceBytes) {
      const auto piece = buffer.bytes().first(static_cast<std::size_t>(std::min(kPieceBytes, bytes_ - at)));
      file_.read_at(offset_ + at, piece);
      sum = libdeflate_crc32(sum, piece.data(), piece.size());
    }
    check(sum);
    check_.is_verified = 1;
  }

  void inflate(std::span<std::byte> bytes) const {
    const Buffer stored(std::max<std::int64_t>(1, stored_bytes_));
    const auto from = stored.bytes().first(static_cast<std::size_t>(stored_bytes_));
    file_.read_at(offset_, from);
    const std::unique_ptr<libdeflate_decompressor, decltype(&libdeflate_free_decompressor)> inflater(
        libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
    if (!inflater) throw OutOfMemory("no memory is left for a codec of a zip file");
    if (libdeflate_deflate_decompress(inflater.get(), from.data(), from.size(), bytes.data(), bytes.size(),
                                      nullptr) != LIBDEFLATE_SUCCESS)
      throw_read_error(name_, "its deflate data are damaged; copy the zip file again");
  }

  const InputFile& file_;
  std::filesystem::path name_;
  std::int64_t bytes_, stored_bytes_;
  std::uint32_t crc_;
  bool deflated_;
  std::int64_t offset_;
  CheckState check_;
};

class ZipStore final : public ZarrStore {
  auto name_at() const {
    return [this](std::uint32_t at) { return member(at).name; };
  }

 public:
  explicit ZipStore(InputFile file) : file_(std::move(file)) {
    read_directory();
    for (std::int64_t at = 0; at < std::ssize(directory_); at += member(at).entry_bytes)
      members_.push_back(static_cast<std::uint32_t>(at));
    // The last of several members with the same name is used.
    std::ranges::stable_sort(members_, {}, [this](std::uint32_t at) { return member(at).name; });
    verified_.resize(members_.size());
  }

  const std::filesystem::path& path() const noexcept override { return file_.path(); }
  std::int64_t changed_ns() const noexcept override { return file_.changed_ns(); }
  std::int64_t memory_bytes() const noexcept override {
    return static_cast<std::int64_t>(directory_.capacity() +
                                     members_.capacity() * (sizeof(members_[0]) + sizeof(verified_[0])));
  }

  std::unique_ptr<ZarrObject> open(const std::string& key) const override {
    const auto after = std::ranges::upper_bound(members_, key, {}, name_at());
    if (after == members_.begin()) return nullptr;
    const Member found = member(*std::prev(after));
    if (found.name != key) return nullptr;
    constexpr std::int64_t kEncrypted = 1, kDeflated = 8;
    const auto refuse = [&](std::string_view why) { throw_read_error(name_of(key), why); };
    if ((found.flags & kEncrypted) != 0) refuse("it is encrypted; decrypt the zip file");
    if (found.method != 0 && found.method != kDeflated)
      refuse(fmt::format(
          "it is compressed by the zip method {}, which is not read here; store it, or deflate it",
          found.method));
    std::array<std::byte, kLocalBytes> local{};
    if (found.offset > file_.size() - kLocalBytes) damaged();
    file_.read_at(found.offset, local);
    const std::int64_t offset =
        found.offset + kLocalBytes + read_number(local, 26, 2) + read_number(local, 28, 2);
    if (read_number(local, 0, 4) != kLocal || found.stored_bytes > file_.size() - offset ||
        (found.method == 0 && found.stored_bytes != found.bytes))
      damaged();
    const auto index = static_cast<std::size_t>(after - members_.begin() - 1);
    return std::make_unique<ZipObject>(file_, name_of(key), found, offset,
                                       CheckState{mutexes_[index % mutexes_.size()], verified_[index]});
  }

  std::vector<std::string> folders(const std::string& key, std::size_t max_names) const override {
    const std::string prefix = key.empty() ? "" : key + "/";
    std::vector<std::string> names;
    auto next = std::ranges::lower_bound(members_, prefix, {}, name_at());
    while (next != members_.end() && names.size() < max_names && member(*next).name.starts_with(prefix)) {
      const std::string_view rest = member(*next).name.substr(prefix.size());
      const std::size_t slash = rest.find('/');
      if (slash == rest.npos) {
        ++next;
        continue;
      }
      names.emplace_back(rest.substr(0, slash));
      const std::string next_key = prefix + names.back() + static_cast<char>('/' + 1);
      next = std::ranges::lower_bound(members_, next_key, {}, name_at());
    }
    return names;
  }

  void for_each_object(const std::string& key, std::size_t,
                       const std::function<bool(std::string_view)>& visit) const override {
    const std::string prefix = key.empty() ? "" : key + "/";
    std::string_view previous;
    for (auto next = std::ranges::lower_bound(members_, prefix, {}, name_at()); next != members_.end();
         ++next) {
      const std::string_view name = member(*next).name;
      if (!name.starts_with(prefix)) return;
      const bool is_object = !name.ends_with('/') && name != previous;
      previous = name;
      if (is_object && !visit(name.substr(prefix.size()))) return;
    }
  }

 private:
  [[noreturn]] void damaged() const {
    throw_read_error(path(), "it is not a zip file, or a damaged one; copy it again");
  }

  void read_directory() {
    std::vector<std::byte> tail(static_cast<std::size_t>(std::min(file_.size(), kEndBytes + kMaxComment)));
    const std::int64_t tail_offset = file_.size() - std::ssize(tail);
    file_.read_at(tail_offset, tail);
    std::int64_t at = std::ssize(tail) - kEndBytes;
    while (at >= 0 && read_number(tail, at, 4) != kEnd) --at;
    if (at < 0) damaged();
    std::int64_t bytes = read_number(tail, at + 12, 4), offset = read_number(tail, at + 16, 4);
    if (at >= kLocatorBytes && read_number(tail, at - kLocatorBytes, 4) == kLocator64) {
      const std::int64_t end64 = read_number(tail, at - kLocatorBytes + 8, 8);
      std::array<std::byte, kEnd64Bytes> record{};
      if (end64 < 0 || end64 > file_.size() - kEnd64Bytes) damaged();
      file_.read_at(end64, record);
      if (read_number(record, 0, 4) != kEnd64) damaged();
      bytes = read_number(record, 40, 8), offset = read_number(record, 48, 8);
    }
    if (bytes < 0 || offset < 0 || offset > file_.size() || bytes > file_.size() - offset) damaged();
    if (bytes > kMaxDirectory)
      throw_read_error(path(),
                       fmt::format("its list of members takes {} bytes, more than is held; unpack it, or "
                                   "write shards instead of chunks",
                                   bytes));
    directory_.resize(static_cast<std::size_t>(bytes));
    file_.read_at(offset, directory_);
  }

  Member member(std::int64_t at) const {
    const Bytes entry = Bytes(directory_).subspan(static_cast<std::size_t>(at));
    if (std::ssize(entry) < kEntryBytes || read_number(entry, 0, 4) != kEntry) damaged();
    const std::int64_t name = read_number(entry, 28, 2), extra = read_number(entry, 30, 2);
    const std::int64_t entry_bytes = kEntryBytes + name + extra + read_number(entry, 32, 2);
    if (entry_bytes > std::ssize(entry)) damaged();
    Member found{read_number(entry, 8, 2),
                 read_number(entry, 10, 2),
                 read_number(entry, 16, 4),
                 read_number(entry, 20, 4),
                 read_number(entry, 24, 4),
                 read_number(entry, 42, 4),
                 {},
                 entry_bytes};
    found.name = {reinterpret_cast<const char*>(entry.data() + kEntryBytes), static_cast<std::size_t>(name)};
    const auto fields =
        entry.subspan(static_cast<std::size_t>(kEntryBytes + name), static_cast<std::size_t>(extra));
    if (!read_zip64_fields(fields, found)) damaged();
    return found;
  }

  InputFile file_;
  std::vector<std::byte> directory_;
  std::vector<std::uint32_t> members_;  ///< offsets in the directory, sorted by name
  mutable std::vector<std::uint8_t> verified_;
  mutable std::array<std::mutex, 16> mutexes_;  ///< several members are checked simultaneously
};

}  // namespace

std::unique_ptr<ZarrStore> open_zip_store(InputFile file) {
  return std::make_unique<ZipStore>(std::move(file));
}

}  // namespace sepconv
