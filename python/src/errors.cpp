// Translates the library's exceptions and messages to Python.
#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "bindings.hpp"
#include "sepconv/sepconv.hpp"

namespace sepconv::python {
namespace {

/// Names of options in the library's messages, and the Python keywords that replace them.
constexpr std::pair<std::string_view, std::string_view> kKeywords[] = {
    {"OpenOptions::page", "page"},
    {"OpenOptions::select", "page"},
    {"OpenOptions::axes", "axes"},
    {"OpenOptions::raw", "raw"},
    {"OpenOptions::missing_chunks = error", "missing_chunks='error'"},
    {"OpenOptions::missing_chunks = fill", "missing_chunks='fill'"},
    {"OpenOptions::missing_chunks", "missing_chunks"},
    {"CreateOptions::overwrite", "overwrite=True"},
    {"OutputOptions::compression", "compress"},
    {"OutputOptions::tile", "tile"},
    {"OutputOptions::planar", "planar"},
    {"OutputOptions::shard", "shard"},
    {"OutputOptions::zarr", "zarr"},
    {"OutputOptions::no_predictor", "no_predictor"},
    {"OutputOptions::pyramid = false", "pyramid=False"},
    {"OutputOptions::pyramid", "pyramid"},
    {"OutputOptions::nearest_levels", "pyramid='nearest'"},
    {"OutputOptions::cog", "cog"},
    {"OutputOptions::big_tiff = true", "bigtiff=True"},
    {"OutputOptions::big_tiff = false", "bigtiff=False"},
    {"FileOptions::orient", "orient"},
    {"OutputOptions::to_8bit", "to_8bit"},
    {"OutputOptions::range_of_8bit", "to_8bit=(low, high)"},
    {"OutputOptions::background = white", "background='white'"},
    {"OutputOptions::background", "background"},
    {"PlanOptions::max_memory_bytes", "max_memory"},
    {"PlanOptions::max_device_memory_bytes", "max_device_memory"},
    {"PlanOptions::devices", "device"},
    {"PlanOptions::threads", "threads"},
    {"PlanOptions::slots", "slots"},
    {"PlanOptions::band_rows", "band_rows"},
    {"PlanOptions::band_cols", "band_cols"},
    {"PlanOptions::region", "region"},
    {"resume_file()", "resume=True"},
    {"run_part()", "part="},
    {"finish_file()", "sepconv.finish()"},
    {"Checkpoint::discard()", "discard=True"},
    {"MissingOptions::none", "nodata='none'"},
    {"MissingOptions::value", "nodata"},
    {"MissingOptions::all_channels", "nodata_bands"},
    {"MissingOptions::result", "dst_nodata"},
    {"MissingOptions::alpha_rule", "alpha"},
};

void set_error(PyObject* type, const std::exception& error) {
  PyErr_SetObject(type, sentence_of(error.what()).ptr());
}

/// Sets an OSError; Python selects the subclass by errno: FileNotFoundError, FileExistsError,
/// PermissionError, ...
void set_os_error(const IoError& error) {
  if (error.error() == 0) return set_error(PyExc_OSError, error);
  PyErr_SetObject(PyExc_OSError, nb::make_tuple(error.error(), sentence_of(error.what())).ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const InvalidArgument& error) {
    set_error(PyExc_ValueError, error);
  } catch (const OutOfMemory& error) {
    set_error(PyExc_MemoryError, error);
  } catch (const LimitReached& error) {
    set_error(PyExc_MemoryError, error);
  } catch (const IoError& error) {
    set_os_error(error);
  } catch (const Cancelled&) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  } catch (const Error& error) {  // CudaError
    set_error(PyExc_RuntimeError, error);
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError,
                    "cannot allocate memory; take smaller arrays, or raise the limit (ulimit -v)");
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again) throw;
    PyErr_SetString(PyExc_MemoryError,
                    "a thread could not be started: the limit on processes (ulimit -u) or on memory (ulimit "
                    "-v) is reached; raise it");
  }
}

}  // namespace

nb::str text_of(std::string_view text) {
  return nb::steal<nb::str>(PyUnicode_DecodeUTF8(text.data(), std::ssize(text), "backslashreplace"));
}

nb::str sentence_of(std::string_view text) {
  std::string message(text);
  for (const auto& [cpp_name, keyword] : kKeywords) {
    for (std::size_t position = 0; (position = message.find(cpp_name, position)) != message.npos;
         position += keyword.size())
      message.replace(position, cpp_name.size(), keyword);
  }
  return text_of(message);
}

nb::list sentences_of(const std::vector<std::string>& sentences) {
  nb::list message;
  for (const std::string& sentence : sentences) message.append(sentence_of(sentence));
  return message;
}

void bind_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace sepconv::python
