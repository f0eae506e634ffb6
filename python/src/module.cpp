// The extension module sepconv._sepconv: a private interface for the package's Python files.
#include "bindings.hpp"
#include "without_gil.hpp"

namespace sepconv::python {
namespace {

/// Resets the active work in a forked process, which has none of the parent's threads.
void forget_work() { new (&ActiveWork::instance()) ActiveWork(); }

}  // namespace
}  // namespace sepconv::python

// nanobind's init function overwrites the main interpreter's state before it calls the body below, so it is
// renamed and wrapped.
#define PyInit__sepconv init_in_main_interpreter
NB_MODULE(_sepconv, module) {
  using namespace sepconv::python;
  nb::set_leak_warnings(false);  // caches and detached threads own chains when the interpreter ends
  module.def("end_work", &end_work);
  module.def("forget_work", &forget_work);
  bind_errors(module);
  bind_chain(module);
  bind_apply(module);
  bind_device(module);
  bind_reports(module);
  bind_files(module);
  bind_options(module);
  bind_parts(module);
  bind_sets(module);
}
#undef PyInit__sepconv

extern "C" NB_EXPORT PyObject* PyInit__sepconv() {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return init_in_main_interpreter();
  PyErr_SetString(PyExc_ImportError,
                  "sepconv cannot be imported in a subinterpreter: its threads use the main interpreter's "
                  "GIL; use processes");
  return nullptr;
}
