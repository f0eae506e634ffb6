// OpenBLAS is not instrumented: the sanitizer sees its threads' memset and memcpy, but not their
// synchronization.
extern "C" const char* __tsan_default_suppressions() { return "race:libopenblas.so\n"; }
