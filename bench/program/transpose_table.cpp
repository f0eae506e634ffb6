// The results of bench transpose as tables.
#include <fmt/format.h>

#include <algorithm>

#include "app/console.hpp"
#include "bench/transpose/variants.hpp"
#include "transpose.hpp"

namespace sepconv::app {

namespace {

void print_header(const std::string& job, bool on_gpu) {
  print("\n{}\n{:<22} {:>7} {:>12} {:>9} {:>5} {:>9} {:>8} {:>9}{}\n", job, "variant", "threads", "mean ms",
        "deviation", "runs", "GB/s", "of copy", "x loop", on_gpu ? "  with copies" : "");
}

void print_row(const TransposeResult& result, const TransposeRow& row, bool on_gpu) {
  print("{:<22} {:>7} {:>12.4f} {:>9} {:>5} {:>9.2f} {:>8.3f} {:>9}", row.name,
        row.threads > 0 ? fmt::format("{}", row.threads) : "GPU", row.time.mean * 1e3,
        deviation_text(row.runs, row.time), row.runs, bytes_per_second(row) / 1e9, copy_fraction(row),
        factor_text(speed_up(result, row)));
  if (on_gpu) print(" {:>12}", factor_text(speed_up_with_copies(result, row)));
  print("{}\n", row.whole() ? "" : fmt::format("  of {}", size_text(true, row.part)));
}

void print_copies(const TransposeCopies& copies) {
  const double bytes = static_cast<double>(copies.job.bytes());
  const auto copy_text = [&](const TrimmedMean& time) {
    return fmt::format("{:.3f} ms ({:.1f} GB/s)", time.mean * 1e3, bytes / time.mean / 1e9);
  };
  print("to the GPU {}, back {}, page-locked\n", copy_text(copies.upload), copy_text(copies.download));
}

/// Prints the rows of each job; result.rows is grouped by job.
void print_jobs(const TransposeResult& result, bool on_gpu) {
  std::string last;
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const TransposeRow& row = result.rows[i];
    const std::string text = text_of(row.job);
    if (text != last) print_header(text, on_gpu);
    print_row(result, row, on_gpu);
    last = text;
    const bool ends = i + 1 == result.rows.size() || text_of(result.rows[i + 1].job) != text;
    const auto copies = std::ranges::find_if(
        result.copies, [&](const TransposeCopies& candidate) { return text_of(candidate.job) == text; });
    if (ends && copies != result.copies.end()) print_copies(*copies);
  }
}

/// Prints one line per variant and one column per permutation, as in the lab exercise.
void print_overview(const TransposeRequest& request, const TransposeResult& result, PixelType type) {
  const std::vector<TransposeJob> jobs = tensor_jobs(request, type);
  std::vector<const TransposeRow*> variants;
  for (const TransposeRow& row : result.rows) {
    const bool is_listed = std::ranges::any_of(variants, [&](const TransposeRow* candidate) {
      return candidate->name == row.name && candidate->threads == row.threads;
    });
    if (!row.job.matrix && row.job.type == type && !is_listed) variants.push_back(&row);
  }
  print("\n{} {}, GB/s\n{:<22} {:>7}", size_text(false, request.tensor), name_of(type), "variant", "threads");
  for (const TransposeJob& job : jobs) print(" {:>9}", to_string(job.permutation));
  print("\n");
  for (const TransposeRow* const variant : variants) {
    print("{:<22} {:>7}", variant->name, variant->threads > 0 ? fmt::format("{}", variant->threads) : "GPU");
    for (const TransposeJob& job : jobs) {
      const TransposeRow* const row = find_row(result, job, variant->name, variant->threads);
      print(" {:>9}", row != nullptr ? fmt::format("{:.2f}", bytes_per_second(*row) / 1e9) : "-");
    }
    print("\n");
  }
}

/// Compares the tiles of two axes with the best tile of three.
void print_tiles(const TransposeRequest& request, const TransposeResult& result, PixelType type) {
  print("\n{} {}, tiles of two axes as many times as fast as 8 x 8 x 8, conflict-free\n",
        size_text(false, request.tensor), name_of(type));
  print("{:<11} {:>8} {:>8}\n", "permutation", "32 x 32", "8 x 8");
  for (const TransposeJob& job : tensor_jobs(request, type)) {
    const auto row = [&](PermuteVariant variant) { return find_row(result, job, name_of(variant), 0); };
    const auto factor = [&](PermuteVariant variant) -> std::optional<double> {
      if (row(variant) == nullptr) return {};
      return row(PermuteVariant::conflict_free)->time.mean / row(variant)->time.mean;
    };
    print("{:<11} {:>8} {:>8}\n", to_string(job.permutation), factor_text(factor(PermuteVariant::tile_2d_32)),
          factor_text(factor(PermuteVariant::tile_2d_8)));
  }
}

}  // namespace

void print_transpose_tables(const TransposeRequest& request, const TransposeResult& result) {
  print("{}\n", result.device);
  print(
      "mean and deviation: of the runs after a warm-up, without the fastest and the slowest{}\n"
      "GB/s: read and written; of copy: of the same device's copy, on the host by all threads; x loop: as "
      "many times as fast as the host's loop on one thread\n",
      request.on_gpu() ? "; kernels by the GPU's clock" : "");
  if (request.on_gpu()) print("with copies: the same with the copies to the GPU and back\n");
  print_jobs(result, request.on_gpu());
  for (const PixelType type : request.types) {
    if (!request.permute) break;
    print_overview(request, result, type);
    if (request.on_gpu()) print_tiles(request, result, type);
  }
  print("\nevery variant's result was compared with the host's, element by element\n");
}

}  // namespace sepconv::app
