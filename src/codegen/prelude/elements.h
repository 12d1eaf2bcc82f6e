template <class R>
struct complex_of {
  R re, im;
};
typedef complex_of<f32> c64;
typedef complex_of<f64> c128;

#define ACCEL_ALIASED(T) typedef T T##_m __attribute__((may_alias));
ACCEL_ALIASED(u8)
ACCEL_ALIASED(u16)
ACCEL_ALIASED(u32)
ACCEL_ALIASED(u64)
ACCEL_ALIASED(i8)
ACCEL_ALIASED(i16)
ACCEL_ALIASED(i32)
ACCEL_ALIASED(i64)
ACCEL_ALIASED(f32)
ACCEL_ALIASED(f64)
// load_T and store_T: one element of type T.
#define ACCEL_MEMORY(T)                                               \
  ACCEL_INLINE T load_##T(const char* p) { return *(const T##_m*)p; } \
  ACCEL_INLINE void store_##T(char* p, T v) { *(T##_m*)p = v; }
ACCEL_MEMORY(u8)
ACCEL_MEMORY(u16)
ACCEL_MEMORY(u32)
ACCEL_MEMORY(u64)
ACCEL_MEMORY(i8)
ACCEL_MEMORY(i16)
ACCEL_MEMORY(i32)
ACCEL_MEMORY(i64)
ACCEL_MEMORY(f32)
ACCEL_MEMORY(f64)
// A bool of NumPy is any byte; its value is whether the byte is nonzero.
ACCEL_INLINE bool8 load_bool8(const char* p) { return load_u8(p) != 0; }
ACCEL_INLINE void store_bool8(char* p, bool8 v) { store_u8(p, (u8)v); }
ACCEL_INLINE c64 load_c64(const char* p) { return c64{load_f32(p), load_f32(p + 4)}; }
ACCEL_INLINE void store_c64(char* p, c64 v) { store_f32(p, v.re), store_f32(p + 4, v.im); }
ACCEL_INLINE c128 load_c128(const char* p) { return c128{load_f64(p), load_f64(p + 8)}; }
ACCEL_INLINE void store_c128(char* p, c128 v) { store_f64(p, v.re), store_f64(p + 8, v.im); }

template <class T>
constexpr bool is_float = false;
template <>
constexpr bool is_float<f32> = true;
template <>
constexpr bool is_float<f64> = true;
template <class T>
constexpr bool is_signed = (T)-1 < (T)0;

// Indices: Python's // and % with a divisor that is not 0, and the lesser and greater.
ACCEL_INLINE i64 index_floordiv(i64 a, i64 b) { return a / b - ((a % b != 0) & ((a ^ b) < 0)); }
// An index that seldom lies outside is not divided.
ACCEL_INLINE i64 index_mod(i64 a, i64 b) {
  if (!__builtin_constant_p(b) && __builtin_expect(a >= 0 && a < b, 1)) return a;
  const i64 r = a % b;
  return (r != 0) & ((r ^ b) < 0) ? r + b : r;
}
ACCEL_INLINE i64 index_min(i64 a, i64 b) { return a < b ? a : b; }
ACCEL_INLINE i64 index_max(i64 a, i64 b) { return a > b ? a : b; }
