// What headers name of CLI11. Its own header takes seconds to compile and is included where options are made.
#pragma once

namespace CLI {
class App;
class Option;
class Validator;
}  // namespace CLI
