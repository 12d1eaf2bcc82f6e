// Operations on vectors under masks of bits: a lane that is not in the mask has no events, and whatever value. Comparisons of
// NaN are no events.
#if defined(ACCEL_MASKED_VECTORS)
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
// a * b + c and a * b - c: `contracted`.
#if defined(ACCEL_SEPARATE_PRODUCTS)
template <class M, class V>
ACCEL_INLINE V v_contracted(M mask, V a, V b, V c) {
  return v_add(mask, v_multiply(mask, a, b), c);
}
template <class M, class V>
ACCEL_INLINE V v_contracted_minus(M mask, V a, V b, V c) {
  return v_subtract(mask, v_multiply(mask, a, b), c);
}
#else
#define ACCEL_VECTOR_FUSED(name, text)                                           \
  ACCEL_INLINE f32v name(u16 mask, f32v a, f32v b, f32v c) {                     \
    asm(text "ps %2, %1, %0%{%3%}%{z%}" : "+v"(c) : "v"(a), "v"(b), "Yk"(mask)); \
    return c;                                                                    \
  }                                                                              \
  ACCEL_INLINE f64v name(u8 mask, f64v a, f64v b, f64v c) {                      \
    asm(text "pd %2, %1, %0%{%3%}%{z%}" : "+v"(c) : "v"(a), "v"(b), "Yk"(mask)); \
    return c;                                                                    \
  }
ACCEL_VECTOR_FUSED(v_contracted, "vfmadd231")
ACCEL_VECTOR_FUSED(v_contracted_minus, "vfmsub231")
#endif
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
ACCEL_INLINE f32v v_negative(u16, f32v a) { return (f32v)((i32v)a ^ (i32)0x80000000); }
ACCEL_INLINE f64v v_negative(u8, f64v a) { return (f64v)((i64v)a ^ (i64)0x8000000000000000); }
ACCEL_INLINE f32v v_absolute(u16, f32v a) { return (f32v)((i32v)a & 0x7fffffff); }
ACCEL_INLINE f64v v_absolute(u8, f64v a) { return (f64v)((i64v)a & 0x7fffffffffffffff); }
template <class V>
ACCEL_INLINE void v_do_not_optimize(V a) {
  asm volatile("" : : "v"(a));
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
ACCEL_VECTOR_QUIET(quiet_quotient, "vdiv")
template <class M, class V>
ACCEL_INLINE V quiet_divide(M, V a, V b) {
  return quiet_quotient(a, b);
}
ACCEL_INLINE f32v quiet_sqrt(f32v a) {
  asm("vsqrtps %{rn-sae%}, %0, %0" : "+v"(a));
  return a;
}
ACCEL_INLINE f64v quiet_sqrt(f64v a) {
  asm("vsqrtpd %{rn-sae%}, %0, %0" : "+v"(a));
  return a;
}
#if defined(ACCEL_SEPARATE_PRODUCTS)
template <class V>
ACCEL_INLINE V quiet_contracted(V a, V b, V c) {
  return quiet_add(quiet_multiply(a, b), c);
}
#else
ACCEL_INLINE f32v quiet_contracted(f32v a, f32v b, f32v c) {
  asm("vfmadd231ps %{rn-sae%}, %2, %1, %0" : "+v"(c) : "v"(a), "v"(b));
  return c;
}
ACCEL_INLINE f64v quiet_contracted(f64v a, f64v b, f64v c) {
  asm("vfmadd231pd %{rn-sae%}, %2, %1, %0" : "+v"(c) : "v"(a), "v"(b));
  return c;
}
#endif

template <class M>
ACCEL_INLINE M v_mask(bool8 all) {
  return (M) - (M)all;
}
ACCEL_INLINE bool v_any(u32 masks) { return masks != 0; }

// Lanes outside of the mask have no events: there is nothing to sort out.
struct VectorEvents {
  ACCEL_INLINE VectorEvents begin() { return {}; }
  template <class V>
  __attribute__((always_inline)) void include(V&) const {}
  __attribute__((always_inline)) int found() const { return 0; }
  template <class M, class V>
  __attribute__((always_inline)) M strange(M mask, V) const {
    return mask;
  }
  __attribute__((always_inline)) void forget(int) const {}
};
#endif
