// The CSS and the JavaScript of every report page.
#pragma once

namespace sepconv {

extern const char* const kPageStyle;
extern const char* const kPageScript;

}  // namespace sepconv
