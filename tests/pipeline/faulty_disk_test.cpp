// Results in several runs on a disk that dies at every n-th write and loses what was not synced: what comes
// of it in the end has the bytes of one run, and nothing is done again that is on the disk.
#include "faulty_disk.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "../io/temporary_folder.hpp"
#include "../support/tree_compare.hpp"
#include "core/error.hpp"
#include "io/byte_file.hpp"
#include "io/checkpoint_log_lines.hpp"
#include "io/memory_image.hpp"
#include "io/test_pattern.hpp"
#include "pipeline/run/resume.hpp"

using namespace sepconv;
using sepconv::test::content;
namespace fs = std::filesystem;

namespace {

constexpr Extent kExtent{640, 150};

struct Kind {
  const char* name;
  OutputOptions output;
};

std::vector<Kind> kinds() {
  std::vector<Kind> all;
  const auto add = [&](const char* name, std::optional<Compression> compression,
                       bool pyramid) -> OutputOptions& {
    OutputOptions request;
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
  std::uint32_t sum = 0, sum_then = 0;
  for (std::string line; std::getline(before, line);) {
    std::string text = line.size() > 9 ? line.substr(9) : "";
    const std::uint32_t was = journal_checksum(text, sum);
    if (journal_line(text, was) != line + '\n') {  // what the disk lost
      after << line << '\n' << before.rdbuf();
      break;
    }
    sum = was;
    if (text.starts_with("done ")) text = "done another" + text.substr(text.find(' ', 5));
    sum_then = journal_checksum(text, sum_then);
    after << journal_line(text, sum_then);
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

/// Whether something is left of making what is complete, but for what a run that was killed then had no time
/// to remove: at last an empty folder.
bool is_left(const fs::path& out) {
  if (Checkpoint::look(out).is_committed) Checkpoint::discard(out);
  const fs::path folder = out.native() + ".partial";
  std::error_code ignored;
  if (fs::is_empty(folder, ignored)) fs::remove(folder, ignored);
  return fs::exists(folder);
}

void check_dying(const Kind& kind, std::int64_t step, double share) {
  const Job job;
  const auto expected = job.in_one_run(kind);
  const fs::path out = job.folder.path() / kind.name;
  LosingDisk disk(job.folder.path());
  disk.die_at(0);
  job.resume(kind, 0);
  REQUIRE(content(out) == expected);
  const std::int64_t changes = disk.changes();
  REQUIRE(changes > 100);
  std::int64_t died = 0;
  for (std::int64_t n = 1 + step / 2; n <= changes; n += step) {
    fs::remove_all(out);
    INFO(kind.name << ", write " << n << " of " << changes);
    // Records that are on the disk as they come, or never before the end.
    const double sync_seconds = n % 3 == 0 ? 1e6 : 0;
    disk.die_at(n);
    if (dies(job, kind, sync_seconds)) ++died;
    disk.die_at(0);
    if (share > 0) {
      disk.lose(share, static_cast<std::uint64_t>(n));
      if (fs::exists(out.native() + ".partial/journal")) start_machine_again(out);
    }
    const bool is_named = Checkpoint::look(out).is_committed;
    if (is_named || !fs::exists(out)) CHECK((job.resume(kind, 0).pixels == 0 || !is_named));
    REQUIRE(content(out) == expected);
    CHECK_FALSE(is_left(out));
  }
  CHECK(died > changes / step / 2);
}

}  // namespace

TEST_CASE("Killed at its n-th write, a run is gone on with: the same bytes") {
  for (const Kind& kind : kinds()) check_dying(kind, 31, 0);
}

TEST_CASE("What a disk loses that was not synced is made again: the same bytes") {
  for (const Kind& kind : kinds()) {
    check_dying(kind, 41, 1);
    check_dying(kind, 43, 0.5);
  }
}

TEST_CASE("A result that has its name is on the disk") {
  for (const Kind& kind : kinds()) {
    const Job job;
    const auto expected = job.in_one_run(kind);
    LosingDisk disk(job.folder.path());
    disk.die_at(0);
    job.resume(kind, 1e6);
    disk.lose(1, 1);
    INFO(kind.name);
    CHECK(content(job.folder.path() / kind.name) == expected);
  }
}

TEST_CASE("What is left of making a result is closed before it is removed") {
  for (const Kind& kind : kinds()) {
    INFO(kind.name);
    const Job job;
    const fs::path out = job.folder.path() / kind.name;
    {
      LosingDisk disk(job.folder.path());
      disk.die_at(0);
      job.resume(kind, 1e6);
      CHECK(disk.removed_while_open() == 0);
    }
    fs::remove_all(out);
    create_in_parts(job.in, out, job.chain, job.options(0), Job::files(kind));
    for (const std::int64_t part : {1, 2})
      run_part(job.in, out, job.chain, part, 2, job.options(0), Job::files(kind));
    LosingDisk disk(job.folder.path());
    disk.die_at(0);
    finish_file(out);
    CHECK(disk.removed_while_open() == 0);
    CHECK_FALSE(is_left(out));
  }
}

TEST_CASE("Parts are not begun where the disk refuses their beginning, and nothing is left") {
  const Job job;
  const fs::path out = job.folder.path() / "out.npy";
  LosingDisk disk(job.folder.path());
  disk.die_at(0);
  disk.refuse_sync();
  CHECK_THROWS_AS(create_in_parts(job.in, out, job.chain, job.options(0)), IoError);
  CHECK_FALSE(fs::exists(Checkpoint::checkpoint_folder_of(out)));
  create_in_parts(job.in, out, job.chain, job.options(0));
}

TEST_CASE("What a disk refused to sync is not taken for done, though later syncs say nothing") {
  for (const Kind& kind : kinds()) {
    const Job job;
    const auto expected = job.in_one_run(kind);
    const fs::path out = job.folder.path() / kind.name;
    for (const double sync_seconds : {1e-6, 0.0, 1e6}) {
      INFO(kind.name << ", " << sync_seconds);
      LosingDisk disk(job.folder.path());
      disk.die_at(0);
      disk.refuse_sync();
      CHECK(dies(job, kind, sync_seconds));
      disk.lose(1, 1);
      REQUIRE_FALSE(fs::exists(out));
      job.resume(kind, 0);
      CHECK(content(out) == expected);
      fs::remove_all(out);
    }
  }
}

namespace {

/// Dies at each change, from when all bands are written on, of a run that replaces what is there. Then what
/// is there is the old, the new, or nothing, and going on makes it the new, or giving up the old.
void check_replacing(const Kind& kind) {
  const Job job;
  const fs::path out = job.folder.path() / kind.name;
  const fs::path full = job.folder.path() / "full.npy", sparse = job.folder.path() / "sparse.npy";
  const ImageSpec spec{{160, 150}, 1, PixelType::u16};
  std::vector<std::byte> pixels(static_cast<std::size_t>(spec.bytes()));
  std::fill_n(pixels.begin(), pixels.size() / 2, std::byte{7});  // the rest is holes, where a format has them
  run(*make_memory_reader(dense_view(pixels.data(), spec)), *create_writer(sparse, spec, {}), Chain());
  std::ranges::fill(pixels, std::byte{9});
  run(*make_memory_reader(dense_view(pixels.data(), spec)), *create_writer(full, spec, {}), Chain());
  FileOptions files = Job::files(kind);
  if (files.output.tile) files.output.tile = Extent{64, 64};
  files.output.overwrite = true;
  const auto make = [&](const fs::path& in, const fs::path& to) {
    resume_file(in, to, Chain(), job.options(0), files);
  };
  const auto try_to_make = [&] {
    try {
      make(sparse, out);
    } catch (const IoError&) {
    }
  };
  make(full, out);
  const auto old = content(out);
  LosingDisk disk(job.folder.path());
  disk.die_at(0);
  make(sparse, out);
  const auto expected = content(out);
  REQUIRE(old != expected);
  fs::remove_all(out);
  disk.die_at(0);
  make(sparse, out);
  const std::int64_t of_new = disk.changes();
  fs::remove_all(out);
  make(full, out);
  disk.die_at(0);
  make(sparse, out);
  const std::int64_t changes = disk.changes();
  std::map<std::string, int> seen;
  for (std::int64_t n = of_new * 9 / 10; n <= changes; ++n) {
    INFO(kind.name << ", change " << n << " of " << changes);
    disk.die_at(0);
    fs::remove_all(out);
    make(full, out);
    REQUIRE(content(out) == old);
    disk.die_at(n);
    try_to_make();
    disk.die_at(0);
    disk.lose(1, 1);
    const auto there = content(out);
    const bool is_there = fs::exists(out), is_new = is_there && there == expected;
    ++seen[is_new ? "new" : is_there ? "old" : "none"];
    REQUIRE((!is_there || is_new || there == old));
    if (n % 2 == 0) {
      Checkpoint::discard(out);
      REQUIRE(content(out) == (is_new ? expected : old));
    } else {
      make(sparse, out);
      REQUIRE(content(out) == expected);
    }
    REQUIRE_FALSE(is_left(out));
  }
  CHECK(seen["new"] > 0);
  CHECK(seen["old"] > 0);
}

}  // namespace

TEST_CASE("Killed while it replaces another, a result is the old or the new, and never of both") {
  const std::vector<Kind> all = kinds();
  for (const std::size_t i : {1, 4, 6})
    check_replacing(all[i]);  // NPY, a compressed TIFF, a Zarr with shards
}

TEST_CASE("Killed at every change, with and without losses", "[.campaign]") {  // ./dev fuzz kills
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
  CHECK(disk.changes() == 4);  // each is written, and gets its name
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
    const std::int64_t changes = disk.changes();
    fs::remove_all(job.folder.path() / kind.name);
    disk.die_at(changes * 9 / 10);
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
    disk.lose(1, 1);
    INFO(kind.name);
    CHECK(content(out) == expected);
  }
}
