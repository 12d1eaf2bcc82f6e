// float16 is computed in float32 (half.h). Given the instructions for float16, GCC 13 makes masked moves of them that
// assemblers refuse.
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512FP16__)
#pragma GCC target("no-avx512fp16")
#endif
// The C library's functions that the compiler calls by itself. A kernel is linked without the library, so that nothing says
// which of its two memcpy is meant: it would get the old one, which does without the vector instructions of the machine. There
// is one memmove. (clang does not take another name of a declaration for the calls that it makes.)
asm(".set memcpy, memmove");
