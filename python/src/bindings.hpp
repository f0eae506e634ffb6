// What the files of the extension module put into it. Each is a thin layer over the library's public headers;
// errors are translated in errors.cpp alone.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>
#include <vector>

namespace sepconv::python {

namespace nb = nanobind;

/// Text whose bytes may come from files and their names; what is not UTF-8 is shown as escapes.
nb::str text_of(std::string_view text);
/// Sentences of the library with Python's keywords for the options that they name.
nb::str sentence_of(std::string_view text);
nb::list sentences_of(const std::vector<std::string>& sentences);

void bind_errors(nb::module_& module);
void bind_chain(nb::module_& module);
void bind_apply(nb::module_& module);
void bind_device(nb::module_& module);
void bind_files(nb::module_& module);
void bind_parts(nb::module_& module);
void bind_reports(nb::module_& module);
void bind_sets(nb::module_& module);

}  // namespace sepconv::python
