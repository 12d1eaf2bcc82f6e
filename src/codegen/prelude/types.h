// Element types. The _m types may alias anything: buffers are read and written through them.
#define ACCEL_INLINE static inline __attribute__((always_inline))
// A loop nest. g++ 12 takes loops that walk memory forwards and backwards in steps of 16 bytes to have no effect and drops
// calls of them, unless its analysis of the function is disabled.
#if defined(__clang__)
#define ACCEL_NEST static __attribute__((noinline))
#else
#define ACCEL_NEST static __attribute__((noipa))
#endif
// Functions that are compiled with less effort. Options that decide the bits of floating-point results are repeated here:
// before version 12, g++ resets them to its defaults for a function with options of its own.
#if defined(__clang__)
#define ACCEL_LONG
#define ACCEL_FOR_SIZE
#else
#define ACCEL_AS_ALL "fp-contract=off", "trapping-math", "wrapv", "no-math-errno", "no-tree-sink", "no-unswitch-loops"
#define ACCEL_LONG __attribute__((optimize("O2", "no-ivopts", "no-tree-loop-distribution", ACCEL_AS_ALL)))
#define ACCEL_FOR_SIZE __attribute__((optimize("O1", "no-ivopts", ACCEL_AS_ALL)))
#endif

typedef bool bool8;
typedef __INT8_TYPE__ i8;
typedef __INT16_TYPE__ i16;
typedef __INT32_TYPE__ i32;
typedef __UINT8_TYPE__ u8;
typedef __UINT16_TYPE__ u16;
typedef __UINT32_TYPE__ u32;
typedef __UINT64_TYPE__ u64;
typedef float f32;
typedef double f64;

// -1, opaque to the compiler, which would turn products with -1 into negations, which change the sign of a NaN.
extern "C" const f32 minus_one_f32 __attribute__((visibility("hidden")));
extern "C" const f64 minus_one_f64 __attribute__((visibility("hidden")));
extern "C" const u16 minus_one_bits_f16 __attribute__((visibility("hidden")));
asm(".pushsection .rodata\n.p2align 3\n"
    ".globl minus_one_f64\n.hidden minus_one_f64\nminus_one_f64: .double -1.0\n"
    ".globl minus_one_f32\n.hidden minus_one_f32\nminus_one_f32: .float -1.0\n"
    ".globl minus_one_bits_f16\n.hidden minus_one_bits_f16\nminus_one_bits_f16: .short 0xbc00\n"
    ".popsection");

// 0, opaque to the compiler: a value combined with it is no constant.
extern "C" const u64 unknown_zero __attribute__((visibility("hidden")));
asm(".pushsection .rodata\n.p2align 3\n"
    ".globl unknown_zero\n.hidden unknown_zero\nunknown_zero: .quad 0\n"
    ".popsection");
// A constant among the operands of a selection. What is computed from the selection is not computed from it by the compiler.
ACCEL_INLINE f32 unforeseen(f32 a) { return __builtin_bit_cast(f32, __builtin_bit_cast(u32, a) | (u32)unknown_zero); }
ACCEL_INLINE f64 unforeseen(f64 a) { return __builtin_bit_cast(f64, __builtin_bit_cast(u64, a) | unknown_zero); }
// Numbers that not all dtypes hold. Of one that it finds in a selection the compiler would work out the cast to a narrower
// dtype, without the event and with another result.
#if ACCEL_NARROWS
#define ACCEL_FAR unknown_zero
#else
#define ACCEL_FAR (u64)0
#endif
ACCEL_INLINE f32 far_f32(u32 bits) { return __builtin_bit_cast(f32, bits ^ (u32)ACCEL_FAR); }
ACCEL_INLINE f64 far_f64(u64 bits) { return __builtin_bit_cast(f64, bits ^ ACCEL_FAR); }

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
