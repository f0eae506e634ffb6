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

/// A descriptor of its own, which shares no lock with the program's.
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
  std::vector<char> before;  // as far as there was something
  std::size_t bytes;
  bool is_refused = false;  // by a sync
};

struct State {
  std::mutex mutex;
  std::string folder;  // empty: there is no disk
  std::int64_t changes = 0, die_at = 0, removed_while_open = 0;
  bool is_dead = false, refuses_sync = false;
  std::vector<Write> unsynced;
};

State& state() {
  static State all;
  return all;
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool is_below(const std::string& path) { return !state().folder.empty() && path.starts_with(state().folder); }

std::string path_of(int descriptor) {
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
  const ssize_t length = readlink(link.c_str(), path, sizeof path);
  return {path, static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

bool is_below(int descriptor) { return is_below(path_of(descriptor)); }

/// Whether the program has it open, beside what this disk has of it.
bool is_open(const std::string& path) {
  const auto is_own = [](int number) {
    return std::ranges::any_of(state().unsynced,
                               [&](const Write& write) { return write.file->number == number; });
  };
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (std::filesystem::read_symlink(entry.path(), gone) == path &&
        !is_own(std::stoi(entry.path().filename().native())))
      return true;
  }
  return false;
}

/// Of a file that is removed. With a folder's descriptor its name is one within.
void note_removed(int folder, const char* name) {
  const std::scoped_lock lock(state().mutex);
  const std::string path = folder == AT_FDCWD ? name : path_of(folder) + "/" + name;
  struct stat status {};
  if (is_below(path) && lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && is_open(path))
    ++state().removed_while_open;
}

int refused() {
  errno = EIO;
  return -1;
}

/// Whether a change may be made. With the lock.
bool goes_on() {
  if (++state().changes == state().die_at) state().is_dead = true;
  return !state().is_dead;
}

/// The same of a change of what is there by this name or descriptor.
template <class Name>
bool may_change(const Name& name) {
  const std::scoped_lock lock(state().mutex);
  return !is_below(name) || goes_on();
}

/// Whether the write may go on; what it replaces is kept.
bool keep(int descriptor, std::size_t bytes, off_t offset) {
  const std::scoped_lock lock(state().mutex);
  if (!is_below(descriptor)) return true;
  if (!goes_on()) return false;
  struct stat status {};
  fstat(descriptor, &status);
  std::vector<char> before(bytes);
  const ssize_t count = pread(descriptor, before.data(), bytes, offset);
  before.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  const auto known = std::ranges::find_if(state().unsynced, [&](const Write& write) {
    return write.device == status.st_dev && write.inode == status.st_ino;
  });
  const auto file = known != state().unsynced.end() ? known->file : std::make_shared<Descriptor>(descriptor);
  state().unsynced.push_back({file, status.st_dev, status.st_ino, offset, std::move(before), bytes});
  return true;
}

/// Of the writes that are `wanted`.
template <class Wanted>
int synced(const Wanted& wanted) {
  const std::scoped_lock lock(state().mutex);
  if (state().is_dead) return refused();
  const bool is_refused = std::exchange(state().refuses_sync, false);
  for (Write& write : state().unsynced) write.is_refused = write.is_refused || (is_refused && wanted(write));
  if (is_refused) return refused();
  std::erase_if(state().unsynced, [&](const Write& write) { return wanted(write) && !write.is_refused; });
  return 0;  // the disk below need not
}

int file_synced(int descriptor) {
  struct stat status {};
  fstat(descriptor, &status);
  return synced(
      [&](const Write& write) { return write.device == status.st_dev && write.inode == status.st_ino; });
}

void forget_all() {
  const std::scoped_lock lock(state().mutex);
  state().unsynced.clear();
}

bool overlaps(const Write& a, const Write& b) {
  return a.device == b.device && a.inode == b.inode && a.offset < b.offset + static_cast<off_t>(b.bytes) &&
         b.offset < a.offset + static_cast<off_t>(a.bytes);
}

void take_back(const Write& write) {
  std::vector<char> bytes = write.before;
  bytes.resize(write.bytes);  // what was beyond the end reads as zeros
  real<ssize_t(int, const void*, size_t, off_t)>("pwrite")(write.file->number, bytes.data(), bytes.size(),
                                                           write.offset);
}

}  // namespace

LosingDisk::LosingDisk(std::filesystem::path folder) : folder_(std::move(folder)) {
  const std::scoped_lock lock(state().mutex);
  state().folder = folder_.native();
  state().removed_while_open = 0;
}

LosingDisk::~LosingDisk() {
  forget_all();
  const std::scoped_lock lock(state().mutex);
  state().folder.clear();
  state().is_dead = false;
}

void LosingDisk::die_at(std::int64_t change) {
  const std::scoped_lock lock(state().mutex);
  state().changes = 0;
  state().die_at = change;
  state().is_dead = false;
}

std::int64_t LosingDisk::changes() const {
  const std::scoped_lock lock(state().mutex);
  return state().changes;
}

std::int64_t LosingDisk::removed_while_open() const {
  const std::scoped_lock lock(state().mutex);
  return state().removed_while_open;
}

void LosingDisk::refuse_sync() {
  const std::scoped_lock lock(state().mutex);
  state().refuses_sync = true;
}

void LosingDisk::lose(double share, std::uint64_t seed) {
  {
    const std::scoped_lock lock(state().mutex);
    std::mt19937_64 random(seed);
    std::vector<const Write*> kept;
    std::vector<Write>& all = state().unsynced;
    for (std::size_t i = all.size(); i-- > 0;) {
      const bool stays = std::uniform_real_distribution<>()(random) >= share;
      if (stays || std::ranges::any_of(kept, [&](const Write* later) { return overlaps(*later, all[i]); })) {
        kept.push_back(&all[i]);
      } else {
        take_back(all[i]);
      }
    }
  }
  forget_all();
}

}  // namespace sepconv

// What the library calls, in the place of the system's.
extern "C" {

ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t offset) {
  using namespace sepconv;
  if (!keep(descriptor, count, offset)) return refused();
  return real<ssize_t(int, const void*, size_t, off_t)>("pwrite")(descriptor, bytes, count, offset);
}

int fdatasync(int descriptor) { return sepconv::file_synced(descriptor); }
int fsync(int descriptor) { return sepconv::file_synced(descriptor); }

int syncfs(int) noexcept {
  return sepconv::synced([](const sepconv::Write&) { return true; });
}

int rename(const char* from, const char* to) noexcept {
  using namespace sepconv;
  return may_change(std::string(from)) ? real<int(const char*, const char*)>("rename")(from, to) : refused();
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  using namespace sepconv;
  if (!may_change(std::string(from))) return refused();
  return real<int(int, const char*, int, const char*, unsigned)>("renameat2")(from_folder, from, to_folder,
                                                                              to, flags);
}

int unlink(const char* name) noexcept {
  using namespace sepconv;
  note_removed(AT_FDCWD, name);
  return may_change(std::string(name)) ? real<int(const char*)>("unlink")(name) : refused();
}

int remove(const char* name) noexcept {
  using namespace sepconv;
  note_removed(AT_FDCWD, name);
  return may_change(std::string(name)) ? real<int(const char*)>("remove")(name) : refused();
}

int unlinkat(int folder, const char* name, int flags) noexcept {
  using namespace sepconv;
  note_removed(folder, name);
  const bool may = folder == AT_FDCWD ? may_change(std::string(name)) : may_change(folder);
  return may ? real<int(int, const char*, int)>("unlinkat")(folder, name, flags) : refused();
}

int ftruncate(int descriptor, off_t bytes) noexcept {
  using namespace sepconv;
  return may_change(descriptor) ? real<int(int, off_t)>("ftruncate")(descriptor, bytes) : refused();
}

}  // extern "C"
