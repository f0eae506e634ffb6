#include "io/jpeg/jpeg_errors.hpp"

#include <jerror.h>

#include "core/geometry.hpp"

namespace sepconv {
namespace {

CodecGuard& guard_of(j_common_ptr info) { return *static_cast<CodecGuard*>(info->client_data); }

[[noreturn]] void fail(j_common_ptr info) {
  char message[JMSG_LENGTH_MAX];
  info->err->format_message(info, message);
  guard_of(info).fail(message);
}

void emit(j_common_ptr info, int level) {
  // A newer JFIF version loses nothing, and bytes before a marker may be padding.
  if (level >= 0 || info->err->msg_code == JWRN_JFIF_MAJOR) return;
  if (info->err->msg_code != JWRN_EXTRANEOUS_DATA) fail(info);
  guard_of(info).note_extra_bytes();
}

void print_nothing(j_common_ptr) {}

}  // namespace

jpeg_error_mgr jpeg_errors() noexcept {
  jpeg_error_mgr errors;
  jpeg_std_error(&errors);
  errors.error_exit = fail;
  errors.emit_message = emit;
  errors.output_message = print_nothing;
  return errors;
}

std::int64_t libjpeg_bytes(std::int64_t cols, std::int64_t channels) noexcept {
  constexpr std::int64_t codec_bytes = std::int64_t{1} << 20;
  constexpr std::int64_t buffered_rows = 64;
  return codec_bytes + buffered_rows * channels * round_up(cols, 32);
}

}  // namespace sepconv
