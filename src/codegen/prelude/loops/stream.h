// Stores past the caches, for results so large that their lines would only be read to be overwritten.
constexpr i64 streamed_bytes = 32 << 20;

ACCEL_INLINE void stream(char* to, const char* from, i64 bytes) {
#if defined(__AVX512F__)
  typedef long long Line __attribute__((vector_size(64)));
#define ACCEL_STREAM __builtin_ia32_movntdq512
#elif defined(__SSE2__)
  typedef long long Line __attribute__((vector_size(16)));
#define ACCEL_STREAM __builtin_ia32_movntdq
#endif
#if defined(ACCEL_STREAM) && defined(__clang__)
#undef ACCEL_STREAM
#define ACCEL_STREAM(to, line) __builtin_nontemporal_store(line, to)
#endif
#if defined(ACCEL_STREAM)
  if ((((iptr)to | bytes) & (i64)(sizeof(Line) - 1)) == 0) {
    for (i64 k = 0; k < bytes; k += sizeof(Line)) ACCEL_STREAM((Line*)(to + k), *(const Line*)(from + k));
    return;
  }
#endif
  __builtin_memcpy(to, from, bytes);
}
// Before another thread reads what was streamed.
ACCEL_INLINE void end_streams() {
#if defined(__SSE2__)
  __builtin_ia32_sfence();
#endif
}
