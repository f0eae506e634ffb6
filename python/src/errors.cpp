// Translates the library's exceptions and messages to Python.
#include <exception>
#include <new>
#include <string>
#include <system_error>

#include "bindings.hpp"
#include "sepconv/sepconv.hpp"

namespace sepconv::python {
namespace {

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
  } catch (const Error& error) {  // DeviceError
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

nb::str sentence_of(std::string_view text) { return text_of(with_option_names(text, &OptionName::keyword)); }

nb::list sentences_of(const std::vector<std::string>& sentences) {
  nb::list message;
  for (const std::string& sentence : sentences) message.append(sentence_of(sentence));
  return message;
}

void bind_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace sepconv::python
