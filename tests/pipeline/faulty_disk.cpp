#include "faulty_disk.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace sepconv {
namespace {

/// A separate descriptor of a file, which shares no lock with the program's.
struct Descriptor {
  explicit Descriptor(int descriptor)
      : number(open(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), O_RDWR | O_CLOEXEC)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close(number); }
  int number;
};

struct Write {
  std::shared_ptr<Descriptor> file;
  dev_t device;
  ino_t inode;
  off_t offset;
  std::vector<char> previous_bytes;  // the previous bytes, up to the end of the file
  std::size_t bytes;
  bool is_refused = false;  // by a failed sync
};

struct State {
  std::mutex mutex;
  std::string folder;  // empty: inactive
  std::int64_t changes = 0, fail_at_change = 0, removed_while_open = 0;
  bool has_failed = false, refuses_sync = false;
  std::vector<Write> unsynced;
};

State& shared_state() {
  static State instance;
  return instance;
}

template <class Function>
Function* system_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool is_on_disk(const std::string& path) {
  return !shared_state().folder.empty() && path.starts_with(shared_state().folder);
}

std::string path_of(int descriptor) {
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = readlink(link.c_str(), path, sizeof path);
  return {path, static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

bool is_on_disk(int descriptor) { return is_on_disk(path_of(descriptor)); }

/// Whether the program has `path` open, not counting this disk's descriptors.
bool is_open(const std::string& path) {
  const auto is_ours = [](int number) {
    return std::ranges::any_of(shared_state().unsynced,
                               [&](const Write& write) { return write.file->number == number; });
  };
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code ignored;
    if (std::filesystem::read_symlink(entry.path(), ignored) == path &&
        !is_ours(std::stoi(entry.path().filename().native())))
      return true;
  }
  return false;
}

/// Counts a removed file that is open. `name` is relative to `folder`, unless that is AT_FDCWD.
void note_removed(int folder, const char* name) {
  const std::scoped_lock lock(shared_state().mutex);
  const std::string path = folder == AT_FDCWD ? name : path_of(folder) + "/" + name;
  struct stat status {};
  if (is_on_disk(path) && lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && is_open(path))
    ++shared_state().removed_while_open;
}

int refused() {
  errno = EIO;
  return -1;
}

/// Counts a change and returns whether it may be made. Needs the lock.
bool count_change() {
  if (++shared_state().changes == shared_state().fail_at_change) shared_state().has_failed = true;
  return !shared_state().has_failed;
}

/// Whether the file with this name or descriptor may be changed.
template <class Name>
bool may_change(const Name& name) {
  const std::scoped_lock lock(shared_state().mutex);
  return !is_on_disk(name) || count_change();
}

/// Whether the write may proceed. Saves the bytes that it replaces.
bool save_replaced(int descriptor, std::size_t bytes, off_t offset) {
  const std::scoped_lock lock(shared_state().mutex);
  if (!is_on_disk(descriptor)) return true;
  if (!count_change()) return false;
  struct stat status {};
  fstat(descriptor, &status);
  std::vector<char> previous_bytes(bytes);
  const ssize_t count = pread(descriptor, previous_bytes.data(), bytes, offset);
  previous_bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  const auto same_file = std::ranges::find_if(shared_state().unsynced, [&](const Write& write) {
    return write.device == status.st_dev && write.inode == status.st_ino;
  });
  const auto file =
      same_file != shared_state().unsynced.end() ? same_file->file : std::make_shared<Descriptor>(descriptor);
  shared_state().unsynced.push_back(
      {file, status.st_dev, status.st_ino, offset, std::move(previous_bytes), bytes});
  return true;
}

/// Syncs the writes for which `wanted` is true.
template <class Wanted>
int sync_writes(const Wanted& selects) {
  const std::scoped_lock lock(shared_state().mutex);
  if (shared_state().has_failed) return refused();
  const bool is_refused = std::exchange(shared_state().refuses_sync, false);
  for (Write& write : shared_state().unsynced)
    write.is_refused = write.is_refused || (is_refused && selects(write));
  if (is_refused) return refused();
  std::erase_if(shared_state().unsynced,
                [&](const Write& write) { return selects(write) && !write.is_refused; });
  return 0;  // the real disk need not sync
}

int sync_file(int descriptor) {
  struct stat status {};
  fstat(descriptor, &status);
  return sync_writes(
      [&](const Write& write) { return write.device == status.st_dev && write.inode == status.st_ino; });
}

void forget_unsynced() {
  const std::scoped_lock lock(shared_state().mutex);
  shared_state().unsynced.clear();
}

bool overlaps(const Write& a, const Write& b) {
  return a.device == b.device && a.inode == b.inode && a.offset < b.offset + static_cast<off_t>(b.bytes) &&
         b.offset < a.offset + static_cast<off_t>(a.bytes);
}

void undo_write(const Write& write) {
  std::vector<char> bytes = write.previous_bytes;
  bytes.resize(write.bytes);  // bytes beyond the previous end become zeros
  system_function<ssize_t(int, const void*, size_t, off_t)>("pwrite")(write.file->number, bytes.data(),
                                                                      bytes.size(), write.offset);
}

}  // namespace

FaultyDisk::FaultyDisk(std::filesystem::path folder) : folder_(std::move(folder)) {
  const std::scoped_lock lock(shared_state().mutex);
  shared_state().folder = folder_.native();
  shared_state().removed_while_open = 0;
}

FaultyDisk::~FaultyDisk() {
  forget_unsynced();
  const std::scoped_lock lock(shared_state().mutex);
  shared_state().folder.clear();
  shared_state().has_failed = false;
}

void FaultyDisk::fail_at_change(std::int64_t change) {
  const std::scoped_lock lock(shared_state().mutex);
  shared_state().changes = 0;
  shared_state().fail_at_change = change;
  shared_state().has_failed = false;
}

std::int64_t FaultyDisk::changes() const {
  const std::scoped_lock lock(shared_state().mutex);
  return shared_state().changes;
}

std::int64_t FaultyDisk::removed_while_open() const {
  const std::scoped_lock lock(shared_state().mutex);
  return shared_state().removed_while_open;
}

void FaultyDisk::refuse_sync() {
  const std::scoped_lock lock(shared_state().mutex);
  shared_state().refuses_sync = true;
}

void FaultyDisk::lose_unsynced(double fraction, std::uint64_t seed) {
  {
    const std::scoped_lock lock(shared_state().mutex);
    std::mt19937_64 random(seed);
    std::vector<const Write*> retained;
    std::vector<Write>& instance = shared_state().unsynced;
    for (std::size_t i = instance.size(); i-- > 0;) {
      const bool is_retained = std::uniform_real_distribution<>()(random) >= fraction;
      if (is_retained ||
          std::ranges::any_of(retained, [&](const Write* later) { return overlaps(*later, instance[i]); })) {
        retained.push_back(&instance[i]);
      } else {
        undo_write(instance[i]);
      }
    }
  }
  forget_unsynced();
}

}  // namespace sepconv

// Replacements of the system calls that the library uses.
extern "C" {

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  using namespace sepconv;
  if (!save_replaced(descriptor, count, offset)) return refused();
  return system_function<ssize_t(int, const void*, size_t, off_t)>("pwrite")(descriptor, bytes, count,
                                                                             offset);
}

int fdatasync(int descriptor) { return sepconv::sync_file(descriptor); }
int fsync(int descriptor) { return sepconv::sync_file(descriptor); }

int syncfs(int) noexcept {
  return sepconv::sync_writes([](const sepconv::Write&) { return true; });
}

int rename(const char* from, const char* to) noexcept {
  using namespace sepconv;
  return may_change(std::string(from)) ? system_function<int(const char*, const char*)>("rename")(from, to)
                                       : refused();
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  using namespace sepconv;
  if (!may_change(std::string(from))) return refused();
  return system_function<int(int, const char*, int, const char*, unsigned)>("renameat2")(
      from_folder, from, to_folder, to, flags);
}

int unlink(const char* name) noexcept {
  using namespace sepconv;
  note_removed(AT_FDCWD, name);
  return may_change(std::string(name)) ? system_function<int(const char*)>("unlink")(name) : refused();
}

int remove(const char* name) noexcept {
  using namespace sepconv;
  note_removed(AT_FDCWD, name);
  return may_change(std::string(name)) ? system_function<int(const char*)>("remove")(name) : refused();
}

int unlinkat(int folder, const char* name, int flags) noexcept {
  using namespace sepconv;
  note_removed(folder, name);
  const bool allowed = folder == AT_FDCWD ? may_change(std::string(name)) : may_change(folder);
  return allowed ? system_function<int(int, const char*, int)>("unlinkat")(folder, name, flags) : refused();
}

int ftruncate(int descriptor, off_t bytes) noexcept {
  using namespace sepconv;
  return may_change(descriptor) ? system_function<int(int, off_t)>("ftruncate")(descriptor, bytes)
                                : refused();
}

}  // extern "C"
