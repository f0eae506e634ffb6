// Forward declarations of CLI11. Its own header takes seconds to compile; only files that declare options
// include it.
#pragma once

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI
