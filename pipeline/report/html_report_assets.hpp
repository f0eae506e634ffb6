// What every page of a report has: its style and its script.
#pragma once

namespace sepconv {

extern const char* const kPageStyle;
extern const char* const kPageScript;

}  // namespace sepconv
