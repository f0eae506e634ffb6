// The progress of a set of rasters, of which each tells its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "pipeline/run/run.hpp"

namespace sepconv {

class SetProgress {
 public:
  /// For ExecutionOptions::progress of the rasters; null where nobody asks.
  SetProgress(std::function<void(const Progress&)> told, std::int64_t rasters)
      : told_(std::move(told)), rasters_(rasters) {}
  /// Where only some of the first and of the last are made.
  struct All {
    std::int64_t bands, pixels;
  };
  SetProgress(std::function<void(const Progress&)> told, std::int64_t rasters, All all)
      : told_(std::move(told)), rasters_(rasters), all_(all) {}

  /// For the next raster, which the one before has ended; this must outlive its run.
  std::function<void(const Progress&)> next() {
    if (!told_ || rasters_ == 1) return told_;
    done_.bands_done += last_.bands_done;
    done_.pixels_done += last_.pixels_done;
    done_.bytes_read += last_.bytes_read;
    done_.bytes_written += last_.bytes_written;
    last_ = {};
    return [this](const Progress& progress) { tell(progress); };
  }

 private:
  void tell(const Progress& progress) {
    last_ = progress;
    Progress all = progress;
    all.bands = all_ ? all_->bands : all.bands * rasters_;
    all.pixels = all_ ? all_->pixels : all.pixels * rasters_;
    all.bands_done += done_.bands_done;
    all.pixels_done += done_.pixels_done;
    all.bytes_read += done_.bytes_read;
    all.bytes_written += done_.bytes_written;
    all.seconds = clock_.now();
    told_(all);
  }

  std::function<void(const Progress&)> told_;
  std::int64_t rasters_;
  std::optional<All> all_;
  Progress done_, last_;
  Timeline clock_;
};

}  // namespace sepconv
