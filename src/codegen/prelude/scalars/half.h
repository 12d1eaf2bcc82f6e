ACCEL_INLINE f16 load_f16(const char* p) { return half_of_bits(load_u16(p)); }
ACCEL_INLINE void store_f16(char* p, f16 v) { store_u16(p, half_bits(v)); }

ACCEL_INLINE i64 magnitude_bits(f64 a) { return __builtin_bit_cast(i64, a) & 0x7fffffffffffffff; }
// float64 to float16 in one rounding: first to float32 with the last bit set where bits were lost ("round to odd").
ACCEL_INLINE f16 narrow(f64 a) {
  f32 near = (f32)a;
  u32 bits = __builtin_bit_cast(u32, near);
  if ((f64)near != a) bits = (bits - (magnitude_bits(near) > magnitude_bits(a))) | 1;
  return narrow(__builtin_bit_cast(f32, bits));
}

template <class To>
struct Cast<To, f16> {
  ACCEL_INLINE To of(f16 a) { return cast<To>(widen(a)); }
};
template <class From>
struct Cast<f16, From> {
  ACCEL_INLINE f16 of(From a) { return narrow((f32)a); }
};
template <>
struct Cast<f16, f64> {
  ACCEL_INLINE f16 of(f64 a) { return narrow(a); }
};
template <>
struct Cast<f16, f16> {
  ACCEL_INLINE f16 of(f16 a) { return a; }
};

#define ACCEL_HALF_UNARY(name) \
  ACCEL_INLINE f16 name(f16 a) { return narrow(name(widen(a))); }
ACCEL_HALF_UNARY(sqrt)
ACCEL_HALF_UNARY(square)
ACCEL_HALF_UNARY(reciprocal)
ACCEL_HALF_UNARY(rint)
#define ACCEL_HALF_BINARY(name) \
  ACCEL_INLINE f16 name(f16 a, f16 b) { return narrow(name(widen(a), widen(b))); }
ACCEL_HALF_BINARY(add)
ACCEL_HALF_BINARY(subtract)
ACCEL_HALF_BINARY(multiply)
ACCEL_HALF_BINARY(divide)
ACCEL_HALF_BINARY(floor_divide)
ACCEL_HALF_BINARY(remainder)
ACCEL_HALF_BINARY(fmod)
// Tests and relations by the bits: g++ makes no vectors of conversions from float16. Magnitudes are ordered as integers are.
ACCEL_INLINE u16 half_magnitude(f16 a) { return half_bits(a) & 0x7fff; }
ACCEL_INLINE bool8 isnan(f16 a) { return half_magnitude(a) > 0x7c00; }
ACCEL_INLINE bool8 isinf(f16 a) { return half_magnitude(a) == 0x7c00; }
ACCEL_INLINE bool8 isfinite(f16 a) { return half_magnitude(a) < 0x7c00; }
ACCEL_INLINE bool8 logical_not(f16 a) { return half_magnitude(a) == 0; }
ACCEL_INLINE i16 half_order(f16 a) {
  const i16 sign = (i16)half_bits(a) >> 15;
  return (i16)((half_magnitude(a) ^ sign) - sign);  // zeros are equal
}
ACCEL_INLINE bool8 equal(f16 a, f16 b) { return (half_order(a) == half_order(b)) & !isnan(a); }
ACCEL_INLINE bool8 not_equal(f16 a, f16 b) { return (half_order(a) != half_order(b)) | isnan(a); }
ACCEL_INLINE bool8 less(f16 a, f16 b) { return (half_order(a) < half_order(b)) & !isnan(a) & !isnan(b); }
ACCEL_INLINE bool8 less_equal(f16 a, f16 b) { return (half_order(a) <= half_order(b)) & !isnan(a) & !isnan(b); }
ACCEL_INLINE bool8 greater(f16 a, f16 b) { return less(b, a); }
ACCEL_INLINE bool8 greater_equal(f16 a, f16 b) { return less_equal(b, a); }
ACCEL_INLINE bool8 logical_and(f16 a, f16 b) { return !logical_not(a) & !logical_not(b); }
ACCEL_INLINE bool8 logical_or(f16 a, f16 b) { return !logical_not(a) | !logical_not(b); }
ACCEL_INLINE bool8 logical_xor(f16 a, f16 b) { return logical_not(a) != logical_not(b); }

// The whole number next to `a`, farther from zero where `up`, by the bits. NaN becomes quiet. Masks, not selections, of which
// g++ would make branches.
ACCEL_INLINE u32 half_mask(bool8 condition) { return -(u32)condition; }
ACCEL_INLINE f16 half_whole(f16 a, bool8 up) {
  const u32 bits = half_bits(a), magnitude = bits & 0x7fff, exponent = magnitude >> 10, small = half_mask(exponent < 15);
  const u32 below_one = ((u32)1 << ((25 - exponent) & half_mask(exponent < 25) & 31)) - 1,
            fraction = below_one | (small & 0x7fff);
  const u32 step = (small & 0x3c00) | ((below_one + 1) & ~small);
  const u32 more = step & half_mask((magnitude & fraction) != 0) & half_mask(up), quiet = half_mask(magnitude > 0x7c00) & 0x200;
  return half_of_bits((u16)((bits & 0x8000) | ((magnitude & ~fraction) + more) | quiet));
}
ACCEL_INLINE f16 floor(f16 a) { return half_whole(a, half_bits(a) >> 15); }
ACCEL_INLINE f16 ceil(f16 a) { return half_whole(a, !(half_bits(a) >> 15)); }
ACCEL_INLINE f16 trunc(f16 a) { return half_whole(a, false); }
ACCEL_INLINE f16 negative(f16 a) { return half_of_bits(half_bits(a) ^ 0x8000); }
ACCEL_INLINE f16 absolute(f16 a) { return half_of_bits(half_bits(a) & 0x7fff); }
ACCEL_INLINE f16 fabs(f16 a) { return absolute(a); }
ACCEL_INLINE f16 sign(f16 a) {
  const u16 bits = half_bits(a), one = (u16)((bits & 0x8000) | 0x3c00), nonzero = (u16) - (u16)(half_magnitude(a) != 0);
  const u16 nan = (u16) - (u16)isnan(a);
  return half_of_bits((u16)((bits & nan) | (one & nonzero & ~nan)));
}
ACCEL_INLINE f16 positive(f16 a) { return a; }
ACCEL_INLINE f16 conjugate(f16 a) { return a; }
ACCEL_INLINE f16 heaviside(f16 a, f16 at_zero) {
  const f16 step = half_of_bits(half_bits(a) >> 15 ? 0 : 0x3c00);
  return isnan(a) ? half_of_bits(0x7e00) : logical_not(a) ? at_zero : step;
}
ACCEL_INLINE bool8 signbit(f16 a) { return half_bits(a) >> 15; }
ACCEL_INLINE f16 copysign(f16 a, f16 b) { return half_of_bits((half_bits(a) & 0x7fff) | (half_bits(b) & 0x8000)); }
// Of two equal operands NumPy gives the first.
ACCEL_INLINE f16 maximum(f16 a, f16 b) { return isnan(a) | greater_equal(a, b) ? a : b; }
ACCEL_INLINE f16 minimum(f16 a, f16 b) { return isnan(a) | less_equal(a, b) ? a : b; }
ACCEL_INLINE f16 fmax(f16 a, f16 b) { return isnan(b) | greater_equal(a, b) ? a : b; }
ACCEL_INLINE f16 fmin(f16 a, f16 b) { return isnan(b) | less_equal(a, b) ? a : b; }
ACCEL_INLINE f16 clip(f16 a, f16 low, f16 high) { return minimum(maximum(a, low), high); }
ACCEL_INLINE void do_not_optimize(Sink& sink, f16 v) { sink.narrow |= half_bits(v); }
