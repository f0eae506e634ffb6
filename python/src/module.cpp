// The extension module sepconv._sepconv: names without a contract of their own, for the package's Python
// files.
#include "bindings.hpp"
#include "without_gil.hpp"

namespace sepconv::python {
namespace {

/// In a forked process, where the threads of what was in hand are not.
void forget_work() { new (&WorkInHand::all()) WorkInHand(); }

}  // namespace
}  // namespace sepconv::python

// nanobind's name for what makes the module, which writes over the main interpreter's state before it calls
// the body below.
#define PyInit__sepconv init_in_main_interpreter
NB_MODULE(_sepconv, module) {
  using namespace sepconv::python;
  nb::set_leak_warnings(false);  // caches and threads that nobody joins hold chains when the interpreter ends
  module.def("end_work", &end_work);
  module.def("forget_work", &forget_work);
  bind_errors(module);
  bind_chain(module);
  bind_apply(module);
  bind_device(module);
  bind_reports(module);
  bind_files(module);
  bind_parts(module);
  bind_sets(module);
}
#undef PyInit__sepconv

extern "C" NB_EXPORT PyObject* PyInit__sepconv() {
  if (PyInterpreterState_GetID(PyInterpreterState_Get()) == 0) return init_in_main_interpreter();
  PyErr_SetString(PyExc_ImportError,
                  "sepconv cannot be imported in a subinterpreter: its threads take the main interpreter's "
                  "GIL; use processes");
  return nullptr;
}
