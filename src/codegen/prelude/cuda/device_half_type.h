// float16: its bits. It is computed in float32 and rounded after every operation, as NumPy does.
struct f16 {
  u16 bits;
};
ACCEL_INLINE u16 half_bits(f16 a) { return a.bits; }
ACCEL_INLINE f16 half_of_bits(u16 bits) { return f16{bits}; }
#if defined(__CUDA_ARCH__)
ACCEL_INLINE f32 widen(f16 a) {
  f32 out;
  asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(a.bits));
  return out;
}
ACCEL_INLINE f16 narrow(f32 a) {
  f16 out;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out.bits) : "f"(a));
  return out;
}
#else
ACCEL_INLINE f32 widen(f16 a) { return (f32) __builtin_bit_cast(_Float16, a.bits); }
ACCEL_INLINE f16 narrow(f32 a) { return f16{__builtin_bit_cast(u16, (_Float16)a)}; }
#endif
