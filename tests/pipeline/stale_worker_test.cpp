// Parts that go on when what they belong to was discarded, where locks tell nobody, as on some network file
// systems: each says so, and another run of that name has nothing of theirs.
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "../io/temporary_folder.hpp"
#include "../support/small_run.hpp"
#include "../support/tree_compare.hpp"
#include "core/error.hpp"
#include "io/test_pattern.hpp"
#include "pipeline/run/resume.hpp"

using namespace sepconv;
using namespace sepconv::test;
namespace fs = std::filesystem;

namespace {

enum class Then : std::uint8_t { discarded, begun, made, finished };

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

/// A result of which the first of two parts is late.
struct Late {
  TemporaryFolder folder;
  fs::path in = folder.path() / "in.npy", out;
  FileOptions files;
  Chain given_up = two_stages(), wanted = Chain::parse(std::vector<std::string>{"gaussian:sigma=1"});

  explicit Late(const Kind& kind) : out(folder.path() / kind.name) {
    files.output = kind.output;
    const auto pattern = make_pattern_reader(kSpec, Pattern::natural, 5);
    run(*pattern, *create_writer(in, pattern->spec(), {}), Chain());
  }

  void begin(const Chain& chain) const { create_in_parts(in, out, chain, small_bands(), files); }
  void make(std::int64_t part) const { run_part(in, out, wanted, part, 2, small_bands(), files); }

  /// By another machine, to which the late part's lock is none.
  void begin_another(Then then) const {
    fs::remove_all(Checkpoint::checkpoint_folder_of(out));
    if (then == Then::discarded) return;
    begin(wanted);
    if (then == Then::begun) return;
    make(1);
    make(2);
    if (then == Then::finished) finish_file(out);
  }

  void complete(Then then) const {
    if (then <= Then::discarded) begin(wanted);
    if (then <= Then::begun) {
      make(1);
      make(2);
    }
    if (then <= Then::made) finish_file(out);
  }
};

/// `band`: of those that the late part writes, behind which it waits; -1: it has only planned.
void check_late(const Kind& kind, Then then, std::int64_t band) {
  INFO(kind.name << " " << kind.output.pyramid.value_or(false) << ", " << static_cast<int>(then)
                 << ", behind band " << band);
  const Late late(kind);
  run_file(late.in, late.out, late.wanted, small_bands(), late.files);
  const auto expected = read_tree(late.out);
  fs::remove_all(late.out);
  late.begin(late.given_up);
  ImageJob job = plan_part(late.in, late.out, late.given_up, 1, 2, small_bands(), late.files);
  RunOptions options = small_bands();
  std::int64_t written = 0;
  options.written = [&](const Plan&, std::int64_t) {
    if (written++ == band) late.begin_another(then);
  };
  if (band < 0) late.begin_another(then);
  CHECK_THROWS_AS(run(job, options), IoError);
  CHECK(fs::exists(Checkpoint::checkpoint_folder_of(late.out)) == (then == Then::begun || then == Then::made));
  late.complete(then);
  CHECK(read_tree(late.out) == expected);
  CHECK_FALSE(fs::exists(Checkpoint::checkpoint_folder_of(late.out)));
}

}  // namespace

TEST_CASE("A part that is late of what was discarded says so, and leaves what was begun anew alone") {
  for (const Kind& kind : kinds()) {
    for (const Then then : {Then::discarded, Then::begun, Then::made, Then::finished}) {
      for (const std::int64_t band : {-1, 0, 5}) check_late(kind, then, band);
    }
  }
}

TEST_CASE("Where locks tell, what a part is at work on is not discarded") {
  const Late late(kinds()[0]);
  late.begin(late.given_up);
  {
    const ImageJob job = plan_part(late.in, late.out, late.given_up, 1, 2, small_bands(), late.files);
    CHECK_THROWS_AS(Checkpoint::discard(late.out), IoError);
  }
  Checkpoint::discard(late.out);
  CHECK(late.folder.files() == std::vector<std::string>{"in.npy"});
}
