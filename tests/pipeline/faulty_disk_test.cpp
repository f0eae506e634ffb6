// Resumed runs on a disk that fails at every n-th write and loses unsynced writes: the final result has the
// bytes of one run, and no work that is on the disk is repeated.
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
#include "io/checkpoint/log.hpp"
#include "io/memory_image.hpp"
#include "io/test_pattern.hpp"
#include "pipeline/run/run_file.hpp"

using namespace sepconv;
using sepconv::test::read_tree;
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
  std::map<std::string, std::string> run_once(const Kind& kind) const {
    const fs::path out = folder.path() / (std::string("whole-") + kind.name);
    run_file(in, out, chain, options(0), files(kind));
    return read_tree(out);
  }
  RunReport resume(const Kind& kind, double sync_seconds) const {
    return resume_file(in, folder.path() / kind.name, chain, options(sync_seconds), files(kind));
  }
};

/// Rewrites the journal as if the machine had been rebooted: records are of another boot.
void simulate_reboot(const fs::path& out) {
  const fs::path journal = out.native() + ".partial/journal";
  std::ifstream old_journal(journal);
  std::ostringstream new_journal;
  std::uint32_t old_checksum = 0, new_checksum = 0;
  for (std::string line; std::getline(old_journal, line);) {
    std::string text = line.size() > 9 ? line.substr(9) : "";
    if (log_line(text, old_checksum) != line + '\n') {  // damaged by lost writes
      new_journal << line << '\n' << old_journal.rdbuf();
      break;
    }
    if (text.starts_with("done ")) text = "done another" + text.substr(text.find(' ', 5));
    new_journal << log_line(text, new_checksum);
  }
  old_journal.close();
  std::ofstream(journal) << new_journal.str();
}

/// Whether the run fails.
bool resume_fails(const Job& job, const Kind& kind, double sync_seconds) {
  try {
    job.resume(kind, sync_seconds);
    return false;
  } catch (const IoError&) {
    return true;
  }
}

/// Whether temporary files of a completed result are left. Removes what a run killed while cleaning up may
/// leave, down to an empty folder.
bool has_leftovers(const fs::path& out) {
  if (Checkpoint::look(out).is_committed) Checkpoint::discard(out);
  const fs::path folder = out.native() + ".partial";
  std::error_code ignored;
  if (fs::is_empty(folder, ignored)) fs::remove(folder, ignored);
  return fs::exists(folder);
}

void check_dying(const Kind& kind, std::int64_t step, double fraction) {
  const Job job;
  const auto expected = job.run_once(kind);
  const fs::path out = job.folder.path() / kind.name;
  FaultyDisk disk(job.folder.path());
  disk.fail_at_change(0);
  job.resume(kind, 0);
  REQUIRE(read_tree(out) == expected);
  const std::int64_t changes = disk.changes();
  REQUIRE(changes > 100);
  std::int64_t failed_runs = 0;
  for (std::int64_t n = 1 + step / 2; n <= changes; n += step) {
    fs::remove_all(out);
    INFO(kind.name << ", write " << n << " of " << changes);
    // Records are synced immediately, or only at the end.
    const double sync_seconds = n % 3 == 0 ? 1e6 : 0;
    disk.fail_at_change(n);
    if (resume_fails(job, kind, sync_seconds)) ++failed_runs;
    disk.fail_at_change(0);
    if (fraction > 0) {
      disk.lose_unsynced(fraction, static_cast<std::uint64_t>(n));
      if (fs::exists(out.native() + ".partial/journal")) simulate_reboot(out);
    }
    const bool was_committed = Checkpoint::look(out).is_committed;
    if (was_committed || !fs::exists(out)) CHECK((job.resume(kind, 0).pixels == 0 || !was_committed));
    REQUIRE(read_tree(out) == expected);
    CHECK_FALSE(has_leftovers(out));
  }
  CHECK(failed_runs > changes / step / 2);
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
    const auto expected = job.run_once(kind);
    FaultyDisk disk(job.folder.path());
    disk.fail_at_change(0);
    job.resume(kind, 1e6);
    disk.lose_unsynced(1, 1);
    INFO(kind.name);
    CHECK(read_tree(job.folder.path() / kind.name) == expected);
  }
}

TEST_CASE("What is left of making a result is closed before it is removed") {
  for (const Kind& kind : kinds()) {
    INFO(kind.name);
    const Job job;
    const fs::path out = job.folder.path() / kind.name;
    {
      FaultyDisk disk(job.folder.path());
      disk.fail_at_change(0);
      job.resume(kind, 1e6);
      CHECK(disk.removed_while_open() == 0);
    }
    fs::remove_all(out);
    create_in_parts(job.in, out, job.chain, job.options(0), Job::files(kind));
    for (const std::int64_t part : {1, 2})
      run_part(job.in, out, job.chain, part, 2, job.options(0), Job::files(kind));
    FaultyDisk disk(job.folder.path());
    disk.fail_at_change(0);
    finish_file(out);
    CHECK(disk.removed_while_open() == 0);
    CHECK_FALSE(has_leftovers(out));
  }
}

TEST_CASE("Parts are not begun where the disk refuses their beginning, and nothing is left") {
  const Job job;
  const fs::path out = job.folder.path() / "out.npy";
  FaultyDisk disk(job.folder.path());
  disk.fail_at_change(0);
  disk.refuse_sync();
  CHECK_THROWS_AS(create_in_parts(job.in, out, job.chain, job.options(0)), IoError);
  CHECK_FALSE(fs::exists(Checkpoint::checkpoint_folder_of(out)));
  create_in_parts(job.in, out, job.chain, job.options(0));
}

TEST_CASE("What a disk refused to sync is not taken for done, though later syncs say nothing") {
  for (const Kind& kind : kinds()) {
    const Job job;
    const auto expected = job.run_once(kind);
    const fs::path out = job.folder.path() / kind.name;
    for (const double sync_seconds : {1e-6, 0.0, 1e6}) {
      INFO(kind.name << ", " << sync_seconds);
      FaultyDisk disk(job.folder.path());
      disk.fail_at_change(0);
      disk.refuse_sync();
      CHECK(resume_fails(job, kind, sync_seconds));
      disk.lose_unsynced(1, 1);
      REQUIRE_FALSE(fs::exists(out));
      job.resume(kind, 0);
      CHECK(read_tree(out) == expected);
      fs::remove_all(out);
    }
  }
}

namespace {

/// Fails at each change after all bands are written of a run that replaces an existing result. The result is
/// then the old one, the new one, or missing; resuming gives the new one, discarding the old one.
void check_replacing(const Kind& kind) {
  const Job job;
  const fs::path out = job.folder.path() / kind.name;
  const fs::path full = job.folder.path() / "full.npy", sparse = job.folder.path() / "sparse.npy";
  const ImageSpec spec{{160, 150}, 1, PixelType::u16};
  std::vector<std::byte> pixels(static_cast<std::size_t>(spec.bytes()));
  std::fill_n(pixels.begin(), pixels.size() / 2, std::byte{7});  // the rest is sparse, in formats with holes
  run(*make_memory_reader(dense_view(pixels.data(), spec)), *create_writer(sparse, spec, {}), Chain());
  std::ranges::fill(pixels, std::byte{9});
  run(*make_memory_reader(dense_view(pixels.data(), spec)), *create_writer(full, spec, {}), Chain());
  FileOptions files = Job::files(kind);
  if (files.output.tile) files.output.tile = Extent{64, 64};
  files.output.overwrite = true;
  const auto produce = [&](const fs::path& in, const fs::path& to) {
    resume_file(in, to, Chain(), job.options(0), files);
  };
  const auto try_produce = [&] {
    try {
      produce(sparse, out);
    } catch (const IoError&) {
    }
  };
  produce(full, out);
  const auto old = read_tree(out);
  FaultyDisk disk(job.folder.path());
  disk.fail_at_change(0);
  produce(sparse, out);
  const auto expected = read_tree(out);
  REQUIRE(old != expected);
  fs::remove_all(out);
  disk.fail_at_change(0);
  produce(sparse, out);
  const std::int64_t new_changes = disk.changes();
  fs::remove_all(out);
  produce(full, out);
  disk.fail_at_change(0);
  produce(sparse, out);
  const std::int64_t changes = disk.changes();
  std::map<std::string, int> outcomes;
  for (std::int64_t n = new_changes * 9 / 10; n <= changes; ++n) {
    INFO(kind.name << ", change " << n << " of " << changes);
    disk.fail_at_change(0);
    fs::remove_all(out);
    produce(full, out);
    REQUIRE(read_tree(out) == old);
    disk.fail_at_change(n);
    try_produce();
    disk.fail_at_change(0);
    disk.lose_unsynced(1, 1);
    const auto current = read_tree(out);
    const bool result_exists = fs::exists(out), is_new = result_exists && current == expected;
    ++outcomes[is_new ? "new" : result_exists ? "old" : "none"];
    REQUIRE((!result_exists || is_new || current == old));
    if (n % 2 == 0) {
      Checkpoint::discard(out);
      REQUIRE(read_tree(out) == (is_new ? expected : old));
    } else {
      produce(sparse, out);
      REQUIRE(read_tree(out) == expected);
    }
    REQUIRE_FALSE(has_leftovers(out));
  }
  CHECK(outcomes["new"] > 0);
  CHECK(outcomes["old"] > 0);
}

}  // namespace

TEST_CASE("Killed while it replaces another, a result is the old or the new, and never of both") {
  const std::vector<Kind> all = kinds();
  for (const std::size_t i : {1, 4, 6})
    check_replacing(all[i]);  // NPY, a compressed TIFF, a Zarr with shards
}

TEST_CASE("Killed at every change, with and without losses", "[.campaign]") {  // ./dev fuzz kills
  for (const Kind& kind : kinds()) {
    for (const double fraction : {0.0, 1.0, 0.5}) check_dying(kind, 1, fraction);
  }
}

TEST_CASE("The disk that loses does lose what was not synced") {
  const TemporaryFolder folder;
  FaultyDisk disk(folder.path());
  disk.fail_at_change(0);
  {
    OutputFile synced(folder.path() / "synced", {.durable = true}), other(folder.path() / "other", {});
    const std::string text = "written";
    for (OutputFile* file : {&synced, &other}) {
      file->write_at(0, std::as_bytes(std::span(text)));
      file->commit();
    }
  }
  CHECK(disk.changes() == 4);  // one write and one rename each
  disk.lose_unsynced(1, 1);
  CHECK(folder.read("synced") == "written");
  CHECK(folder.read("other") == std::string(7, '\0'));
  disk.fail_at_change(1);
  OutputFile failing(folder.path() / "dead", {});
  CHECK_THROWS_AS(failing.write_at(0, std::as_bytes(std::span("x"))), IoError);
  CHECK_THROWS_AS(failing.resize(5), IoError);
  disk.fail_at_change(0);
}

TEST_CASE("After a kill at nine tenths of its writes less than a seventh is made again") {
  for (const Kind& kind : kinds()) {
    const Job job;
    FaultyDisk disk(job.folder.path());
    disk.fail_at_change(0);
    job.resume(kind, 0);
    const std::int64_t changes = disk.changes();
    fs::remove_all(job.folder.path() / kind.name);
    disk.fail_at_change(changes * 9 / 10);
    REQUIRE(resume_fails(job, kind, 0));
    disk.fail_at_change(0);
    INFO(kind.name);
    CHECK(job.resume(kind, 0).pixels <= kExtent.area() * 15 / 100);
  }
}

TEST_CASE("A part that returned is on the disk") {
  for (const Kind& kind : kinds()) {
    const Job job;
    const auto expected = job.run_once(kind);
    const fs::path out = job.folder.path() / kind.name;
    const FileOptions files = Job::files(kind);
    FaultyDisk disk(job.folder.path());
    disk.fail_at_change(0);
    create_in_parts(job.in, out, job.chain, job.options(0), files);
    disk.lose_unsynced(1, 1);
    for (const int part : {3, 1, 2}) {
      run_part(job.in, out, job.chain, part, 3, {}, files);
      disk.lose_unsynced(1, 1);
      simulate_reboot(out);
    }
    finish_file(out);
    disk.lose_unsynced(1, 1);
    INFO(kind.name);
    CHECK(read_tree(out) == expected);
  }
}
