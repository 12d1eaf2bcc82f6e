// float16: computed in float32, rounded after every operation. The compiler's type is used where the CPU converts it: the
// conversions of compilers' libraries raise no events.
#if defined(__FLT16_MANT_DIG__) && (defined(__F16C__) || defined(__aarch64__))
#if defined(__aarch64__) && defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
typedef __fp16 f16;  // g++ has no _Float16 there
#else
typedef _Float16 f16;
#endif
#if defined(__clang__) && defined(__x86_64__)
// clang converts whatever the other lanes of the register have, too, and that has events.
typedef f32 HalfNumbers __attribute__((vector_size(16)));
typedef u16 HalfBits __attribute__((vector_size(16)));
ACCEL_INLINE f32 widen(f16 a) {
  HalfNumbers result;
  asm("vcvtph2ps %1, %0" : "=x"(result) : "x"(HalfBits{__builtin_bit_cast(u16, a)}));
  return result[0];
}
ACCEL_INLINE f16 narrow(f32 a) {
  HalfBits result;
  asm("vcvtps2ph $4, %1, %0" : "=x"(result) : "x"(HalfNumbers{a}));
  return __builtin_bit_cast(f16, (u16)result[0]);
}
#else
ACCEL_INLINE f32 widen(f16 a) { return (f32)a; }
ACCEL_INLINE f16 narrow(f32 a) { return (f16)a; }
#endif
ACCEL_INLINE u16 half_bits(f16 a) { return __builtin_bit_cast(u16, a); }
ACCEL_INLINE f16 half_of_bits(u16 bits) { return __builtin_bit_cast(f16, bits); }
#else
struct f16 {
  u16 bits;
};
ACCEL_INLINE u16 half_bits(f16 a) { return a.bits; }
ACCEL_INLINE f16 half_of_bits(u16 bits) { return f16{bits}; }
static inline f32 widen(f16 a) {
  const u32 sign = (u32)(a.bits & 0x8000) << 16, rest = a.bits & 0x7fff;
  if (rest >= 0x7c00) return __builtin_bit_cast(f32, sign | 0x7f800000 | (rest & 0x3ff) << 13);
  if (rest >= 0x0400) return __builtin_bit_cast(f32, sign | ((rest << 13) + 0x38000000));
  return __builtin_copysignf((f32)rest * 0x1p-24f, __builtin_bit_cast(f32, sign | 0x3f800000));
}
static inline f16 narrow(f32 a) {
  const u32 bits = __builtin_bit_cast(u32, a), rest = bits & 0x7fffffff;
  const u16 sign = (u16)(bits >> 16 & 0x8000);
  if (rest > 0x7f800000) return f16{(u16)(sign | 0x7c00 | rest >> 13 & 0x3ff | 0x200)};
  if (rest == 0x7f800000) return f16{(u16)(sign | 0x7c00)};
  if (rest >= 0x477ff000) return raise_overflow(), f16{(u16)(sign | 0x7c00)};
  if (rest < 0x38800000) {
    // float32 numbers from 0.5 to 1 are the multiples of 2^-24, and so are float16's subnormals: the sum below is rounded to
    // one.
    const f32 magnitude = __builtin_bit_cast(f32, rest), shifted = magnitude + 0x1p-1f;
    if (shifted - 0x1p-1f != magnitude) fp_raise(accel_underflow);
    return f16{(u16)(sign | (__builtin_bit_cast(u32, shifted) - 0x3f000000))};
  }
  const u32 rounded = rest + 0xfff + (rest >> 13 & 1);
  return f16{(u16)(sign | (rounded - 0x38000000) >> 13)};
}
#endif
