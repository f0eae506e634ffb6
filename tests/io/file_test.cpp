#include <fcntl.h>
#include <grp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <thread>
#include <vector>

#include "core/error.hpp"
#include "io/byte_file.hpp"
#include "temporary_folder.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

/// Extended attribute that marks an unfinished file.
constexpr const char* kMark = "user.sepconv.unfinished";

bool supports_xattrs(const TemporaryFolder& folder) {
  const fs::path probe = folder.write("probe", "");
  const bool supported = setxattr(probe.c_str(), kMark, "", 0, 0) == 0;
  fs::remove(probe);
  return supported;
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

mode_t mode_of(const fs::path& path) {
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

TEST_CASE("InputFile reads at offsets and says where a file ends") {
  const TemporaryFolder folder;
  const fs::path path = folder.write("a.bin", "0123456789");
  const InputFile file(path);
  CHECK(file.size() == 10);
  std::string text(4, ' ');
  file.read_at(3, std::as_writable_bytes(std::span(text)));
  CHECK(text == "3456");
  CHECK(file.read_some_at(8, std::as_writable_bytes(std::span(text))) == 2);
  CHECK(file.read_some_at(80, std::as_writable_bytes(std::span(text))) == 0);
  CHECK_THROWS_WITH(file.read_at(8, std::as_writable_bytes(std::span(text))),
                    Contains(path.native()) && Contains("ends at byte 10") && Contains("2 more bytes"));
}

/// The errno of the IoError that `act` throws.
template <class Act>
int error_of(const Act& act) {
  try {
    act();
  } catch (const IoError& error) {
    return error.error();
  }
  return -1;
}

TEST_CASE("An IoError has the errno of what the system refused") {
  const TemporaryFolder folder;
  const fs::path existing_file = folder.write("taken.bin", "1"), absent_file = folder.path() / "absent";
  CHECK(error_of([&] { InputFile file(absent_file); }) == ENOENT);
  CHECK(error_of([&] { InputFile file(folder.path()); }) == EISDIR);
  CHECK(error_of([&] { InputFile file(folder.write("empty.bin", "")); }) == 0);
  CHECK(error_of([&] { OutputFile file(existing_file, {}); }) == EEXIST);
  CHECK(error_of([&] { OutputFile file(absent_file / "a.bin", {}); }) == ENOENT);
  CHECK(error_of([&] { OutputFile file(existing_file / "a.bin", {}); }) == ENOTDIR);
}

TEST_CASE("InputFile refuses what is not a file with bytes") {
  const TemporaryFolder folder;
  CHECK_THROWS_WITH(InputFile(folder.path() / "absent.tif"), Contains("there is no such file"));
  CHECK_THROWS_WITH(InputFile(folder.path()), Contains("it is a folder"));
  CHECK_THROWS_WITH(InputFile(folder.write("empty.tif", "")), Contains("the file is empty"));
  const fs::path pipe = folder.path() / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(InputFile(pipe), Contains("not a regular file"));
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string name = (folder.path() / "socket").native();
  REQUIRE(name.size() < sizeof address.sun_path);
  name.copy(address.sun_path, name.size());
  const int socket_fd = socket(AF_UNIX, SOCK_STREAM, 0);
  REQUIRE(bind(socket_fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  CHECK_THROWS_WITH(InputFile(name), Contains("not a regular file"));
  close(socket_fd);
}

TEST_CASE("InputFile that is refused keeps no descriptor") {
  const TemporaryFolder folder;
  const fs::path empty = folder.write("empty.tif", "");
  const int before = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(before);
  for (int i = 0; i < 3; ++i) CHECK_THROWS(InputFile(empty));
  const int after = open("/dev/null", O_RDONLY | O_CLOEXEC);
  close(after);
  CHECK(after == before);
}

TEST_CASE("Moving an InputFile moves its descriptor") {
  const TemporaryFolder folder;
  InputFile first(folder.write("a", "A"));
  InputFile second(std::move(first));
  CHECK(first.descriptor() == -1);
  InputFile third(folder.write("b", "BB"));
  third = std::move(second);
  CHECK(third.size() == 1);
  std::byte byte{};
  third.read_at(0, {&byte, 1});
  CHECK(byte == std::byte{'A'});
}

TEST_CASE("OutputFile creates the target only on commit") {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "a.bin";
  {
    OutputFile file(target, {});
    CHECK(folder.files().empty());
    file.write_at(4, bytes_of("later"));
    file.write_at(0, bytes_of("soon"));
    CHECK_FALSE(fs::exists(target));
    REQUIRE(folder.files().size() == 1);
    CHECK_THAT(folder.files()[0], Catch::StartsWith(".a.bin.sepconv-"));
    std::string text(4, ' ');
    CHECK(file.read_some_at(2, std::as_writable_bytes(std::span(text))) == 4);
    CHECK(text == "onla");
    file.commit();
  }
  CHECK(folder.files() == std::vector<std::string>{"a.bin"});
  CHECK(folder.read("a.bin") == "soonlater");
}

TEST_CASE("OutputFile that is not committed leaves nothing") {
  const TemporaryFolder folder;
  {
    OutputFile file(folder.path() / "a.bin", {});
    file.write_at(0, bytes_of("x"));
  }
  CHECK(folder.files().empty());
}

TEST_CASE("OutputFile honours the umask and keeps the mode of what it replaces") {
  const TemporaryFolder folder;
  const mode_t before = umask(027);
  OutputFile fresh(folder.path() / "fresh", {});
  fresh.commit();
  umask(before);
  CHECK(mode_of(folder.path() / "fresh") == 0640);

  const fs::path old = folder.write("old", "old");
  REQUIRE(chmod(old.c_str(), 0604) == 0);
  OutputFile file(old, {.overwrite = true, .durable = true});
  file.write_at(0, bytes_of("new"));
  CHECK(folder.read("old") == "old");
  file.commit();
  CHECK(folder.read("old") == "new");
  CHECK(mode_of(old) == 0604);
}

TEST_CASE("OutputFile gives nobody more rights than what it replaces did") {
  const TemporaryFolder folder;
  const mode_t before = umask(0);
  for (const mode_t mode : {06755, 01644, 0640, 0600, 0400}) {
    CAPTURE(mode);
    const fs::path old = folder.write("old", "old");
    const bool group_changed = geteuid() == 0 && chown(old.c_str(), 0, 12345) == 0;
    REQUIRE(chmod(old.c_str(), mode) == 0);
    OutputFile file(old, {.overwrite = true});
    file.write_at(0, bytes_of("new"));
    REQUIRE(folder.files().size() == 2);
    CHECK(mode_of(folder.path() / folder.files()[0]) == (mode & 0777));
    file.commit();
    CHECK(mode_of(old) == (mode & 0777));
    struct stat status {};
    REQUIRE(stat(old.c_str(), &status) == 0);
    if (group_changed) CHECK(status.st_gid == 12345);
  }
  umask(before);
}

TEST_CASE("A file that cannot be given to the group of the replaced one is for neither group") {
  const TemporaryFolder folder;
  if (geteuid() != 0) {
    WARN("skipped: only root can become another user");
    return;
  }
  const fs::path path = folder.write("a", "x");
  REQUIRE(chown(path.c_str(), 65534, 65534) == 0);
  const pid_t child = fork();
  if (child == 0) {  // 65534 is not a member of group 12345
    const int file = open(path.c_str(), O_RDWR);
    const bool dropped = setgroups(0, nullptr) == 0 && setgid(65534) == 0 && setuid(65534) == 0;
    _exit(dropped && file >= 0 && inherit_permissions(file, 0664, 12345) == 0 ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(mode_of(path) == 0644);
}

/// A process that has begun to write a file and waits.
class WritingProcess {
 public:
  explicit WritingProcess(const fs::path& target) {
    int pipe_fds[2];
    REQUIRE(pipe(pipe_fds) == 0);
    process_ = fork();
    if (process_ == 0) {
      OutputFile file(target, {.overwrite = true});
      file.write_at(0, bytes_of("half of it"));
      if (write(pipe_fds[1], "x", 1) == 1) pause();
      _exit(1);
    }
    char letter = 0;
    REQUIRE(read(pipe_fds[0], &letter, 1) == 1);
    close(pipe_fds[0]), close(pipe_fds[1]);
  }
  void kill_it() {
    REQUIRE(kill(process_, SIGKILL) == 0);
    REQUIRE(waitpid(process_, nullptr, 0) == process_);
  }

 private:
  pid_t process_ = -1;
};

std::vector<std::string> warnings_of(const OutputFile& file) {
  std::vector<std::string> warnings;
  file.add_warnings(warnings);
  return warnings;
}

TEST_CASE("What a killed process left is announced, and removed when the same file is written again") {
  const TemporaryFolder folder;
  if (!supports_xattrs(folder)) {
    WARN("skipped: this file system keeps no extended attributes");
    return;
  }
  const fs::path target = folder.path() / "a.bin";
  WritingProcess first(target);
  REQUIRE(folder.files().size() == 1);
  const std::string left = folder.files()[0];
  {
    OutputFile file(target, {});
    CHECK(warnings_of(file).empty());  // the file is still being written
    file.write_at(0, bytes_of("x"));
    CHECK(folder.files().size() == 2);
  }
  CHECK(folder.files() == std::vector<std::string>{left});

  first.kill_it();
  OutputFile(folder.path() / "b.bin", {}).write_at(0, bytes_of("x"));
  OutputFile(folder.path() / ".a.bin", {}).write_at(0, bytes_of("x"));
  CHECK(folder.files() == std::vector<std::string>{left});  // left by an output with another name
  OutputFile file(target, {});
  REQUIRE(warnings_of(file).size() == 1);
  CHECK_THAT(warnings_of(file)[0], Contains("a killed run left") && Contains(left) && Contains("10 B") &&
                                       Contains("will be removed when"));
  CHECK(folder.files() == std::vector<std::string>{left});  // nothing was written yet
  file.write_at(0, bytes_of("new"));
  REQUIRE(folder.files().size() == 1);
  CHECK(folder.files()[0] != left);
  file.commit();
  CHECK(folder.files() == std::vector<std::string>{"a.bin"});
}

TEST_CASE("What several killed processes left is counted") {
  const TemporaryFolder folder;
  if (!supports_xattrs(folder)) {
    WARN("skipped: this file system keeps no extended attributes");
    return;
  }
  const fs::path target = folder.write("a.bin", "old");
  std::vector<WritingProcess> writing;
  for (int i = 0; i < 3; ++i) writing.emplace_back(target);
  for (WritingProcess& process : writing) process.kill_it();
  CHECK(folder.files().size() == 4);
  OutputFile file(target, {.overwrite = true});
  CHECK_THAT(warnings_of(file).at(0), Contains("killed runs left 3 files like ") && Contains("30 B"));
  file.write_at(0, bytes_of("new"));
  CHECK(folder.files().size() == 2);
}

TEST_CASE("A complete file that is only named like what a killed run leaves stays, and is named") {
  const TemporaryFolder folder;
  if (!supports_xattrs(folder)) {
    WARN("skipped: this file system keeps no extended attributes");
    return;
  }
  const fs::path target = folder.path() / "a";
  {
    OutputFile file(folder.path() / ".a.sepconv-abc123", {});
    file.write_at(0, bytes_of("complete"));
    file.commit();
  }
  {
    OutputFile file(target, {});
    REQUIRE(warnings_of(file).size() == 1);
    CHECK_THAT(warnings_of(file)[0], Contains(".a.sepconv-abc123 (8 B)") &&
                                         Contains("is not marked as such") &&
                                         Contains("remove it if nobody needs it"));
    file.write_at(0, bytes_of("x"));
    file.commit();
    CHECK(listxattr(target.c_str(), nullptr, 0) <= 0);
  }
  folder.write(".a.sepconv-abc124", "x");
  fs::create_hard_link(folder.path() / ".a.sepconv-abc124", folder.path() / "b");
  setxattr((folder.path() / "b").c_str(), kMark, "", 0, 0);
  OutputFile file(target, {.overwrite = true});
  REQUIRE(warnings_of(file).size() == 1);
  CHECK_THAT(warnings_of(file)[0], Catch::StartsWith("2 files like ") && Contains("(9 B) are named like") &&
                                       Contains("are not marked as such"));
  file.write_at(0, bytes_of("y"));
  file.commit();
  CHECK(folder.files() == std::vector<std::string>{".a.sepconv-abc123", ".a.sepconv-abc124", "a", "b"});
  fs::remove(folder.path() / "b");  // the file's last other hard link
  CHECK_THAT(warnings_of(OutputFile(target, {.overwrite = true})).at(0),
             Contains("a killed run left") && Contains(".a.sepconv-abc124"));
}

TEST_CASE("Files that are not known to be a killed run's stay") {
  const TemporaryFolder folder;
  const fs::path target = folder.path() / "a";
  const std::string prefix = ".a.sepconv-";
  std::vector<std::string> remaining = {prefix + "short",   prefix + "toolong", prefix + "UPPER1",
                                        "a.sepconv-abc123", prefix + "folder",  prefix + "link00"};
  for (std::size_t i = 0; i < 4; ++i) folder.write(remaining[i], "x");
  fs::create_directory(folder.path() / remaining[4]);
  fs::create_symlink(remaining[3], folder.path() / remaining[5]);
  REQUIRE(mkfifo((folder.path() / (prefix + "pipe00")).c_str(), 0600) == 0);
  remaining.push_back(prefix + "pipe00");
  if (geteuid() == 0) {
    const fs::path other_owner = folder.write(prefix + "others", "x");
    REQUIRE(chown(other_owner.c_str(), 12345, 12345) == 0);
    remaining.push_back(prefix + "others");
  }
  std::sort(remaining.begin(), remaining.end());
  OutputFile file(target, {});
  CHECK(warnings_of(file).empty());
  file.write_at(0, bytes_of("x"));
  file.commit();
  std::erase_if(remaining, [&](const std::string& name) {
    return fs::exists(fs::symlink_status(folder.path() / name));
  });
  CHECK(remaining.empty());
}

TEST_CASE("A file that is expected to be larger than there is room for is not begun") {
  const TemporaryFolder folder;
  OutputFile file(folder.path() / "a", {});
  CHECK(warnings_of(file).empty());
  file.expect(std::int64_t{1} << 60);
  REQUIRE(warnings_of(file).size() == 1);
  CHECK_THAT(warnings_of(file)[0], Contains("cannot be written: it takes 1024 PiB") && Contains("free"));
  CHECK_THROWS_WITH(file.write_at(0, bytes_of("x")),
                    Contains("cannot write") && Contains("it takes 1024 PiB") && Contains("free some space"));
  CHECK(folder.files().empty());
}

TEST_CASE("OutputFile follows a symbolic link to the file behind it") {
  const TemporaryFolder folder;
  folder.write("real", "old");
  fs::create_symlink("real", folder.path() / "link");
  OutputFile file(folder.path() / "link", {.overwrite = true});
  file.write_at(0, bytes_of("new"));
  file.commit();
  CHECK(fs::is_symlink(folder.path() / "link"));
  CHECK(folder.read("real") == "new");
}

TEST_CASE("OutputFile follows symbolic links to where no file is yet") {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "sub");
  fs::create_symlink("sub/second", folder.path() / "link");
  fs::create_symlink("../real", folder.path() / "sub" / "second");  // relative to the folder it is in
  fs::create_symlink(folder.path() / "absolute_real", folder.path() / "absolute");
  for (const std::string name : {"link", "absolute"}) {
    OutputFile file(folder.path() / name, {.overwrite = true});
    file.write_at(0, bytes_of("new"));
    file.commit();
    CHECK(fs::is_symlink(folder.path() / name));
    CHECK(folder.read(name) == "new");
  }
  CHECK(fs::is_symlink(folder.path() / "sub" / "second"));
  CHECK(folder.files() == std::vector<std::string>{"absolute", "absolute_real", "link", "real", "sub"});

  const auto refused = [&](const char* name, const std::string& message) {
    CHECK_THROWS_WITH(OutputFile(folder.path() / name, {.overwrite = true}), Contains(message));
    CHECK(fs::is_symlink(folder.path() / name));
  };
  fs::create_symlink("circle", folder.path() / "circle");
  refused("circle", "circle: it is a symbolic link that leads in a circle");
  fs::create_symlink("no/b.tif", folder.path() / "astray");
  refused("astray", "no does not exist");
}

TEST_CASE("OutputFile checks its target before it creates anything") {
  const TemporaryFolder folder;
  const fs::path existing = folder.write("there", "x");
  fs::create_directory(folder.path() / "sub");
  fs::create_symlink("nowhere", folder.path() / "dangling");
  const auto create = [](const fs::path& path, bool overwrite = false) {
    OutputFile(path, {overwrite, false});
  };
  CHECK_THROWS_WITH(create(existing), Contains("CreateOptions::overwrite") && Contains(existing.native()));
  CHECK_THROWS_WITH(create(folder.path() / "dangling"), Contains("CreateOptions::overwrite"));
  CHECK_THROWS_WITH(create(folder.path() / "sub", true), Contains("it is a folder"));
  CHECK_THROWS_WITH(create(folder.path() / "no" / "b.tif"),
                    Contains("the folder " + (folder.path() / "no").native() + " does not exist"));
  CHECK_THROWS_WITH(create(existing / "b.tif"), Contains("is not a folder"));
  CHECK_THROWS_WITH(create("/dev/null", true), Contains("not a regular file"));
  CHECK_THROWS_WITH(create(fs::path()), Contains("name of a file is missing"));
  CHECK_NOTHROW(create(existing, true));
  if (geteuid() != 0) {  // root may write anywhere
    REQUIRE(chmod((folder.path() / "sub").c_str(), 0500) == 0);
    CHECK_THROWS_WITH(create(folder.path() / "sub" / "b.tif"), Contains("not writable"));
  }
}

TEST_CASE("OutputFile does not replace a target that appeared meanwhile") {
  const TemporaryFolder folder;
  OutputFile file(folder.path() / "a", {});
  file.write_at(0, bytes_of("mine"));
  folder.write("a", "theirs");
  CHECK_THROWS_WITH(file.commit(), Contains("exists already"));
  CHECK(folder.read("a") == "theirs");
  CHECK(folder.files() == std::vector<std::string>{"a"});
}

TEST_CASE("OutputFile names a full disk as such and leaves nothing") {
  const TemporaryFolder folder;
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &small) == 0);
  {
    OutputFile file(folder.path() / "a", {});
    const std::vector<std::byte> bytes(600);
    CHECK_NOTHROW(file.write_at(0, bytes));
    CHECK_THROWS_WITH(file.write_at(600, bytes), Contains("cannot write") && Contains("larger than"));
    CHECK_THROWS_AS(file.resize(2000), IoError);
  }
  REQUIRE(setrlimit(RLIMIT_FSIZE, &before) == 0);
  std::signal(SIGXFSZ, handler);
  CHECK(folder.files().empty());
}

TEST_CASE("OutputFile accepts writes from several threads, and holes read as zeros") {
  const TemporaryFolder folder;
  OutputFile file(folder.path() / "a", {});
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back(
          [&file, i] { file.write_at(100 * i, bytes_of(std::string(50, static_cast<char>('a' + i)))); });
    }
  }
  file.resize(900);
  file.commit();
  std::string expected;
  for (int i = 0; i < 8; ++i) expected += std::string(50, static_cast<char>('a' + i)) + std::string(50, '\0');
  CHECK(folder.read("a") == expected + std::string(100, '\0'));
}

}  // namespace
}  // namespace sepconv
