// The C library's functions that the compiler calls by itself. A kernel is linked without the library, so that nothing says
// which of its two memcpy is meant: it would get the old one, which does without the vector instructions of the machine. There
// is one memmove.
extern "C" void* memcpy(void* to, const void* from, __SIZE_TYPE__ bytes) __asm__("memmove");
