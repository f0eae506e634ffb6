// The library's exceptions as Python's, with its sentences. The one place where they are translated.
#include <exception>

#include "bindings.hpp"
#include "sepconv/sepconv.hpp"

namespace sepconv::python {
namespace {

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const InvalidArgument& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
  } catch (const OutOfMemory& error) {
    PyErr_SetString(PyExc_MemoryError, error.what());
  } catch (const IoError& error) {
    // OSError itself makes FileNotFoundError, PermissionError and the like of an errno.
    if (error.error() == 0) return PyErr_SetString(PyExc_OSError, error.what());
    PyErr_SetObject(PyExc_OSError, nb::make_tuple(error.error(), error.what()).ptr());
  } catch (const Cancelled&) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  } catch (const Error& error) {  // CudaError, and threads that cannot be had
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
}

}  // namespace

void bind_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace sepconv::python
