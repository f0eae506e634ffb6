// The only file that knows OpenCV: a module of its own, because the libraries behind imgcodecs cost 0.2 s and
// 60 MB at start-up, which a program that never meets a BMP should not pay.
#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <opencv2/core/utils/logger.hpp>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <vector>

#include "sepconv/io/opencv/imgcodecs_abi.h"

namespace {

void report(std::string text, char* error, int64_t error_bytes) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  const std::size_t length = std::min(text.size(), static_cast<std::size_t>(error_bytes - 1));
  std::memcpy(error, text.data(), length);
  error[length] = '\0';
}

void* decode(const char* path, sepconv_image* image, char* error, int64_t error_bytes) {
  try {
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    // Unchanged: depth, alpha and orientation as stored.
    auto pixels = std::make_unique<cv::Mat>(cv::imread(path, cv::IMREAD_UNCHANGED));
    if (pixels->empty()) {
      report("OpenCV cannot decode it", error, error_bytes);
      return nullptr;
    }
    if (pixels->depth() != CV_8U && pixels->depth() != CV_16U) {
      report("OpenCV decodes it to a type other than u8 and u16", error, error_bytes);
      return nullptr;
    }
    *image = {pixels->data,
              pixels->rows,
              pixels->cols,
              pixels->channels(),
              static_cast<int64_t>(pixels->step[0]),
              static_cast<int32_t>(pixels->elemSize1())};
    return pixels.release();
  } catch (const std::exception& failure) {
    report(failure.what(), error, error_bytes);
    return nullptr;
  }
}

void release(void* handle) { delete static_cast<cv::Mat*>(handle); }

int encode(const sepconv_image* image, sepconv_sink sink, void* context, char* error, int64_t error_bytes) {
  try {
    cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);
    const int type =
        CV_MAKETYPE(image->element_bytes == 2 ? CV_16U : CV_8U, static_cast<int>(image->channels));
    const cv::Mat pixels(static_cast<int>(image->rows), static_cast<int>(image->cols), type, image->data,
                         static_cast<std::size_t>(image->pitch_bytes));
    std::vector<unsigned char> bytes;
    if (!cv::imencode(".bmp", pixels, bytes)) {
      report("OpenCV cannot encode it", error, error_bytes);
      return 1;
    }
    return sink(context, bytes.data(), static_cast<int64_t>(bytes.size()));
  } catch (const std::exception& failure) {
    report(failure.what(), error, error_bytes);
    return 1;
  }
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const sepconv_imgcodecs* sepconv_imgcodecs_module() {
  static const sepconv_imgcodecs module{SEPCONV_IMGCODECS_ABI, decode, release, encode};
  return &module;
}
