// Numbers of several lanes at a time, for loops whose lanes end one after the other. Instructions work under masks: a lane that
// is not in the mask has no events, and whatever value. Comparisons of NaN are no events.
// Lanes that end together: a lane that ends early waits for the others.
template <class R>
constexpr i64 group_lanes = 64;
#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define ACCEL_VECTORS 1
template <>
constexpr i64 group_lanes<f64> = 32;
typedef f32 f32v __attribute__((vector_size(64), may_alias, aligned(4)));
typedef f64 f64v __attribute__((vector_size(64), may_alias, aligned(8)));
typedef i32 i32v __attribute__((vector_size(64), may_alias, aligned(4)));
typedef i64 i64v __attribute__((vector_size(64), may_alias, aligned(8)));

// Per element type: vectors of it, of steps (integers of its size) and masks.
template <class R>
struct Vectors;
template <>
struct Vectors<f32> {
  typedef f32v Numbers;
  typedef i32v Steps;
  typedef i32 Step;
  typedef u16 Mask;
  static constexpr int lanes = 16;
};
template <>
struct Vectors<f64> {
  typedef f64v Numbers;
  typedef i64v Steps;
  typedef i64 Step;
  typedef u8 Mask;
  static constexpr int lanes = 8;
};
template <class V>
struct ElementOf;
template <>
struct ElementOf<f32v> {
  typedef f32 type;
};
template <>
struct ElementOf<f64v> {
  typedef f64 type;
};

template <>
struct ElementOf<i32v> {
  typedef i32 type;
};
template <>
struct ElementOf<i64v> {
  typedef i64 type;
};
template <class V>
ACCEL_INLINE V v_all(typename ElementOf<V>::type a) {
  if constexpr (sizeof(a) == 4)
    return V{a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a};
  else
    return V{a, a, a, a, a, a, a, a};
}
template <class V, class R>
ACCEL_INLINE complex_of<V> v_all(complex_of<R> a) {
  return {v_all<V>(a.re), v_all<V>(a.im)};
}
// Memory is touched in the lanes of the mask alone.
ACCEL_INLINE f32v v_load(u16 mask, const char* p, f32v) {
  f32v result;
  asm("vmovups %1, %0%{%2%}%{z%}" : "=v"(result) : "m"(*(const f32v*)p), "Yk"(mask));
  return result;
}
ACCEL_INLINE f64v v_load(u8 mask, const char* p, f64v) {
  f64v result;
  asm("vmovupd %1, %0%{%2%}%{z%}" : "=v"(result) : "m"(*(const f64v*)p), "Yk"(mask));
  return result;
}
ACCEL_INLINE void v_store(u16 mask, char* p, f32v a) { asm("vmovups %1, %0%{%2%}" : "+m"(*(f32v*)p) : "v"(a), "Yk"(mask)); }
ACCEL_INLINE void v_store(u8 mask, char* p, f64v a) { asm("vmovupd %1, %0%{%2%}" : "+m"(*(f64v*)p) : "v"(a), "Yk"(mask)); }

// Lanes below `count`.
template <class Mask>
ACCEL_INLINE Mask first_lanes(i64 count) {
  return count >= (i64)(8 * sizeof(Mask)) ? (Mask)-1 : (Mask)((1u << index_max(count, 0)) - 1);
}

template <class M>
ACCEL_INLINE M v_and(M, M a, M b) {
  return a & b;
}
template <class M>
ACCEL_INLINE M v_or(M, M a, M b) {
  return a | b;
}
template <class M>
ACCEL_INLINE M v_not(M mask, M a) {
  return mask & ~a;
}

#define ACCEL_VECTOR_UNARY(name, text)                                    \
  ACCEL_INLINE f32v name(u16 mask, f32v a) {                              \
    f32v result;                                                          \
    asm(text "ps %1, %0%{%2%}%{z%}" : "=v"(result) : "v"(a), "Yk"(mask)); \
    return result;                                                        \
  }                                                                       \
  ACCEL_INLINE f64v name(u8 mask, f64v a) {                               \
    f64v result;                                                          \
    asm(text "pd %1, %0%{%2%}%{z%}" : "=v"(result) : "v"(a), "Yk"(mask)); \
    return result;                                                        \
  }
// name(mask, a, b), and name_or(mask, a, b, other): `other` in the lanes that are not in the mask.
#define ACCEL_VECTOR_BINARY(name, text)                                               \
  ACCEL_INLINE f32v name(u16 mask, f32v a, f32v b) {                                  \
    f32v result;                                                                      \
    asm(text "ps %2, %1, %0%{%3%}%{z%}" : "=v"(result) : "v"(a), "v"(b), "Yk"(mask)); \
    return result;                                                                    \
  }                                                                                   \
  ACCEL_INLINE f64v name(u8 mask, f64v a, f64v b) {                                   \
    f64v result;                                                                      \
    asm(text "pd %2, %1, %0%{%3%}%{z%}" : "=v"(result) : "v"(a), "v"(b), "Yk"(mask)); \
    return result;                                                                    \
  }                                                                                   \
  ACCEL_INLINE f32v name##_or(u16 mask, f32v a, f32v b, f32v other) {                 \
    asm(text "ps %2, %1, %0%{%3%}" : "+v"(other) : "v"(a), "v"(b), "Yk"(mask));       \
    return other;                                                                     \
  }                                                                                   \
  ACCEL_INLINE f64v name##_or(u8 mask, f64v a, f64v b, f64v other) {                  \
    asm(text "pd %2, %1, %0%{%3%}" : "+v"(other) : "v"(a), "v"(b), "Yk"(mask));       \
    return other;                                                                     \
  }
// c becomes a * b + c or a * b - c.
#define ACCEL_VECTOR_FUSED(name, text)                                           \
  ACCEL_INLINE f32v name(u16 mask, f32v a, f32v b, f32v c) {                     \
    asm(text "ps %2, %1, %0%{%3%}%{z%}" : "+v"(c) : "v"(a), "v"(b), "Yk"(mask)); \
    return c;                                                                    \
  }                                                                              \
  ACCEL_INLINE f64v name(u8 mask, f64v a, f64v b, f64v c) {                      \
    asm(text "pd %2, %1, %0%{%3%}%{z%}" : "+v"(c) : "v"(a), "v"(b), "Yk"(mask)); \
    return c;                                                                    \
  }
#define ACCEL_VECTOR_COMPARE(name, code)                                                    \
  ACCEL_INLINE u16 name(u16 mask, f32v a, f32v b) {                                         \
    u16 result;                                                                             \
    asm("vcmpps $" code ", %2, %1, %0%{%3%}" : "=Yk"(result) : "v"(a), "v"(b), "Yk"(mask)); \
    return result;                                                                          \
  }                                                                                         \
  ACCEL_INLINE u8 name(u8 mask, f64v a, f64v b) {                                           \
    u8 result;                                                                              \
    asm("vcmppd $" code ", %2, %1, %0%{%3%}" : "=Yk"(result) : "v"(a), "v"(b), "Yk"(mask)); \
    return result;                                                                          \
  }
ACCEL_VECTOR_UNARY(v_sqrt, "vsqrt")
ACCEL_VECTOR_BINARY(v_add, "vadd")
ACCEL_VECTOR_BINARY(v_subtract, "vsub")
ACCEL_VECTOR_BINARY(v_multiply, "vmul")
ACCEL_VECTOR_BINARY(v_divide, "vdiv")
ACCEL_VECTOR_FUSED(v_contracted, "vfmadd231")
ACCEL_VECTOR_FUSED(v_contracted_minus, "vfmsub231")
ACCEL_VECTOR_COMPARE(v_equal, "0x00")
ACCEL_VECTOR_COMPARE(v_not_equal, "0x04")
ACCEL_VECTOR_COMPARE(v_less, "0x11")
ACCEL_VECTOR_COMPARE(v_less_equal, "0x12")
ACCEL_VECTOR_COMPARE(v_greater_equal, "0x1d")
ACCEL_VECTOR_COMPARE(v_greater, "0x1e")

// a in the lanes of the mask, else b.
ACCEL_INLINE f32v v_where(u16 mask, f32v a, f32v b) {
  asm("vmovaps %1, %0%{%2%}" : "+v"(b) : "v"(a), "Yk"(mask));
  return b;
}
ACCEL_INLINE f64v v_where(u8 mask, f64v a, f64v b) {
  asm("vmovapd %1, %0%{%2%}" : "+v"(b) : "v"(a), "Yk"(mask));
  return b;
}
ACCEL_INLINE i32v v_where(u16 mask, i32v a, i32v b) {
  asm("vmovdqa32 %1, %0%{%2%}" : "+v"(b) : "v"(a), "Yk"(mask));
  return b;
}
ACCEL_INLINE i64v v_where(u8 mask, i64v a, i64v b) {
  asm("vmovdqa64 %1, %0%{%2%}" : "+v"(b) : "v"(a), "Yk"(mask));
  return b;
}
ACCEL_INLINE u16 v_isnan(u16 mask, f32v a) { return v_not_equal(mask, a, a); }
ACCEL_INLINE u8 v_isnan(u8 mask, f64v a) { return v_not_equal(mask, a, a); }
ACCEL_INLINE f32v v_square(u16 mask, f32v a) { return v_multiply(mask, a, a); }
ACCEL_INLINE f64v v_square(u8 mask, f64v a) { return v_multiply(mask, a, a); }
ACCEL_INLINE f32v v_negative(u16, f32v a) { return (f32v)((i32v)a ^ (i32)0x80000000); }
ACCEL_INLINE f64v v_negative(u8, f64v a) { return (f64v)((i64v)a ^ (i64)0x8000000000000000); }
ACCEL_INLINE f32v v_absolute(u16, f32v a) { return (f32v)((i32v)a & 0x7fffffff); }
ACCEL_INLINE f64v v_absolute(u8, f64v a) { return (f64v)((i64v)a & 0x7fffffffffffffff); }
template <class M, class V>
ACCEL_INLINE V v_heaviside(M m, V a, V at_zero) {
  typedef typename ElementOf<V>::type R;
  const V zero = v_all<V>((R)0);
  const V step = v_where(v_less(m, zero, a), v_all<V>((R)1), zero);
  const V number = v_where(v_equal(m, a, zero), at_zero, step);
  return v_where(v_not_equal(m, a, a), v_all<V>((R)__builtin_nan("")), number);
}
template <class V>
ACCEL_INLINE void v_do_not_optimize(V a) {
  asm volatile("" : : "v"(a));
}

#define ACCEL_VECTOR_COMPLEX(name) \
  template <class M, class V>      \
  ACCEL_INLINE complex_of<V> name
ACCEL_VECTOR_COMPLEX(v_add)(M m, complex_of<V> a, complex_of<V> b) { return {v_add(m, a.re, b.re), v_add(m, a.im, b.im)}; }
ACCEL_VECTOR_COMPLEX(v_add_or)(M m, complex_of<V> a, complex_of<V> b, complex_of<V> other) {
  return {v_add_or(m, a.re, b.re, other.re), v_add_or(m, a.im, b.im, other.im)};
}
ACCEL_VECTOR_COMPLEX(v_subtract)(M m, complex_of<V> a, complex_of<V> b) {
  return {v_subtract(m, a.re, b.re), v_subtract(m, a.im, b.im)};
}
ACCEL_VECTOR_COMPLEX(v_subtract_or)(M m, complex_of<V> a, complex_of<V> b, complex_of<V> other) {
  return {v_subtract_or(m, a.re, b.re, other.re), v_subtract_or(m, a.im, b.im, other.im)};
}
ACCEL_VECTOR_COMPLEX(v_multiply)(M m, complex_of<V> a, complex_of<V> b) {
  return {v_subtract(m, v_multiply(m, a.re, b.re), v_multiply(m, a.im, b.im)),
          v_add(m, v_multiply(m, a.re, b.im), v_multiply(m, a.im, b.re))};
}
ACCEL_VECTOR_COMPLEX(v_square)(M m, complex_of<V> a) { return v_multiply(m, a, a); }
ACCEL_VECTOR_COMPLEX(v_fused_multiply)(M m, complex_of<V> a, complex_of<V> b) {
  return {v_contracted_minus(m, a.re, b.re, v_multiply(m, a.im, b.im)), v_contracted(m, a.re, b.im, v_multiply(m, a.im, b.re))};
}
ACCEL_VECTOR_COMPLEX(v_negative)(M m, complex_of<V> a) { return {v_negative(m, a.re), v_negative(m, a.im)}; }
ACCEL_VECTOR_COMPLEX(v_conjugate)(M m, complex_of<V> a) { return {a.re, v_negative(m, a.im)}; }
ACCEL_VECTOR_COMPLEX(v_where)(M m, complex_of<V> a, complex_of<V> b) {
  return {v_where(m, a.re, b.re), v_where(m, a.im, b.im)};
}
template <class V>
ACCEL_INLINE void v_do_not_optimize(complex_of<V> a) {
  v_do_not_optimize(a.re), v_do_not_optimize(a.im);
}
// Without events.
#define ACCEL_VECTOR_QUIET(name, text)                                     \
  ACCEL_INLINE f32v name(f32v a, f32v b) {                                 \
    f32v result;                                                           \
    asm(text "ps %{rn-sae%}, %2, %1, %0" : "=v"(result) : "v"(a), "v"(b)); \
    return result;                                                         \
  }                                                                        \
  ACCEL_INLINE f64v name(f64v a, f64v b) {                                 \
    f64v result;                                                           \
    asm(text "pd %{rn-sae%}, %2, %1, %0" : "=v"(result) : "v"(a), "v"(b)); \
    return result;                                                         \
  }
ACCEL_VECTOR_QUIET(quiet_add, "vadd")
ACCEL_VECTOR_QUIET(quiet_multiply, "vmul")
ACCEL_VECTOR_QUIET(quiet_divide, "vdiv")
ACCEL_INLINE f32v quiet_sqrt(f32v a) {
  asm("vsqrtps %{rn-sae%}, %0, %0" : "+v"(a));
  return a;
}
ACCEL_INLINE f64v quiet_sqrt(f64v a) {
  asm("vsqrtpd %{rn-sae%}, %0, %0" : "+v"(a));
  return a;
}
ACCEL_INLINE f32v quiet_contracted(f32v a, f32v b, f32v c) {
  asm("vfmadd231ps %{rn-sae%}, %2, %1, %0" : "+v"(c) : "v"(a), "v"(b));
  return c;
}
ACCEL_INLINE f64v quiet_contracted(f64v a, f64v b, f64v c) {
  asm("vfmadd231pd %{rn-sae%}, %2, %1, %0" : "+v"(c) : "v"(a), "v"(b));
  return c;
}

// `absolute` of complex.h.
template <class M, class V>
ACCEL_INLINE V v_absolute(M m, complex_of<V> a) {
  typedef typename ElementOf<V>::type R;
  constexpr R lowest = sizeof(R) == 4 ? (R)__FLT_DENORM_MIN__ : (R)__DBL_DENORM_MIN__;
  constexpr R highest = sizeof(R) == 4 ? (R)__FLT_MAX__ : (R)__DBL_MAX__;
  const V least = v_all<V>(lowest), most = v_all<V>(highest), infinity = v_all<V>((R)__builtin_inf());
  const V x = v_absolute(m, a.re), y = v_absolute(m, a.im);
  const M ordered = v_greater(m, x, y);
  const V larger = v_where(ordered, x, y), smaller = v_where(ordered, y, x);
  const V ratio =
      quiet_divide(v_where(v_less(m, smaller, most), smaller, most), v_where(v_greater(m, larger, least), larger, least));
  const V length = quiet_multiply(quiet_sqrt(quiet_contracted(ratio, ratio, v_all<V>((R)1))), larger);
  const M nan = v_not_equal(m, x, x) | v_not_equal(m, y, y), infinite = v_equal(m, x, infinity) | v_equal(m, y, infinity);
  return v_where(infinite, infinity, v_where(nan, quiet_add(x, y), length));
}

// A number whose squared modulus is below `surely_below(bound)` has a modulus below the bound, with more margin than NumPy's
// rounding takes. The converse does not hold.
template <class M, class V>
ACCEL_INLINE M v_surely_below(M mask, complex_of<V> a, V limit) {
  return v_less(mask, quiet_contracted(a.re, a.re, quiet_multiply(a.im, a.im)), limit);
}
// The square of what is below: of its parts' products no event but underflow is possible, and that is not noticed. They need
// not wait for the mask.
template <class M, class V>
ACCEL_INLINE complex_of<V> v_bounded_square(M mask, complex_of<V> a) {
  return {v_contracted_minus(mask, a.re, a.re, quiet_multiply(a.im, a.im)),
          v_contracted(mask, a.re, a.im, quiet_multiply(a.im, a.re))};
}
template <class R>
ACCEL_INLINE R surely_below(R bound) {
  const bool plain = is_less_equal((R)0x1p-50, bound) & is_less_equal(bound, (R)0x1p60);
  const R number = opaque(plain ? bound : (R)1);
  return plain ? number * number * (R)(1 - 0x1p-18) : (R)0;
}
#endif
