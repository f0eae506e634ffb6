// The library's exceptions as Python's, with its sentences. The one place where they are translated.
#include <exception>
#include <string>

#include "bindings.hpp"
#include "sepconv/sepconv.hpp"

namespace sepconv::python {
namespace {

/// The library's sentences name its options; Python's callers know them by their keywords.
constexpr std::pair<std::string_view, std::string_view> kKeywords[] = {
    {"OpenOptions::page", "page"},
    {"OpenOptions::select", "page"},
    {"OpenOptions::axes", "axes"},
    {"CreateOptions::overwrite", "overwrite=True"},
    {"OutputRequest::compression", "compress"},
    {"OutputRequest::tile", "tile"},
    {"OutputRequest::planar", "planar"},
    {"OutputRequest::no_predictor", "no_predictor"},
    {"OutputRequest::pyramid", "pyramid"},
    {"OutputRequest::cog", "cog"},
    {"OutputRequest::big_tiff = true", "big_tiff=True"},
    {"OutputRequest::big_tiff = false", "big_tiff=False"},
    {"PlanOptions::max_memory_bytes", "max_memory"},
    {"PlanOptions::max_device_memory_bytes", "max_device_memory"},
    {"PlanOptions::devices", "device"},
    {"PlanOptions::threads", "threads"},
    {"PlanOptions::band_rows", "band_rows"},
    {"PlanOptions::band_cols", "band_cols"},
    {"PlanOptions::region", "region"},
    {"MissingOptions::none", "nodata='none'"},
    {"MissingOptions::value", "nodata"},
    {"MissingOptions::result", "result_nodata"},
};

/// Of the class that Python has for the number: FileNotFoundError, FileExistsError, PermissionError, ...
void set_os_error(const IoError& error) {
  const std::string sentence = with_keywords(error.what());
  if (error.error() == 0) return PyErr_SetString(PyExc_OSError, sentence.c_str());
  PyErr_SetObject(PyExc_OSError, nb::make_tuple(error.error(), nb::str(sentence.c_str())).ptr());
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const InvalidArgument& error) {
    PyErr_SetString(PyExc_ValueError, with_keywords(error.what()).c_str());
  } catch (const OutOfMemory& error) {
    PyErr_SetString(PyExc_MemoryError, with_keywords(error.what()).c_str());
  } catch (const IoError& error) {
    set_os_error(error);
  } catch (const Cancelled&) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  } catch (const Error& error) {  // CudaError, and threads that cannot be had
    PyErr_SetString(PyExc_RuntimeError, with_keywords(error.what()).c_str());
  }
}

}  // namespace

std::string with_keywords(std::string_view text) {
  std::string words(text);
  for (const auto& [member, keyword] : kKeywords) {
    for (std::size_t at = 0; (at = words.find(member, at)) != words.npos; at += keyword.size())
      words.replace(at, member.size(), keyword);
  }
  return words;
}

std::vector<std::string> with_keywords(const std::vector<std::string>& sentences) {
  std::vector<std::string> words;
  for (const std::string& sentence : sentences) words.push_back(with_keywords(sentence));
  return words;
}

void bind_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace sepconv::python
