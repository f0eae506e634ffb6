#include "io/tiff/tiff_handle.hpp"

#include <fmt/format.h>

#include <cstdarg>
#include <cstdio>
#include <exception>
#include <limits>
#include <utility>

#include "core/error.hpp"

namespace sepconv {

struct TiffHandle::State {
  State(TiffBytes& source, std::string handle_name) : bytes(source), name(std::move(handle_name)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    closing = true;
    if (tiff != nullptr) TIFFClose(tiff);
  }

  TiffBytes& bytes;
  std::string name;
  std::int64_t position = 0;
  bool closing = false;
  std::exception_ptr thrown;
  std::string message;
  std::string jpeg_warning;
  bool has_extra_bytes = false;
  TIFF* tiff = nullptr;

  /// Runs `call`. An exception must not cross C code: it is stored, and `failed` is returned.
  template <class Result, class Call>
  Result guarded(Result failed, Call call) noexcept {
    try {
      return call();
    } catch (...) {
      if (!thrown) thrown = std::current_exception();
      return failed;
    }
  }
};

namespace {

std::string format_message(const char* format, va_list arguments) {
  char text[512];
  std::vsnprintf(text, sizeof text, format, arguments);
  std::string message = text;
  while (!message.empty() && (message.back() == '.' || message.back() == '\n' || message.back() == ' '))
    message.pop_back();
  return message;
}

/// Whether a message of libtiff, zstd or libjpeg reports a lack of memory. Exceeding a limit that we set, as
/// damaged files do, does not count.
bool is_about_memory(std::string_view message) {
  if (message.find("limit defined in open options") != message.npos) return false;
  for (const std::string_view phrase :
       {"ut of memory", "annot allocate", "No space for", "nsufficient memory", "ot enough memory",
        "No memory", "ailed to allocate"}) {
    if (message.find(phrase) != message.npos) return true;
  }
  return false;
}

// The procedures that libtiff calls; S is TiffHandle::State, which only TiffHandle may name.
template <class S>
struct LibtiffCallbacks {
  static S& state(thandle_t handle) { return *static_cast<S*>(handle); }

  static tmsize_t read(thandle_t handle, void* data, tmsize_t size) {
    S& self = state(handle);
    return self.template guarded<tmsize_t>(-1, [&] {
      const std::span<std::byte> bytes(static_cast<std::byte*>(data), static_cast<std::size_t>(size));
      const std::int64_t count = self.bytes.read_some(self.position, bytes);
      self.position += count;
      return static_cast<tmsize_t>(count);
    });
  }

  static tmsize_t write(thandle_t handle, void* data, tmsize_t size) {
    S& self = state(handle);
    if (self.closing) return size;
    return self.template guarded<tmsize_t>(-1, [&] {
      self.bytes.write(self.position, {static_cast<const std::byte*>(data), static_cast<std::size_t>(size)});
      self.position += size;
      return size;
    });
  }

  static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    S& self = state(handle);
    constexpr auto kFailed = static_cast<toff_t>(-1);
    return self.template guarded<toff_t>(kFailed, [&] {
      const std::int64_t origin = whence == SEEK_SET   ? 0
                                  : whence == SEEK_CUR ? self.position
                                                       : self.bytes.size();
      // Damaged directories ask for offsets that only fit in unsigned 64 bits.
      if (offset > static_cast<toff_t>(std::numeric_limits<std::int64_t>::max() - origin)) return kFailed;
      self.position = origin + static_cast<std::int64_t>(offset);
      return static_cast<toff_t>(self.position);
    });
  }

  static toff_t size(thandle_t handle) {
    S& self = state(handle);
    return self.template guarded<toff_t>(0, [&] { return static_cast<toff_t>(self.bytes.size()); });
  }

  static int close(thandle_t) { return 0; }

  static int error(TIFF*, void* user, const char*, const char* format, va_list arguments) {
    S& self = state(user);
    if (self.message.empty()) self.message = format_message(format, arguments);
    return 1;  // handled: the process-wide handlers are not called
  }

  static int warning(TIFF*, void* user, const char* module, const char* format, va_list arguments) {
    S& self = state(user);
    if (module == nullptr || std::string_view(module) != "JPEGLib" || !self.jpeg_warning.empty()) return 1;
    std::string text = format_message(format, arguments);
    // As in jpeg_errors().
    if (text.find("JFIF revision") != text.npos) return 1;
    if (text.find("extraneous") != text.npos)
      self.has_extra_bytes = true;
    else
      self.jpeg_warning = std::move(text);
    return 1;
  }
};

}  // namespace

TiffHandle::TiffHandle(TiffBytes& bytes, std::string name, const std::string& mode,
                       std::int64_t max_allocation_bytes)
    : state_(std::make_unique<State>(bytes, std::move(name))) {
  using Callbacks = LibtiffCallbacks<State>;
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(TIFFOpenOptionsAlloc(),
                                                                                 TIFFOpenOptionsFree);
  if (!options)
    throw OutOfMemory(
        fmt::format("{}: no memory for a libtiff handle; allow less memory elsewhere", this->name()));
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), max_allocation_bytes);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), Callbacks::error, state_.get());
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), Callbacks::warning, state_.get());
  state_->tiff = TIFFClientOpenExt(this->name().c_str(), (mode + "mc").c_str(), state_.get(), Callbacks::read,
                                   Callbacks::write, Callbacks::seek, Callbacks::close, Callbacks::size,
                                   nullptr, nullptr, options.get());
  check(state_->tiff != nullptr, "is not a TIFF that can be opened");
}

TiffHandle::TiffHandle(TiffHandle&&) noexcept = default;
TiffHandle& TiffHandle::operator=(TiffHandle&&) noexcept = default;
TiffHandle::~TiffHandle() = default;

TIFF* TiffHandle::get() const noexcept { return state_->tiff; }
const std::string& TiffHandle::name() const noexcept { return state_->name; }
const std::string& TiffHandle::message() const noexcept { return state_->message; }
const std::string& TiffHandle::jpeg_warning() const noexcept { return state_->jpeg_warning; }

bool TiffHandle::has_extra_bytes() const noexcept { return state_->has_extra_bytes; }

void TiffHandle::clear_messages() noexcept {
  state_->thrown = nullptr;
  state_->message.clear();
  state_->jpeg_warning.clear();
  state_->has_extra_bytes = false;
}

void TiffHandle::fail(std::string_view what) const {
  if (state_->thrown) std::rethrow_exception(state_->thrown);
  if (is_about_memory(state_->message)) {
    throw OutOfMemory(fmt::format(
        "{}: no memory for libtiff ({}); give a smaller PlanOptions::max_memory_bytes or free some memory",
        name(), state_->message));
  }
  if (state_->message.empty()) throw IoError(fmt::format("{}: {}", name(), what));
  throw IoError(fmt::format("{}: {}: {}", name(), what, state_->message));
}

}  // namespace sepconv
