// Results in several runs on a disk that dies at every n-th write and loses what was not synced: what comes
// of it in the end has the bytes of one run, and nothing is done again that is on the disk.
#include "losing_disk.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "../io/temporary_folder.hpp"
#include "sepconv/core/error.hpp"
#include "sepconv/io/byte_file.hpp"
#include "sepconv/io/crc32c.hpp"
#include "sepconv/io/pattern.hpp"
#include "sepconv/pipeline/run/partial_file.hpp"

using namespace sepconv;
namespace fs = std::filesystem;

namespace {

constexpr Extent kExtent{640, 150};

struct Kind {
  const char* name;
  OutputRequest output;
};

std::vector<Kind> kinds() {
  std::vector<Kind> all;
  const auto add = [&](const char* name, std::optional<Compression> compression,
                       bool pyramid) -> OutputRequest& {
    OutputRequest request;
    request.tile = Extent{16, 16};
    request.compression = compression;
    request.pyramid = pyramid;
    return all.emplace_back(Kind{name, request}).output;
  };
  all.push_back({"out.raw", {}});
  all.push_back({"out.npy", {}});
  add("out.tif", {}, false);
  add("out.tif", Compression::deflate, false).big_tiff = true;
  add("out.tif", Compression::zstd, true);
  add("out.zarr", {}, false);
  add("out.zarr", {}, true).shard = Extent{64, 64};
  return all;
}

/// All files, by their names.
std::map<std::string, std::string> content(const fs::path& path) {
  std::map<std::string, std::string> files;
  const auto add = [&](const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    files[file.lexically_relative(path)] = std::string(std::istreambuf_iterator<char>(stream), {});
  };
  if (!fs::is_directory(path)) return add(path), files;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file()) add(entry.path());
  return files;
}

struct Job {
  TemporaryFolder folder;
  fs::path in = folder.path() / "in.npy";
  Chain chain = Chain::parse({"gaussian:sigma=1.5"});

  Job() {
    const auto pattern = make_pattern_reader({kExtent, 1, PixelType::u16}, Pattern::natural, 3);
    run(*pattern, *create_writer(in, pattern->spec(), {}), Chain());
  }

  RunOptions options(double sync_seconds) const {
    RunOptions options;
    options.band_rows = 16;
    options.threads = 2;
    options.sync_seconds = sync_seconds;
    return options;
  }
  static FileOptions files(const Kind& kind) {
    FileOptions files;
    files.output = kind.output;
    return files;
  }
  std::map<std::string, std::string> in_one_run(const Kind& kind) const {
    const fs::path out = folder.path() / (std::string("whole-") + kind.name);
    run_file(in, out, chain, options(0), files(kind));
    return content(out);
  }
  RunReport resume(const Kind& kind, double sync_seconds) const {
    return resume_file(in, folder.path() / kind.name, chain, options(sync_seconds), files(kind));
  }
};

/// As if the machine had been started since: records are of another boot.
void start_machine_again(const fs::path& out) {
  const fs::path journal = out.native() + ".partial/journal";
  std::ifstream before(journal);
  std::ostringstream after;
  for (std::string line; std::getline(before, line);) {
    const std::size_t boot = 9 + std::string("done ").size();
    if (line.size() > boot && line.compare(9, 5, "done ") == 0) {
      const std::uint32_t sum = crc32c(std::as_bytes(std::span(line).subspan(9)));
      std::uint32_t written = 0;
      std::istringstream(line.substr(0, 8)) >> std::hex >> written;
      if (sum == written) {
        line = line.substr(0, boot) + "another" + line.substr(line.find(' ', boot));
        char digits[9];
        snprintf(digits, sizeof digits, "%08x", crc32c(std::as_bytes(std::span(line).subspan(9))));
        line.replace(0, 8, digits);
      }
    }
    after << line << '\n';
  }
  before.close();
  std::ofstream(journal) << after.str();
}

/// Whether the disk died.
bool dies(const Job& job, const Kind& kind, double sync_seconds) {
  try {
    job.resume(kind, sync_seconds);
    return false;
  } catch (const IoError&) {
    return true;
  }
}

void check_dying(const Kind& kind, std::int64_t step, double share) {
  const Job job;
  const auto expected = job.in_one_run(kind);
  const fs::path out = job.folder.path() / kind.name;
  LosingDisk disk(job.folder.path());
  disk.die_at(0);
  job.resume(kind, 0);
  REQUIRE(content(out) == expected);
  const std::int64_t writes = disk.writes();
  REQUIRE(writes > 100);
  std::int64_t died = 0;
  for (std::int64_t n = 1 + step / 2; n <= writes; n += step) {
    fs::remove_all(out);
    INFO(kind.name << ", write " << n << " of " << writes);
    // Records that are on the disk as they come, or never before the end.
    const double sync_seconds = n % 3 == 0 ? 1e6 : 0;
    disk.die_at(n);
    if (!dies(job, kind, sync_seconds)) continue;
    ++died;
    disk.die_at(0);
    if (share > 0) {
      disk.lose(share, static_cast<std::uint64_t>(n));
      if (fs::exists(out.native() + ".partial/journal")) start_machine_again(out);
    }
    if (!fs::exists(out)) job.resume(kind, 0);
    REQUIRE(content(out) == expected);
    CHECK_FALSE(fs::exists(out.native() + ".partial"));
  }
  CHECK(died > writes / step / 2);
}

}  // namespace

TEST_CASE("Killed at its n-th write, a run is gone on with: the same bytes") {
  for (const Kind& kind : kinds()) check_dying(kind, 23, 0);
}

TEST_CASE("What a disk loses that was not synced is made again: the same bytes") {
  for (const Kind& kind : kinds()) {
    check_dying(kind, 29, 1);
    check_dying(kind, 31, 0.5);
  }
}

TEST_CASE("Killed at every write, with and without losses", "[.campaign]") {  // ./dev fuzz kills
  for (const Kind& kind : kinds()) {
    for (const double share : {0.0, 1.0, 0.5}) check_dying(kind, 1, share);
  }
}

TEST_CASE("The disk that loses does lose what was not synced") {
  const TemporaryFolder folder;
  LosingDisk disk(folder.path());
  disk.die_at(0);
  {
    OutputFile synced(folder.path() / "synced", {.durable = true}), other(folder.path() / "other", {});
    const std::string text = "written";
    for (OutputFile* file : {&synced, &other}) {
      file->write_at(0, std::as_bytes(std::span(text)));
      file->commit();
    }
  }
  CHECK(disk.writes() == 2);
  disk.lose(1, 1);
  CHECK(folder.read("synced") == "written");
  CHECK(folder.read("other") == std::string(7, '\0'));
  disk.die_at(1);
  OutputFile dead(folder.path() / "dead", {});
  CHECK_THROWS_AS(dead.write_at(0, std::as_bytes(std::span("x"))), IoError);
  CHECK_THROWS_AS(dead.resize(5), IoError);
  disk.die_at(0);
}

TEST_CASE("After a kill at nine tenths of its writes less than a seventh is made again") {
  for (const Kind& kind : kinds()) {
    const Job job;
    LosingDisk disk(job.folder.path());
    disk.die_at(0);
    job.resume(kind, 0);
    const std::int64_t writes = disk.writes();
    fs::remove_all(job.folder.path() / kind.name);
    disk.die_at(writes * 9 / 10);
    REQUIRE(dies(job, kind, 0));
    disk.die_at(0);
    INFO(kind.name);
    CHECK(job.resume(kind, 0).pixels <= kExtent.area() * 15 / 100);
  }
}

TEST_CASE("A part that returned is on the disk") {
  for (const Kind& kind : kinds()) {
    const Job job;
    const auto expected = job.in_one_run(kind);
    const fs::path out = job.folder.path() / kind.name;
    const FileOptions files = Job::files(kind);
    LosingDisk disk(job.folder.path());
    disk.die_at(0);
    create_in_parts(job.in, out, job.chain, job.options(0), files);
    disk.lose(1, 1);
    for (const int part : {3, 1, 2}) {
      run_part(job.in, out, job.chain, part, 3, {}, files);
      disk.lose(1, 1);
      start_machine_again(out);
    }
    finish_file(out);
    INFO(kind.name);
    CHECK(content(out) == expected);
  }
}
