// GDAL, which Debian's OpenCV brings along, takes two locks of its own in both orders when it starts; it is not ours to mend.
extern "C" const char* __tsan_default_suppressions() { return "deadlock:libgdal\n"; }
