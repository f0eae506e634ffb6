// What the files of the extension module put into it. Each is a thin layer over the library's public headers;
// errors are translated in errors.cpp alone.
#pragma once

#include <nanobind/nanobind.h>

namespace sepconv::python {

namespace nb = nanobind;

void bind_errors(nb::module_& module);
void bind_chain(nb::module_& module);
void bind_apply(nb::module_& module);
void bind_device(nb::module_& module);

}  // namespace sepconv::python
