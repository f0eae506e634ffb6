// Combines the progress of the rasters of a set.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "pipeline/run/run.hpp"

namespace sepconv {

class RasterSetProgress {
 public:
  struct Totals {
    std::int64_t bands, pixels;
  };
  /// `callback` receives the progress of the whole set; may be null. `total`: for runs that compute only parts
  /// of the first and the last raster.
  RasterSetProgress(std::function<void(const Progress&)> callback, std::int64_t rasters,
                    std::optional<Totals> total = std::nullopt)
      : callback_(std::move(callback)), rasters_(rasters), totals_(total) {}

  /// The progress callback for the next raster, once the previous one has ended. This object must outlive its
  /// run.
  std::function<void(const Progress&)> next() {
    if (!callback_ || rasters_ == 1) return callback_;
    done_.bands_done += last_.bands_done;
    done_.pixels_done += last_.pixels_done;
    done_.bytes_read += last_.bytes_read;
    done_.bytes_written += last_.bytes_written;
    last_ = {};
    return [this](const Progress& progress) { report(progress); };
  }

 private:
  void report(const Progress& progress) {
    last_ = progress;
    Progress total = progress;
    total.bands = totals_ ? totals_->bands : total.bands * rasters_;
    total.pixels = totals_ ? totals_->pixels : total.pixels * rasters_;
    total.bands_done += done_.bands_done;
    total.pixels_done += done_.pixels_done;
    total.bytes_read += done_.bytes_read;
    total.bytes_written += done_.bytes_written;
    total.seconds = clock_.now();
    callback_(total);
  }

  std::function<void(const Progress&)> callback_;
  std::int64_t rasters_;
  std::optional<Totals> totals_;
  Progress done_, last_;
  Timeline clock_;
};

}  // namespace sepconv
