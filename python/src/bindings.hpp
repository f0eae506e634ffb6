// Functions that add bindings to the extension module. They are thin layers over the library's public
// headers; only errors.cpp translates errors.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

namespace sepconv::python {

namespace nb = nanobind;

/// A Python string of text that may come from files or file names; invalid UTF-8 is escaped.
nb::str text_of(std::string_view text);
/// A message of the library, with names of C++ options replaced by Python keywords.
nb::str sentence_of(std::string_view text);
nb::list sentences_of(const std::vector<std::string>& sentences);

void bind_errors(nb::module_& module);
void bind_chain(nb::module_& module);
void bind_apply(nb::module_& module);
void bind_device(nb::module_& module);
void bind_files(nb::module_& module);
void bind_options(nb::module_& module);
void bind_parts(nb::module_& module);
void bind_reports(nb::module_& module);
void bind_sets(nb::module_& module);

}  // namespace sepconv::python
