// Operations on vectors where no instruction takes a mask. All lanes are computed; a lane that is not in the mask has whatever
// value. Its operands are replaced by harmless ones where many would be outside of an operation's domain (division, square
// root); VectorEvents is for the other events of such lanes.
#if !defined(ACCEL_MASKED_VECTORS)
// Lanes below `count`.
template <class M>
ACCEL_INLINE M first_lanes(i64 count) {
  typedef typename ElementOf<M>::type Step;
  const M limit = v_all<M>((Step)index_max(index_min(count, ACCEL_VECTOR_BYTES), 0));
  if constexpr (sizeof(M) / sizeof(Step) == 8)
    return (M)(M{0, 1, 2, 3, 4, 5, 6, 7} < limit);
  else if constexpr (sizeof(M) / sizeof(Step) == 4)
    return (M)(M{0, 1, 2, 3} < limit);
  else
    return (M)(M{0, 1} < limit);
}
// The masks of loads and stores are those of the first lanes. Memory is touched in the lanes of the mask alone; the others are
// 0.
template <class M, class V>
static __attribute__((noinline, cold)) V load_lanes(M mask, const char* p) {
  constexpr int size = sizeof(typename ElementOf<V>::type);
  V result = {};
  for (int k = 0; k < (int)sizeof(V) / size && mask[k]; ++k) {
    typename ElementOf<V>::type element;
    __builtin_memcpy(&element, p + k * size, size);
    result[k] = element;
  }
  return result;
}
template <class M, class V>
static __attribute__((noinline, cold)) void store_lanes(M mask, char* p, V a) {
  constexpr int size = sizeof(typename ElementOf<V>::type);
  for (int k = 0; k < (int)sizeof(V) / size && mask[k]; ++k) {
    const typename ElementOf<V>::type element = a[k];
    __builtin_memcpy(p + k * size, &element, size);
  }
}
template <class M>
ACCEL_INLINE bool has_all_lanes(M mask) {
  return mask[sizeof(M) / sizeof(typename ElementOf<M>::type) - 1] != 0;
}
template <class M, class V>
ACCEL_INLINE V v_load(M mask, const char* p, V) {
  if (!has_all_lanes(mask)) return load_lanes<M, V>(mask, p);
  V result;
  __builtin_memcpy(&result, p, sizeof result);
  return result;
}
template <class M, class V>
ACCEL_INLINE void v_store(M mask, char* p, V a) {
  has_all_lanes(mask) ? (void)__builtin_memcpy(p, &a, sizeof a) : store_lanes(mask, p, a);
}
template <class M>
ACCEL_INLINE M v_mask(bool8 all) {
  typedef typename ElementOf<M>::type Step;
  return v_all<M>((Step) - (Step)all);
}
template <class M>
ACCEL_INLINE bool v_any(M masks) {
#if defined(__AVX2__)
  return __builtin_ia32_movmskps256((f32v)masks) != 0;
#elif defined(__SSE2__)
  return __builtin_ia32_movmskps((f32v)masks) != 0;
#else
  return (((i64v)masks)[0] | ((i64v)masks)[1]) != 0;
#endif
}

// a in the lanes of the mask, else b.
template <class M, class V>
ACCEL_INLINE V v_where(M mask, V a, V b) {
#if defined(__AVX2__)  // the builtin would compare the mask with 0 first
  if constexpr (sizeof(typename ElementOf<V>::type) == 4)
    asm("vblendvps %1, %2, %0, %0" : "+x"(b) : "x"(mask), "x"(a));
  else
    asm("vblendvpd %1, %2, %0, %0" : "+x"(b) : "x"(mask), "x"(a));
  return b;
#else
  return (V)(((M)a & mask) | ((M)b & ~mask));
#endif
}

// One instruction, with the operands in this order: of two NaNs the first one counts.
#if defined(__AVX__) && !defined(__clang__)
#define ACCEL_VECTOR_OPERAND "xm"
#elif defined(__x86_64__)
#define ACCEL_VECTOR_OPERAND "x"
#endif
#if defined(__AVX__)
#define ACCEL_VECTOR_INSTRUCTION(x86, arm)                                         \
  V result;                                                                        \
  if constexpr (sizeof(typename ElementOf<V>::type) == 4)                          \
    asm("v" x86 "ps %2, %1, %0" : "=x"(result) : "x"(a), ACCEL_VECTOR_OPERAND(b)); \
  else                                                                             \
    asm("v" x86 "pd %2, %1, %0" : "=x"(result) : "x"(a), ACCEL_VECTOR_OPERAND(b)); \
  return result
#elif defined(__x86_64__)
#define ACCEL_VECTOR_INSTRUCTION(x86, arm)                \
  if constexpr (sizeof(typename ElementOf<V>::type) == 4) \
    asm(x86 "ps %1, %0" : "+x"(a) : "x"(b));              \
  else                                                    \
    asm(x86 "pd %1, %0" : "+x"(a) : "x"(b));              \
  return a
#elif defined(__aarch64__)
#define ACCEL_VECTOR_INSTRUCTION(x86, arm)                           \
  V result;                                                          \
  if constexpr (sizeof(typename ElementOf<V>::type) == 4)            \
    asm(arm " %0.4s, %1.4s, %2.4s" : "=w"(result) : "w"(a), "w"(b)); \
  else                                                               \
    asm(arm " %0.2d, %1.2d, %2.2d" : "=w"(result) : "w"(a), "w"(b)); \
  return result
#endif
template <class V>
ACCEL_INLINE V quiet_add(V a, V b) {
  ACCEL_VECTOR_INSTRUCTION("add", "fadd");
}
template <class V>
ACCEL_INLINE V quiet_subtract(V a, V b) {
  ACCEL_VECTOR_INSTRUCTION("sub", "fsub");
}
template <class V>
ACCEL_INLINE V quiet_multiply(V a, V b) {
  ACCEL_VECTOR_INSTRUCTION("mul", "fmul");
}
template <class V>
ACCEL_INLINE V quiet_quotient(V a, V b) {
  ACCEL_VECTOR_INSTRUCTION("div", "fdiv");
}
template <class M, class V>
ACCEL_INLINE V v_add(M, V a, V b) {
  return quiet_add(a, b);
}
template <class M, class V>
ACCEL_INLINE V v_subtract(M, V a, V b) {
  return quiet_subtract(a, b);
}
template <class M, class V>
ACCEL_INLINE V v_multiply(M, V a, V b) {
  return rounded(a * b);
}
template <class M, class V>
ACCEL_INLINE V v_divide(M mask, V a, V b) {
  return quiet_quotient(a, v_where(mask, b, v_all<V>(1)));
}
// name_or(mask, a, b, other): `other` in the lanes that are not in the mask.
#define ACCEL_VECTOR_OR(name)                           \
  template <class M, class V>                           \
  ACCEL_INLINE V name##_or(M mask, V a, V b, V other) { \
    return v_where(mask, name(mask, a, b), other);      \
  }
ACCEL_VECTOR_OR(v_add)
ACCEL_VECTOR_OR(v_subtract)
ACCEL_VECTOR_OR(v_multiply)
ACCEL_VECTOR_OR(v_divide)

// Of lanes with a NaN, comparisons of order raise an event where AVX's comparisons are missing.
#if defined(__AVX2__)
#define ACCEL_VECTOR_COMPARE(name, code, text)                                                                   \
  ACCEL_INLINE i32v name(i32v mask, f32v a, f32v b) { return mask & (i32v)__builtin_ia32_cmpps256(a, b, code); } \
  ACCEL_INLINE i64v name(i64v mask, f64v a, f64v b) { return mask & (i64v)__builtin_ia32_cmppd256(a, b, code); }
#else
#define ACCEL_VECTOR_COMPARE(name, code, text)                                          \
  ACCEL_INLINE i32v name(i32v mask, f32v a, f32v b) { return mask & (i32v)(a text b); } \
  ACCEL_INLINE i64v name(i64v mask, f64v a, f64v b) { return mask & (i64v)(a text b); }
#endif
// clang-format off
ACCEL_VECTOR_COMPARE(v_equal, 0x00, ==)
ACCEL_VECTOR_COMPARE(v_not_equal, 0x04, !=)
ACCEL_VECTOR_COMPARE(v_less, 0x11, <)
ACCEL_VECTOR_COMPARE(v_less_equal, 0x12, <=)
ACCEL_VECTOR_COMPARE(v_greater_equal, 0x1d, >=)
ACCEL_VECTOR_COMPARE(v_greater, 0x1e, >)
// clang-format on

#if defined(__x86_64__)
#define ACCEL_VECTOR_REGISTER "x"
#else
#define ACCEL_VECTOR_REGISTER "w"
#endif
template <class V>
ACCEL_INLINE V quiet_sqrt(V a) {
  constexpr bool single = sizeof(typename ElementOf<V>::type) == 4;
#if defined(__AVX__)
  if constexpr (single)
    asm("vsqrtps %0, %0" : "+x"(a));
  else
    asm("vsqrtpd %0, %0" : "+x"(a));
#elif defined(__SSE2__)
  if constexpr (single)
    asm("sqrtps %0, %0" : "+x"(a));
  else
    asm("sqrtpd %0, %0" : "+x"(a));
#elif defined(__aarch64__)
  if constexpr (single)
    asm("fsqrt %0.4s, %0.4s" : "+w"(a));
  else
    asm("fsqrt %0.2d, %0.2d" : "+w"(a));
#endif
  return a;
}
template <class M, class V>
ACCEL_INLINE V v_sqrt(M mask, V a) {
  return quiet_sqrt((V)((M)a & mask));
}
template <class M, class V>
ACCEL_INLINE V v_negative(M, V a) {
  typedef typename ElementOf<M>::type Step;
  return (V)((M)a ^ v_all<M>((Step)((u64)1 << (8 * sizeof(Step) - 1))));
}
template <class M, class V>
ACCEL_INLINE V v_absolute(M, V a) {
  typedef typename ElementOf<M>::type Step;
  return (V)((M)a & v_all<M>((Step) ~((u64)1 << (8 * sizeof(Step) - 1))));
}
// a * b + c and a * b - c: `contracted`.
template <class V>
ACCEL_INLINE V quiet_contracted(V a, V b, V c) {
#if defined(ACCEL_SEPARATE_PRODUCTS)
  return quiet_add(quiet_multiply(a, b), c);
#elif defined(__x86_64__)
  if constexpr (sizeof(typename ElementOf<V>::type) == 4)
    asm("vfmadd231ps %2, %1, %0" : "+x"(c) : "x"(a), "x"(b));
  else
    asm("vfmadd231pd %2, %1, %0" : "+x"(c) : "x"(a), "x"(b));
  return c;
#elif defined(__aarch64__)
  if constexpr (sizeof(typename ElementOf<V>::type) == 4)
    asm("fmla %0.4s, %1.4s, %2.4s" : "+w"(c) : "w"(a), "w"(b));
  else
    asm("fmla %0.2d, %1.2d, %2.2d" : "+w"(c) : "w"(a), "w"(b));
  return c;
#endif
}
template <class M, class V>
ACCEL_INLINE V v_contracted(M, V a, V b, V c) {
  return quiet_contracted(a, b, c);
}
template <class M, class V>
ACCEL_INLINE V v_contracted_minus(M mask, V a, V b, V c) {
#if defined(ACCEL_SEPARATE_PRODUCTS)
  return quiet_subtract(quiet_multiply(a, b), c);
#elif defined(__x86_64__)
  if constexpr (sizeof(typename ElementOf<V>::type) == 4)
    asm("vfmsub231ps %2, %1, %0" : "+x"(c) : "x"(a), "x"(b));
  else
    asm("vfmsub231pd %2, %1, %0" : "+x"(c) : "x"(a), "x"(b));
  return c;
#else
  return quiet_contracted(a, b, v_negative(mask, c));
#endif
}
template <class M, class V>
ACCEL_INLINE V quiet_divide(M mask, V a, V b) {
  return quiet_quotient((V)((M)a & mask), v_where(mask, b, v_all<V>(1)));
}
template <class V>
ACCEL_INLINE void v_do_not_optimize(V a) {
  asm volatile("" : : ACCEL_VECTOR_REGISTER(a));
}

// The events of a group of lanes. Lanes outside of the mask are computed as well. The flags are read after the loop, so that
// the loop costs nothing more: if a lane of the mask may have raised one, the group is to be run again without vectors.
struct VectorEvents {
  int before;  // events of the groups before it

  ACCEL_INLINE VectorEvents begin() {
    const int before = fp_read_arithmetic();
    if (before != 0) fp_clear_arithmetic();
    return {before};
  }
  // Vectors that are computed in the group: before `found` is asked.
  template <class V>
  __attribute__((always_inline)) void include(V& a) const {
    asm volatile("" : "+" ACCEL_VECTOR_REGISTER(a));
  }
  __attribute__((always_inline)) int found() const { return fp_read_arithmetic(); }
  // Lanes of the mask whose number is not finite.
  template <class M, class V>
  __attribute__((always_inline)) M strange(M mask, V a) const {
    const M infinity = (M)v_all<V>((typename ElementOf<V>::type)__builtin_inf());
    return mask & (M)(((M)a & infinity) == infinity);
  }
  // As if the group had not been computed.
  __attribute__((always_inline)) void forget(int found) const {
    if (found != 0) fp_clear_arithmetic();
    if (before != 0) fp_raise(before);
  }
};
#endif
