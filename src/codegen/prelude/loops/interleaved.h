// Vectors of complex numbers as they lie in memory: real and imaginary parts alternate.
typedef f32 c64s __attribute__((vector_size(32), may_alias, aligned(4)));
typedef f64 c128s __attribute__((vector_size(32), may_alias, aligned(8)));
typedef f32 f32s __attribute__((vector_size(16), may_alias, aligned(4)));
typedef f64 f64s __attribute__((vector_size(16), may_alias, aligned(8)));

ACCEL_INLINE c128s all_of(c128 a) { return c128s{a.re, a.im, a.re, a.im}; }
ACCEL_INLINE c64s all_of(c64 a) { return c64s{a.re, a.im, a.re, a.im, a.re, a.im, a.re, a.im}; }
// Loaded once: g++ would load the vector again for each move between its lanes.
template <class V>
ACCEL_INLINE V in_register(V a) {
#if defined(__AVX__)
  asm("" : "+x"(a));
#endif
  return a;
}
// Elements side by side, or `stride` bytes apart.
ACCEL_INLINE c128s load_c128s(const char* p) { return in_register(*(const c128s*)p); }
ACCEL_INLINE c64s load_c64s(const char* p) { return in_register(*(const c64s*)p); }
ACCEL_INLINE f64s load_f64s(const char* p) { return *(const f64s*)p; }
ACCEL_INLINE f32s load_f32s(const char* p) { return *(const f32s*)p; }
ACCEL_INLINE c128s load_c128s(const char* p, i64 stride) {
  const c128 a = load_c128(p), b = load_c128(p + stride);
  return c128s{a.re, a.im, b.re, b.im};
}
ACCEL_INLINE c64s load_c64s(const char* p, i64 stride) {
  const c64 a = load_c64(p), b = load_c64(p + stride), c = load_c64(p + 2 * stride), d = load_c64(p + 3 * stride);
  return c64s{a.re, a.im, b.re, b.im, c.re, c.im, d.re, d.im};
}
ACCEL_INLINE f64s load_f64s(const char* p, i64 stride) { return f64s{load_f64(p), load_f64(p + stride)}; }
ACCEL_INLINE f32s load_f32s(const char* p, i64 stride) {
  return f32s{load_f32(p), load_f32(p + stride), load_f32(p + 2 * stride), load_f32(p + 3 * stride)};
}
ACCEL_INLINE void store_c128s(char* p, c128s a) { *(c128s*)p = a; }
ACCEL_INLINE void store_c64s(char* p, c64s a) { *(c64s*)p = a; }
ACCEL_INLINE void store_c128s(char* p, i64 stride, c128s a) {
  for (int k = 0; k < 2; ++k) store_c128(p + k * stride, c128{a[2 * k], a[2 * k + 1]});
}
ACCEL_INLINE void store_c64s(char* p, i64 stride, c64s a) {
  for (int k = 0; k < 4; ++k) store_c64(p + k * stride, c64{a[2 * k], a[2 * k + 1]});
}
// Complex numbers with these real parts.
ACCEL_INLINE c128s widened(f64s a) { return c128s{a[0], 0, a[1], 0}; }
ACCEL_INLINE c64s widened(f32s a) {
  typedef u32 Narrow __attribute__((vector_size(16)));
  typedef u64 Wide __attribute__((vector_size(32)));
  return (c64s) __builtin_convertvector((Narrow)a, Wide);
}

ACCEL_INLINE c128s real_parts(c128s a) { return c128s{a[0], a[0], a[2], a[2]}; }
ACCEL_INLINE c64s real_parts(c64s a) { return c64s{a[0], a[0], a[2], a[2], a[4], a[4], a[6], a[6]}; }
ACCEL_INLINE c128s imaginary_parts(c128s a) { return c128s{a[1], a[1], a[3], a[3]}; }
ACCEL_INLINE c64s imaginary_parts(c64s a) { return c64s{a[1], a[1], a[3], a[3], a[5], a[5], a[7], a[7]}; }
ACCEL_INLINE c128s with_parts_swapped(c128s a) { return c128s{a[1], a[0], a[3], a[2]}; }
ACCEL_INLINE c64s with_parts_swapped(c64s a) { return c64s{a[1], a[0], a[3], a[2], a[5], a[4], a[7], a[6]}; }
// a - b in real parts, a + b in imaginary ones.
#if defined(__AVX__)
ACCEL_INLINE c128s subtract_add(c128s a, c128s b) {
  asm("vaddsubpd %1, %0, %0" : "+x"(a) : "xm"(b));
  return a;
}
ACCEL_INLINE c64s subtract_add(c64s a, c64s b) {
  asm("vaddsubps %1, %0, %0" : "+x"(a) : "xm"(b));
  return a;
}
#else
template <class V>
ACCEL_INLINE V subtract_add(V a, V b) {
  for (int k = 0; k < (int)(sizeof(V) / sizeof(a[0])); ++k) a[k] = k % 2 == 0 ? rounded(a[k]) - b[k] : rounded(a[k]) + b[k];
  return a;
}
#endif
// a * b - c in real parts, a * b + c in imaginary ones, contracted.
#if defined(__FMA__) && !defined(ACCEL_SEPARATE_PRODUCTS)
ACCEL_INLINE c128s multiply_subtract_add(c128s a, c128s b, c128s c) {
  asm("vfmaddsub231pd %2, %1, %0" : "+x"(c) : "x"(a), "xm"(b));
  return c;
}
ACCEL_INLINE c64s multiply_subtract_add(c64s a, c64s b, c64s c) {
  asm("vfmaddsub231ps %2, %1, %0" : "+x"(c) : "x"(a), "xm"(b));
  return c;
}
#else
template <class V>
ACCEL_INLINE V multiply_subtract_add(V a, V b, V c) {
  for (int k = 0; k < (int)(sizeof(V) / sizeof(a[0])); ++k)
    c[k] = k % 2 == 0 ? contracted_minus(a[k], b[k], c[k]) : contracted(a[k], b[k], c[k]);
  return c;
}
#endif

typedef u32 c64_bits __attribute__((vector_size(32)));
typedef u64 c128_bits __attribute__((vector_size(32)));
#define ACCEL_INTERLEAVED(V, R, Bits)                                                                                       \
  ACCEL_INLINE V add(V a, V b) { return a + b; }                                                                            \
  ACCEL_INLINE V subtract(V a, V b) { return a - b; }                                                                       \
  ACCEL_INLINE V negative(V a) { return -a; }                                                                               \
  ACCEL_INLINE V conjugate(V a) { return (V)((Bits)a ^ (Bits)all_of(complex_of<R>{0, -(R)0})); }                            \
  ACCEL_INLINE V multiply(V a, V b) { return subtract_add(real_parts(a) * b, imaginary_parts(a) * with_parts_swapped(b)); } \
  ACCEL_INLINE V square(V a) { return multiply(a, a); }                                                                     \
  ACCEL_INLINE V fused_multiply(V a, V b) {                                                                                 \
    return multiply_subtract_add(real_parts(a), b, imaginary_parts(a) * with_parts_swapped(b));                             \
  }
ACCEL_INTERLEAVED(c64s, f32, c64_bits)
ACCEL_INTERLEAVED(c128s, f64, c128_bits)
