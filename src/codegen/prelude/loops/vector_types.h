// Vectors of numbers for loops whose lanes end one after the other. Where instructions take masks (AVX-512), a mask has a bit
// per lane: part "masked_vectors". Elsewhere it is a vector of integers, -1 in the lanes of the mask: part "blended_vectors".
#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define ACCEL_MASKED_VECTORS 1
#define ACCEL_VECTOR_BYTES 64
#elif defined(__AVX2__)
#define ACCEL_VECTOR_BYTES 32
#else
#define ACCEL_VECTOR_BYTES 16
#endif
typedef f32 f32v __attribute__((vector_size(ACCEL_VECTOR_BYTES), may_alias, aligned(4)));
typedef f64 f64v __attribute__((vector_size(ACCEL_VECTOR_BYTES), may_alias, aligned(8)));
typedef i32 i32v __attribute__((vector_size(ACCEL_VECTOR_BYTES), may_alias, aligned(4)));
typedef i64 i64v __attribute__((vector_size(ACCEL_VECTOR_BYTES), may_alias, aligned(8)));

// Per element type: vectors of it, of steps (integers of its size) and masks; what collects masks for v_any.
template <class R>
struct Vectors;
template <>
struct Vectors<f32> {
  typedef f32v Numbers;
  typedef i32v Steps;
  typedef i32 Step;
#if defined(ACCEL_MASKED_VECTORS)
  typedef u16 Mask;
  typedef u32 Any;
#else
  typedef i32v Mask, Any;
#endif
  static constexpr int lanes = ACCEL_VECTOR_BYTES / 4;
};
template <>
struct Vectors<f64> {
  typedef f64v Numbers;
  typedef i64v Steps;
  typedef i64 Step;
#if defined(ACCEL_MASKED_VECTORS)
  typedef u8 Mask;
  typedef u32 Any;
#else
  typedef i64v Mask, Any;
#endif
  static constexpr int lanes = ACCEL_VECTOR_BYTES / 8;
};
// Lanes that end together: a lane that ends early waits for the others. Fewer vectors would wait for their own results.
constexpr int group_vectors = 4;
template <class R>
constexpr i64 group_lanes = group_vectors * Vectors<R>::lanes;

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
  constexpr int lanes = ACCEL_VECTOR_BYTES / sizeof(a);
  if constexpr (lanes == 16)
    return V{a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a};
  else if constexpr (lanes == 8)
    return V{a, a, a, a, a, a, a, a};
  else if constexpr (lanes == 4)
    return V{a, a, a, a};
  else
    return V{a, a};
}
template <class V, class R>
ACCEL_INLINE complex_of<V> v_all(complex_of<R> a) {
  return {v_all<V>(a.re), v_all<V>(a.im)};
}

// Logical operations on masks. Operands of v_and and v_or have no lanes outside of the first operand.
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
