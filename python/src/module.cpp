// The extension module sepconv._sepconv: names without a contract of their own, for the package's Python
// files.
#include "bindings.hpp"

NB_MODULE(_sepconv, module) {
  using namespace sepconv::python;
  bind_errors(module);
  bind_chain(module);
  bind_apply(module);
  bind_device(module);
  bind_reports(module);
  bind_files(module);
  bind_sets(module);
}
