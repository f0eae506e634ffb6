// Parts that continue after their result was discarded, where locks have no effect, as on some network file
// systems: each fails, and another run with the same output contains none of their data.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "../io/temporary_folder.hpp"
#include "../support/small_run.hpp"
#include "../support/tree_compare.hpp"
#include "core/error.hpp"
#include "io/test_pattern.hpp"
#include "pipeline/run/run_file.hpp"

using namespace sepconv;
using namespace sepconv::test;
namespace fs = std::filesystem;

namespace {

enum class OtherRun : std::uint8_t { discarded, begun, computed, finished };

struct Kind {
  const char* name;
  OutputOptions output;
};

std::vector<Kind> kinds() {
  std::vector<Kind> all;
  const auto add = [&](const char* name, std::optional<Compression> compression, bool pyramid,
                       std::optional<Extent> shard) {
    OutputOptions& request = all.emplace_back(Kind{name, {}}).output;
    request.compression = compression;
    request.tile = Extent{16, 16};
    request.pyramid = pyramid;
    request.shard = shard;
  };
  all.push_back({"out.npy", {}});
  add("out.tif", Compression::none, false, {});
  add("out.tif", Compression::deflate, true, {});
  add("out.zarr", Compression::none, false, {});
  add("out.zarr", {}, true, Extent{32, 32});
  return all;
}

/// A result whose first of two parts is stale.
struct StaleFixture {
  TemporaryFolder folder;
  fs::path in = folder.path() / "in.npy", out;
  FileOptions files;
  Chain old_chain = two_stages(), new_chain = Chain::parse(std::vector<std::string>{"gaussian:sigma=1"});

  explicit StaleFixture(const Kind& kind) : out(folder.path() / kind.name) {
    files.output = kind.output;
    const auto pattern = make_pattern_reader(kSpec, Pattern::natural, 5);
    run(*pattern, *create_writer(in, pattern->spec(), {}), Chain());
  }

  void begin(const Chain& chain) const { create_in_parts(in, out, chain, small_bands(), files); }
  void make_part(std::int64_t part) const { run_part(in, out, new_chain, part, 2, small_bands(), files); }

  /// Acts as another machine that does not see the stale part's lock.
  void act_as_other(OtherRun progress) const {
    fs::remove_all(Checkpoint::checkpoint_folder_of(out));
    if (progress == OtherRun::discarded) return;
    begin(new_chain);
    if (progress == OtherRun::begun) return;
    make_part(1);
    make_part(2);
    if (progress == OtherRun::finished) finish_file(out);
  }

  void complete_run(OtherRun progress) const {
    if (progress <= OtherRun::discarded) begin(new_chain);
    if (progress <= OtherRun::begun) {
      make_part(1);
      make_part(2);
    }
    if (progress <= OtherRun::computed) finish_file(out);
  }
};

/// `band`: the band of the stale part, counted among those that it writes, after which the other run acts;
/// -1: before the part writes.
void check_stale(const Kind& kind, OtherRun progress, std::int64_t band) {
  INFO(kind.name << " " << kind.output.pyramid.value_or(false) << ", " << static_cast<int>(progress)
                 << ", behind band " << band);
  const StaleFixture fixture(kind);
  run_file(fixture.in, fixture.out, fixture.new_chain, small_bands(), fixture.files);
  const auto expected = read_tree(fixture.out);
  fs::remove_all(fixture.out);
  fixture.begin(fixture.old_chain);
  ImageJob job = plan_part(fixture.in, fixture.out, fixture.old_chain, 1, 2, small_bands(), fixture.files);
  RunOptions options = small_bands();
  std::int64_t written = 0;
  options.written = [&](const Plan&, std::int64_t) {
    if (written++ == band) fixture.act_as_other(progress);
  };
  if (band < 0) fixture.act_as_other(progress);
  CHECK_THROWS_AS(run(job, options), IoError);
  CHECK(fs::exists(Checkpoint::checkpoint_folder_of(fixture.out)) ==
        (progress == OtherRun::begun || progress == OtherRun::computed));
  fixture.complete_run(progress);
  CHECK(read_tree(fixture.out) == expected);
  CHECK_FALSE(fs::exists(Checkpoint::checkpoint_folder_of(fixture.out)));
}

}  // namespace

TEST_CASE("A late part of a discarded result fails and leaves the new result alone") {
  for (const Kind& kind : kinds()) {
    for (const OtherRun progress :
         {OtherRun::discarded, OtherRun::begun, OtherRun::computed, OtherRun::finished}) {
      for (const std::int64_t band : {-1, 0, 5}) check_stale(kind, progress, band);
    }
  }
}

TEST_CASE("Where locks tell, what a part is at work on is not discarded") {
  const StaleFixture fixture(kinds()[0]);
  fixture.begin(fixture.old_chain);
  {
    const ImageJob job =
        plan_part(fixture.in, fixture.out, fixture.old_chain, 1, 2, small_bands(), fixture.files);
    CHECK_THROWS_AS(Checkpoint::discard(fixture.out), IoError);
  }
  Checkpoint::discard(fixture.out);
  CHECK(fixture.folder.files() == std::vector<std::string>{"in.npy"});
}
