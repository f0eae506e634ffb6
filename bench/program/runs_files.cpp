// Measures runs from file to file, and reading and writing the same bytes as their limit.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/error.hpp"
#include "core/memory.hpp"
#include "io/byte_file.hpp"
#include "io/formats.hpp"
#include "io/test_pattern.hpp"
#include "pipeline/machine/thread_pool.hpp"
#include "runs.hpp"

namespace sepconv::app {

namespace {

constexpr std::int64_t kPieceBytes = std::int64_t{4} << 20;  // per read and write of one thread

/// A temporary folder; the destructor removes it and its contents.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::filesystem::path& parent)
      : path_(parent / fmt::format("sepconv-bench-{}", getpid())) {
    std::error_code error;
    if (!std::filesystem::create_directory(path_, error)) {
      throw IoError(fmt::format("{} cannot be made; give a folder that can be written", path_.string()));
    }
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

std::unique_ptr<Writer> make_writer(const std::filesystem::path& path, const ImageSpec& spec) {
  CreateOptions options;
  options.overwrite = true;
  if (path.extension() == ".tif") options.big_tiff = true;
  return create_writer(path, spec, options);
}

void generate(const RunsRequest& request, const std::filesystem::path& path) {
  RunOptions options;  // on the CPU
  options.threads = request.options.threads, options.stop = request.options.stop;
  run(*make_pattern_reader(request.spec, Pattern::noise, 1), *make_writer(path, request.spec), Chain(),
      options);
}

/// Copies a file. Every thread repeatedly reads a piece and writes it.
void copy_raw(const std::filesystem::path& from, const std::filesystem::path& to, ThreadPool& pool,
              std::vector<Buffer>& pieces) {
  const InputFile in(from);
  OutputFile out(to, {.overwrite = true});
  out.resize(in.size());
  pool.for_each(ceil_div(in.size(), kPieceBytes), [&](std::int64_t piece, int worker) {
    const std::int64_t offset = piece * kPieceBytes;
    const auto bytes = static_cast<std::size_t>(std::min(kPieceBytes, in.size() - offset));
    const std::span<std::byte> memory = pieces[static_cast<std::size_t>(worker)].bytes().first(bytes);
    in.read_at(offset, memory);
    out.write_at(offset, memory);
  });
  out.commit();
}

/// Times the raw copy into a new file, as a run writes one. Removing the previous file is not measured.
Timing raw_limit(const RunsRequest& request, const std::filesystem::path& from,
                 const std::filesystem::path& to) {
  const int threads = threads_of(request.options);
  ThreadPool pool(threads, request.options.stop);
  std::vector<Buffer> pieces;
  for (int worker = 0; worker < threads; ++worker) pieces.emplace_back(kPieceBytes);
  return time_runs(request.runs, [&] {
    std::filesystem::remove(to);
    return seconds_of([&] { copy_raw(from, to, pool, pieces); });
  });
}

void bench_format(const RunsRequest& request, const ScratchFolder& folder, const std::string& ending,
                  RunsResult& result) {
  const std::filesystem::path from = folder.file("in." + ending);
  const std::filesystem::path to = folder.file("out." + ending);
  generate(request, from);
  for (const std::int64_t radius : request.radii) {
    const Chain chain = chain_of(request, radius);
    const Timing limit = raw_limit(request, from, to);
    for (const int slots : request.slots) {
      const auto run_once = [&](const RunOptions& options) {
        std::filesystem::remove(to);
        const auto source = open_reader(from);
        return run(*source, *make_writer(to, result_spec(request)), chain, options);
      };
      result.rows.push_back(time_runs(request, radius, slots, run_once, result.device));
      result.rows.back().kind = ending;
      result.rows.back().limit_seconds = limit.median;
      check_windows(chain, *open_reader(from), *open_reader(to));
    }
  }
  std::filesystem::remove(from), std::filesystem::remove(to);
}

}  // namespace

RunsResult bench_files(const RunsRequest& request) {
  if (!std::filesystem::is_directory(request.folder)) {
    throw InvalidArgument(
        fmt::format("--file {} is not a folder; give one with room for two images", request.folder.string()));
  }
  const ScratchFolder folder(request.folder);
  RunsResult result;
  result.limit = "reading and writing the same bytes by as many threads, from and to the page cache";
  for (const char* ending : {"tif", "npy"}) bench_format(request, folder, ending, result);
  return result;
}

}  // namespace sepconv::app
