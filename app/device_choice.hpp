// --device and --max-device-memory, parsed into options of the library.
#pragma once

#include <string>

#include "cli11.hpp"
#include "pipeline/run/run.hpp"

namespace sepconv::app {

/// Sets options.devices and options.choose_device from "auto", "cpu", "cuda", "cuda:0", "cuda:0,1". Throws
/// InvalidArgument.
void parse_device(const std::string& text, PlanOptions& options);

/// Adds --device, auto by default, and --max-device-memory.
void add_device_options(CLI::App& command, RunOptions& options);

}  // namespace sepconv::app
