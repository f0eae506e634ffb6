// OpenBLAS is not instrumented: how its threads wait for each other is not seen, only that they call memset
// and memcpy.
extern "C" const char* __tsan_default_suppressions() { return "race:libopenblas.so\n"; }
