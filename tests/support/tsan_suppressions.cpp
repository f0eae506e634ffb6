// GDAL, which Debian's OpenCV brings along, takes two locks of its own in both orders when it starts; it is not ours to mend. OpenBLAS is not
// instrumented: how its threads wait for each other is not seen, only that they call memset and memcpy.
extern "C" const char* __tsan_default_suppressions() { return "deadlock:libgdal\nrace:libopenblas.so\n"; }
