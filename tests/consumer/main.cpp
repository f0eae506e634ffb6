// A program that embeds sepconv: rows from callbacks, one stage on the program's buffers, two simultaneous
// pipelines, a custom logger and progress. Every result is compared with arithmetic written out here.
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <exception>
#include <functional>
#include <iostream>
#include <sepconv/sepconv.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <typeinfo>
#include <utility>
#include <vector>

namespace {

void require(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error("does not hold: " + what);
}

sepconv::Chain parse(const std::vector<std::string>& stages) { return sepconv::Chain::parse(stages); }

/// The source image: a formula, so that no image is stored.
std::uint16_t source_pixel(std::int64_t row, std::int64_t col) {
  return static_cast<std::uint16_t>((row * 31 + col * 17 + row * col % 13) % 4096);
}

/// (1 2 1)/4 along the columns with replicated edges, on integers, rounded half to even.
std::uint16_t expected_pixel(std::int64_t row, std::int64_t col, sepconv::Extent extent) {
  const auto at = [&](std::int64_t r) {
    return source_pixel(std::clamp<std::int64_t>(r, 0, extent.rows - 1), col);
  };
  const int sum = at(row - 1) + 2 * at(row) + at(row + 1);
  const int quotient = sum / 4;
  const int remainder = sum % 4;
  return static_cast<std::uint16_t>(remainder < 2 || (remainder == 2 && quotient % 2 == 0) ? quotient
                                                                                           : quotient + 1);
}

/// Streams the image through run() from callbacks to callbacks and checks every row.
void filter_rows(sepconv::Extent extent, const sepconv::RunOptions& options) {
  const sepconv::ImageSpec spec{extent, 1, sepconv::PixelType::u16};
  const auto reader =
      sepconv::make_rows_reader(spec, [](std::int64_t first_row, const sepconv::PixelView& out) {
        for (std::int64_t row = 0; row < out.extent.rows; ++row) {
          auto* pixels = out.row<std::uint16_t>(row);
          for (std::int64_t col = 0; col < out.extent.cols; ++col)
            pixels[col] = source_pixel(first_row + row, col);
        }
      });

  std::int64_t next_row = 0;
  bool finished = false;
  const auto check_rows = [&](std::int64_t first_row, const sepconv::ConstPixelView& rows) {
    require(first_row == next_row, "rows arrive in order, each once");
    for (std::int64_t row = 0; row < rows.extent.rows; ++row) {
      const auto* pixels = rows.row<std::uint16_t>(row);
      for (std::int64_t col = 0; col < rows.extent.cols; ++col) {
        require(pixels[col] == expected_pixel(first_row + row, col, extent),
                "pixel at row " + std::to_string(first_row + row) + ", column " + std::to_string(col));
      }
    }
    next_row += rows.extent.rows;
  };
  const auto writer = sepconv::make_rows_writer(spec, check_rows, [&] { finished = true; });

  const sepconv::RunReport report =
      sepconv::run(*reader, *writer, parse({"convolve:col=0.25,0.5,0.25,border=replicate"}), options);
  require(next_row == extent.rows && finished, "all rows arrive and finish is called");
  require(report.plan.memory.total() <= options.max_memory_bytes, "the plan stays under the ceiling");
}

void run_with_callbacks() {
  std::int64_t bands_seen = 0;
  std::ostringstream log;
  sepconv::RunOptions options;
  options.max_memory_bytes = 16 << 20;
  options.band_rows = 64;
  options.logger =
      std::make_shared<spdlog::logger>("mine", std::make_shared<spdlog::sinks::ostream_sink_mt>(log));
  options.logger->set_level(spdlog::level::debug);
  options.progress = [&](const sepconv::Progress& progress) { bands_seen = progress.bands_done; };

  filter_rows({1000, 777}, options);
  require(bands_seen == (1000 + 63) / 64, "progress is reported for every band");
  require(!log.str().empty(), "the plan goes to the caller's logger");
}

/// A Gaussian's impulse response on the caller's buffers is symmetric and sums to 1.
void apply_one_stage() {
  const sepconv::Extent extent{33, 47};
  std::vector<float> in(33 * 47, 0.0F);
  std::vector<float> out(33 * 47, -1.0F);
  in[16 * 47 + 23] = 1.0F;
  sepconv::apply(parse({"gaussian:sigma=2"}), sepconv::view_of(in.data(), extent),
                 sepconv::view_of(out.data(), extent));

  double sum = 0;
  for (const float value : out) sum += value;
  require(std::abs(sum - 1) < 1e-5, "the taps sum to 1");
  for (int offset = 1; offset <= 8; ++offset) {
    const float right = out[16 * 47 + 23 + offset];
    require(right == out[16 * 47 + 23 - offset], "the response is symmetric");
    require(right > 0 && right == out[(16 + offset) * 47 + 23], "rows and columns are filtered alike");
  }
}

void two_concurrent_pipelines() {
  std::exception_ptr errors[2];
  {
    std::vector<std::jthread> threads;
    for (int index = 0; index < 2; ++index) {
      threads.emplace_back([&errors, index] {
        try {
          sepconv::RunOptions options;
          options.max_memory_bytes = 32 << 20;
          options.threads = 2;
          filter_rows({2000 + index, 501 + index}, options);
        } catch (...) {
          errors[index] = std::current_exception();
        }
      });
    }
  }
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

/// run() passes an exception of the caller's callback on unchanged.
void caller_errors_propagate() {
  struct CallerError {
    int code;
  };
  const sepconv::ImageSpec spec{{500, 500}, 1, sepconv::PixelType::u8};
  const auto reader =
      sepconv::make_rows_reader(spec, [](std::int64_t first_row, const sepconv::PixelView& out) {
        if (first_row + out.extent.rows > 100) throw CallerError{42};
      });
  const auto writer = sepconv::make_rows_writer(spec, [](std::int64_t, const sepconv::ConstPixelView&) {});
  int code = 0;
  try {
    sepconv::run(*reader, *writer, parse({"box:radius=1"}));
  } catch (const CallerError& error) {
    code = error.code;
  }
  require(code == 42, "an exception of the caller's reader reaches the caller");
}

/// The caller can catch the library's exceptions by their type and by their base classes.
void errors_are_caught() {
  const auto caught = [](auto error, const std::function<void()>& fails) {
    try {
      fails();
    } catch (const decltype(error)&) {
      return true;
    } catch (...) {
    }
    return false;
  };
  const auto wrong = [] { parse({"gaussian:sigma=-1"}); };
  const auto missing = [] { sepconv::open_reader("there is no such file.tif"); };
  require(caught(sepconv::InvalidArgument(""), wrong) && !caught(sepconv::IoError(""), wrong),
          "a wrong stage is an InvalidArgument");
  require(caught(sepconv::IoError(""), missing) && caught(sepconv::Error(""), missing) &&
              caught(std::runtime_error(""), missing),
          "a missing file is an IoError, an Error and a runtime_error");
  const auto stage = parse({"abs"}).stages().front();
  require(
      dynamic_cast<const sepconv::Stage*>(stage.get()) != nullptr && typeid(*stage) != typeid(sepconv::Stage),
      "a stage has its own class");
}

}  // namespace

int main() {
  const std::pair<const char*, std::function<void()>> checks[] = {
      {"run with own rows", run_with_callbacks},
      {"apply one stage", apply_one_stage},
      {"two pipelines at once", two_concurrent_pipelines},
      {"own errors come through", caller_errors_propagate},
      {"errors are caught", errors_are_caught}};
  for (const auto& [name, check] : checks) {
    try {
      check();
      std::cout << "ok: " << name << '\n';
    } catch (const std::exception& error) {
      std::cout << "FAILED: " << name << ": " << error.what() << '\n';
      return 1;
    }
  }
  return 0;
}
