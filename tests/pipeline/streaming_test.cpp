// Guarantees of run() besides equal bits: each row read once, order, one error, no leaks, concurrent runs.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <future>
#include <latch>
#include <map>
#include <stdexcept>

#include "../support/fault_injection.hpp"
#include "../support/image.hpp"
#include "../support/overlap_detector.hpp"
#include "../support/small_run.hpp"
#include "../support/threads.hpp"
#include "core/error.hpp"
#include "io/rows.hpp"
#include "pipeline/run/apply.hpp"
#include "pipeline/run/run.hpp"

using namespace sepconv;
using namespace sepconv::test;

namespace {

/// Counts the reads of each row. Its blocks have `block_rows` rows.
class CountingReader final : public Reader {
 public:
  CountingReader(Reader& reader, std::int64_t block_rows) : reader_(reader) {
    layout_.block = {block_rows, reader.spec().extent.cols};
  }
  const ImageSpec& spec() const noexcept override { return reader_.spec(); }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return reader_.metadata(); }
  std::int64_t buffer_bytes(int) const override { return 0; }
  void read(const Rect& rect, const PixelView& out, Executor& executor) override {
    for (std::int64_t row = rect.row; row < rect.row_end(); ++row) ++reads_[row];
    if (rect.row % layout_.block.rows != 0) unaligned_ = true;
    reader_.read(rect, out, executor);
  }
  const std::map<std::int64_t, int>& reads() const { return reads_; }
  bool unaligned() const { return unaligned_; }

 private:
  Reader& reader_;
  SourceLayout layout_;
  std::map<std::int64_t, int> reads_;
  bool unaligned_ = false;
};

}  // namespace

TEST_CASE("a plan is what is run, with its notes, and nothing is planned again") {
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 1);
  const Image expected(kSpec);
  Image result(kSpec);
  run_whole_image(*source.reader(), *expected.writer(), two_stages());
  const auto reader = source.reader();
  const auto writer = result.writer();
  Plan first_plan = plan(*reader, *writer, two_stages(), {.slots = 2, .band_rows = 20});
  first_plan.notes.emplace_back("of this plan");
  const Plan used_plan = run(*reader, *writer, first_plan).plan;
  CHECK(used_plan.band_count() == 10);
  CHECK(used_plan.slots == 2);
  CHECK(used_plan.notes == first_plan.notes);
  CHECK(result == expected);

  // After a failed allocation a smaller plan is used only if that is allowed.
  FailingMemory failing(1);
  CHECK_THROWS_AS(run(*reader, *writer, first_plan, {.memory = &failing}), OutOfMemory);
  FailingMemory failing_once(1);
  result.poison();
  const Plan smaller =
      run(*reader, *writer, first_plan, {.memory = &failing_once, .retry_smaller_plans = true}).plan;
  CHECK(smaller.memory.total() < first_plan.memory.total());
  CHECK(smaller.asked.slots == 2);
  CHECK(result == expected);
}

TEST_CASE("each source row is read once, in whole blocks, whatever the bands") {
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 1);
  const Image expected(kSpec);
  run_whole_image(*source.reader(), *expected.writer(), two_stages());
  for (const std::int64_t block_rows : {1, 7, 16, 64, 200}) {
    for (const int slots : {1, 2, 3}) {
      const auto memory = source.reader();
      CountingReader reader(*memory, block_rows);
      const Image result(kSpec);
      const auto writer = result.writer();
      const RunReport report = run(reader, *writer, two_stages(), small_bands(slots));
      CHECK(report.plan.band_count() == 13);
      CHECK(result == expected);
      CHECK_FALSE(reader.unaligned());
      CHECK(reader.reads().size() == 200);
      for (const auto& [row, read_count] : reader.reads()) CHECK(read_count == 1);
      CHECK(report.steps[0].bytes == kSpec.bytes());
      CHECK(report.steps[2].bytes == kSpec.bytes());
    }
  }
}

TEST_CASE("callbacks on rows see every row once, in order") {
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 2);
  const Image expected(kSpec);
  run_whole_image(*source.reader(), *expected.writer(), two_stages());
  const Image result(kSpec);
  // The callbacks are called from two threads and Catch2 works on one, so they only count.
  std::int64_t next_read = 0;
  std::int64_t next_write = 0;
  int reads_out_of_order = 0;
  int writes_out_of_order = 0;
  bool finished = false;
  const auto reader = make_rows_reader(kSpec, [&](std::int64_t first_row, const PixelView& out) {
    reads_out_of_order += first_row != next_read;
    next_read += out.extent.rows;
    copy_pixels(source.view().crop({first_row, 0, out.extent.rows, out.extent.cols}), out);
  });
  const auto writer = make_rows_writer(
      kSpec,
      [&](std::int64_t first_row, const ConstPixelView& rows) {
        writes_out_of_order += first_row != next_write;
        next_write += rows.extent.rows;
        copy_pixels(rows, result.view().crop({first_row, 0, rows.extent.rows, rows.extent.cols}));
      },
      [&] { finished = true; });
  run(*reader, *writer, two_stages(), small_bands());
  CHECK(reads_out_of_order == 0);
  CHECK(writes_out_of_order == 0);
  CHECK(next_read == 200);
  CHECK(next_write == 200);
  CHECK(finished);
  CHECK(result == expected);
}

TEST_CASE("apply on a caller's buffers gives the same bytes, on any number of threads") {
  const ImageSpec spec{{1200, 1500}, 2, PixelType::u8};  // enough work for four threads
  const Image source = Image::of_pattern(spec, Pattern::noise, 3);
  const Image expected(spec);
  run_whole_image(*source.reader(), *expected.writer(), two_stages());
  for (const int threads : {1, 2, 4}) {
    const Image result(spec);
    apply(two_stages(), source.view(), result.view(), {.threads = threads, .tile = {131, 137}});
    CHECK(result == expected);
  }
  const Image wrong({{200, 151}, 2, PixelType::u8});
  CHECK_THROWS_AS(apply(two_stages(), source.view(), wrong.view()), InvalidArgument);
}

TEST_CASE("apply writes a large result past the caches, whatever line it begins in") {
  const ImageSpec spec{{2900, 2960}, 1, PixelType::f32};  // more than 32 MiB, rows of whole cache lines
  const Image source = Image::of_pattern(spec, Pattern::noise, 5);
  const Image expected(spec);
  const Chain chain({parse_stage("convolve:row=0.25,0.5,0.3,col=0.1,0.7,0.3")});
  run_whole_image(*source.reader(), *expected.writer(), chain);
  for (const std::int64_t offset : {0, 4}) {
    std::vector<float> memory(static_cast<std::size_t>(spec.extent.area() + offset + 16), -1.0F);
    float* const first = memory.data() + offset;
    apply(chain, source.view(), view_of(first, spec.extent));
    CHECK(std::memcmp(first, expected.view().data, static_cast<std::size_t>(spec.bytes())) == 0);
    CHECK(std::all_of(memory.data(), first, [](float value) { return value == -1; }));
    CHECK(std::all_of(first + spec.extent.area(), memory.data() + memory.size(),
                      [](float value) { return value == -1; }));
  }
}

TEST_CASE("reading, computing and writing go on at once with three slots") {
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 4);
  const Image result(kSpec);
  const auto memory_reader = source.reader();
  const auto memory_writer = result.writer();
  Rendezvous rendezvous(3);
  const auto at = [&](std::int64_t at_call) {
    return Hook([&rendezvous, at_call](std::int64_t call) {
      if (call == at_call) rendezvous.arrive_and_wait();
    });
  };
  HookedReader reader(*memory_reader, at(2));
  HookedWriter writer(*memory_writer, at(0));
  // A band of 16 rows is one tile here: the second band is computed while the first is written and the third
  // is read.
  RunOptions options = small_bands(3);
  options.tile = {16, kSpec.extent.cols};
  Chain chain;
  chain.then(std::make_shared<HookedStage>(parse_stage("box:radius=3"), at(1)));
  const RunReport report = run(reader, writer, chain, options);
  CHECK(rendezvous.all_arrived());
  for (const StepReport& step : report.steps) CHECK(step.hidden_seconds > 0);
}

TEST_CASE("with one slot nothing goes on at once") {
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 4);
  const Image result(kSpec);
  const auto memory_reader = source.reader();
  const auto memory_writer = result.writer();
  OverlapDetector overlap;
  const Hook visit = [&overlap](std::int64_t) {
    overlap.enter();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    overlap.leave();
  };
  HookedReader reader(*memory_reader, visit);
  HookedWriter writer(*memory_writer, visit);
  const RunReport report = run(reader, writer, two_stages(), small_bands(1));
  CHECK_FALSE(overlap.overlapped());
  CHECK(report.steps[0].hidden_seconds == 0);
}

TEST_CASE("a failure at any call surfaces once, unchanged, and leaves no thread") {
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 5);
  const std::int64_t threads_before = baseline_thread_count();
  for (const int slots : {1, 2, 3}) {
    for (std::int64_t n = 0; n < 14; ++n) {
      for (int failing_step = 0; failing_step < 3; ++failing_step) {
        const Image result(kSpec);
        const auto memory_reader = source.reader();
        const auto memory_writer = result.writer();
        HookedReader reader(*memory_reader, failing_step == 0 ? fail_at(n) : Hook([](std::int64_t) {}));
        HookedWriter writer(*memory_writer, failing_step == 1 ? fail_at(n) : Hook([](std::int64_t) {}));
        Chain chain;
        chain.then(std::make_shared<HookedStage>(parse_stage("box:radius=3"),
                                                 failing_step == 2 ? fail_at(n) : Hook([](std::int64_t) {})));
        FailingMemory memory;
        RunOptions options = small_bands(slots);
        options.memory = &memory;
        // 13 bands: 13 reads, at least 13 tiles, 13 writes and the finish.
        if (failing_step == 0 && n == 13) {
          CHECK_NOTHROW(run(reader, writer, chain, options));
        } else {
          CHECK_THROWS_AS(run(reader, writer, chain, options), InjectedError);
        }
        CHECK(memory.allocated_bytes() == 0);
      }
    }
  }
  CHECK(wait_for_thread_count(threads_before));
}

TEST_CASE("an allocation that fails leads to a smaller plan, or to one error") {
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 6);
  const Image expected(kSpec);
  run_whole_image(*source.reader(), *expected.writer(), two_stages());
  RunOptions options;
  options.slots = 3;
  options.threads = 2;
  FailingMemory counting;
  options.memory = &counting;
  const Image baseline(kSpec);
  run(*source.reader(), *baseline.writer(), two_stages(), options);
  REQUIRE(counting.allocations() >= 8);
  for (std::int64_t n = 0; n < counting.allocations(); ++n) {
    FailingMemory memory(n);
    options.memory = &memory;
    const Image result(kSpec);
    run(*source.reader(), *result.writer(), two_stages(), options);
    CHECK(result == expected);
    CHECK(memory.allocated_bytes() == 0);
  }

  struct NoMemory final : std::pmr::memory_resource {
    void* do_allocate(std::size_t, std::size_t) override { throw std::bad_alloc(); }
    void do_deallocate(void*, std::size_t, std::size_t) override {}
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
  } no_memory;
  options.memory = &no_memory;
  const Image result(kSpec);
  CHECK_THROWS_AS(run(*source.reader(), *result.writer(), two_stages(), options), OutOfMemory);
}

TEST_CASE("a stop ends a run at once, wherever it is") {
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 7);
  const std::int64_t threads_before = baseline_thread_count();
  for (const std::int64_t at_call : {0, 1, 5, 12}) {
    for (int failing_step = 0; failing_step < 3; ++failing_step) {
      CAPTURE(at_call, failing_step);
      const Image result(kSpec);
      const auto memory_reader = source.reader();
      const auto memory_writer = result.writer();
      std::stop_source stop;
      std::atomic<std::int64_t> last_call = -1;
      const auto stops = [&](int hooked_step) {
        return Hook([&, hooked_step](std::int64_t call) {
          if (hooked_step != failing_step) return;
          last_call = std::max(last_call.load(), call);
          if (call == at_call) stop.request_stop();
        });
      };
      HookedReader reader(*memory_reader, stops(0));
      HookedWriter writer(*memory_writer, stops(1));
      Chain chain;
      chain.then(std::make_shared<HookedStage>(parse_stage("box:radius=3"), stops(2)));
      RunOptions options = small_bands(2);
      options.stop = stop.get_token();
      CHECK_THROWS_AS(run(reader, writer, chain, options), Cancelled);
      if (failing_step < 2) CHECK(last_call == at_call);
    }
  }
  CHECK(wait_for_thread_count(threads_before));
}

TEST_CASE("two runs at once in one process do not disturb each other") {
  std::vector<std::future<bool>> runs;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    runs.push_back(std::async(std::launch::async, [seed] {
      const Image source = Image::of_pattern(kSpec, Pattern::noise, seed);
      const Chain chain =
          Chain::parse(std::vector<std::string>{"gaussian:sigma=" + std::to_string(1 + seed)});
      const Image expected(kSpec);
      const Image result(kSpec);
      run_whole_image(*source.reader(), *expected.writer(), chain);
      run(*source.reader(), *result.writer(), chain, small_bands());
      return result == expected;
    }));
  }
  for (auto& same : runs) CHECK(same.get());
}

TEST_CASE("progress rises to the whole") {
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 8);
  const Image result(kSpec);
  std::vector<Progress> seen;
  RunOptions options = small_bands();
  options.progress = [&](const Progress& progress) { seen.push_back(progress); };
  run(*source.reader(), *result.writer(), two_stages(), options);
  REQUIRE(seen.size() == 13);
  for (std::size_t i = 1; i < seen.size(); ++i) CHECK(seen[i].pixels_done > seen[i - 1].pixels_done);
  CHECK(seen.back().pixels_done == kSpec.extent.area());
  CHECK(seen.back().bytes_read == kSpec.bytes());
  CHECK(seen.back().bytes_written == kSpec.bytes());
  CHECK(seen.back().bands_done == seen.back().bands);
}

TEST_CASE("a sink made for another shape is refused before anything is read") {
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 9);
  const Image wrong({{200, 150}, 1, PixelType::u8});
  const auto memory_reader = source.reader();
  HookedReader reader(*memory_reader, [](std::int64_t) { FAIL("read"); });
  const auto writer = wrong.writer();
  CHECK_THROWS_AS(run(reader, *writer, two_stages(), small_bands()), InvalidArgument);
}
