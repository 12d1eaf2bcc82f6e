// Floating-point events: the hardware's sticky flags in NumPy's order (divide 1, overflow 2, underflow 4, invalid 8).
#if defined(__x86_64__)
// glibc raises overflow and underflow (feraiseexcept) in the flags of the x87 unit, whose bits are in MXCSR's order.
ACCEL_INLINE u32 fp_x87_flags() {
  unsigned short word;
  asm volatile("fnstsw %0" : "=a"(word) : : "memory");
  return word & 0x3fu;
}
ACCEL_INLINE u32 fp_control() {
  u32 word;
  asm volatile("stmxcsr %0" : "=m"(word) : : "memory");
  return word | fp_x87_flags();
}
ACCEL_INLINE void fp_set_control(u32 word) {
  if (fp_x87_flags() != 0) asm volatile("fnclex" : : : "memory");
  asm volatile("ldmxcsr %0" : : "m"(word) : "memory");
}
// Setting the word costs more than reading it.
ACCEL_INLINE void fp_clear() {
  const u32 word = fp_control();
  if ((word & 0x1du) != 0) fp_set_control(word & ~0x3fu);
}
ACCEL_INLINE int fp_events(u32 word) { return (int)((word >> 2 & 7) | (word & 1) << 3); }
ACCEL_INLINE int fp_read() { return fp_events(fp_control()); }
// Variants for code that calls no function of the C library.
ACCEL_INLINE void fp_clear_arithmetic() {
  u32 word;
  asm volatile("stmxcsr %0" : "=m"(word) : : "memory");
  if ((word & 0x1du) == 0) return;
  word &= ~0x3fu;
  asm volatile("ldmxcsr %0" : : "m"(word) : "memory");
}
ACCEL_INLINE int fp_read_arithmetic() {
  u32 word;
  asm volatile("stmxcsr %0" : "=m"(word) : : "memory");
  return fp_events(word);
}
// Says nothing of memory: what was loaded before need not be loaded again.
ACCEL_INLINE void fp_raise(int events) {
  u32 word;
  asm volatile("stmxcsr %0" : "=m"(word));
  word |= (events & 7) << 2 | (events >> 3 & 1);
  asm volatile("ldmxcsr %0" : : "m"(word));
}
#elif defined(__aarch64__)
ACCEL_INLINE u64 fp_control() {
  u64 word;
  asm volatile("mrs %0, fpsr" : "=r"(word) : : "memory");
  return word;
}
ACCEL_INLINE void fp_set_control(u64 word) { asm volatile("msr fpsr, %0" : : "r"(word) : "memory"); }
ACCEL_INLINE void fp_clear() { fp_set_control(fp_control() & ~0x1fu); }
ACCEL_INLINE int fp_read() {
  const u64 word = fp_control();
  return (int)((word >> 1 & 7) | (word & 1) << 3);
}
ACCEL_INLINE void fp_clear_arithmetic() { fp_clear(); }
ACCEL_INLINE int fp_read_arithmetic() { return fp_read(); }
ACCEL_INLINE void fp_raise(int events) {
  u64 word;
  asm volatile("mrs %0, fpsr" : "=r"(word));
  asm volatile("msr fpsr, %0" : : "r"(word | (events & 7) << 1 | (events >> 3 & 1)));
}
#else
#error "accel has no access to the floating-point status of this CPU"
#endif

// Integer operations report their events through the hardware flags too.
static __attribute__((noinline, cold)) void raise_divide() { fp_raise(accel_divide); }
static __attribute__((noinline, cold)) void raise_overflow() { fp_raise(accel_overflow); }

// A value that is opaque to the optimizer: operations on it happen at run time and raise their events.
template <class T>
ACCEL_INLINE T opaque(T value) {
  asm volatile("" : "+m"(value));
  return value;
}

// A number that has been computed: what the compiler knows of its range does not make the operation unnecessary.
template <class T>
ACCEL_INLINE T computed(T value) {
#if defined(__x86_64__)
  asm("" : "+x"(value));
#else
  asm("" : "+w"(value));
#endif
  return value;
}

// An operand or a result of a branch. clang takes operations on floats to have no events: it executes them before the branch
// that leads to them, or after their events are read, unless what they are made of and what they become stays in its place.
// g++ knows of the events (-ftrapping-math).
#if defined(__clang__)
template <class T>
ACCEL_INLINE T held(T value) {
  if constexpr (__is_integral(T)) {
    asm volatile("" : "+r"(value));
    return value;
  } else if constexpr (sizeof(T) == sizeof(u16)) {
    return __builtin_bit_cast(T, held(__builtin_bit_cast(u16, value)));
  } else {
    return value;
  }
}
ACCEL_INLINE f32 held(f32 value) {
#if defined(__x86_64__)
  asm volatile("" : "+x"(value));
#else
  asm volatile("" : "+w"(value));
#endif
  return value;
}
ACCEL_INLINE f64 held(f64 value) {
#if defined(__x86_64__)
  asm volatile("" : "+x"(value));
#else
  asm volatile("" : "+w"(value));
#endif
  return value;
}
template <class R>
ACCEL_INLINE complex_of<R> held(complex_of<R> value) {
  return {held(value.re), held(value.im)};
}
#else
template <class T>
ACCEL_INLINE T held(T value) {
  return value;
}
#endif

// A value that is rounded here. From version 12 on g++ makes one instruction, which rounds once, of a*b - c and a*b + c whose
// results lie side by side, even with -ffp-contract=off. It does not look for products through this barrier.
template <class T>
ACCEL_INLINE T rounded(T value) {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
  return __builtin_assoc_barrier(value);
#else
  return value;
#endif
}
// a * b + c and a * b - c as NumPy's loops for complex numbers have them: rounded once, unless NumPy found a CPU that cannot
// (ACCEL_SEPARATE_PRODUCTS). What the compiler may use of the CPU does not matter for it.
#if defined(ACCEL_SEPARATE_PRODUCTS)
#define ACCEL_CONTRACTED(R, builtin, suffix)                              \
  ACCEL_INLINE R contracted(R a, R b, R c) { return rounded(a * b) + c; } \
  ACCEL_INLINE R contracted_minus(R a, R b, R c) { return rounded(a * b) - c; }
#elif defined(__x86_64__) && !defined(__FMA__)
#define ACCEL_CONTRACTED(R, builtin, suffix)                          \
  ACCEL_INLINE R contracted(R a, R b, R c) {                          \
    asm("vfmadd231" suffix " %2, %1, %0" : "+x"(c) : "x"(a), "x"(b)); \
    return c;                                                         \
  }                                                                   \
  ACCEL_INLINE R contracted_minus(R a, R b, R c) {                    \
    asm("vfmsub231" suffix " %2, %1, %0" : "+x"(c) : "x"(a), "x"(b)); \
    return c;                                                         \
  }
#else
#define ACCEL_CONTRACTED(R, builtin, suffix)                            \
  ACCEL_INLINE R contracted(R a, R b, R c) { return builtin(a, b, c); } \
  ACCEL_INLINE R contracted_minus(R a, R b, R c) { return builtin(a, b, -c); }
#endif
ACCEL_CONTRACTED(f32, __builtin_fmaf, "ss")
ACCEL_CONTRACTED(f64, __builtin_fma, "sd")
// `negative` of scalar.h where there are no vectors to be made: by its bits a number would go through a general register.
template <class T>
ACCEL_INLINE T negative_alone(T a) {
  return computed(-computed(a));
}

// Sinks: the bits of a value whose computation must not be skipped where a selection drops it. They are summed up without
// branches (so that loops still become vectors) and shown to an empty asm statement at the end.
struct Sink {
  u32 narrow = 0;
  u64 wide = 0;
};
ACCEL_INLINE void do_not_optimize(Sink& sink, f32 v) { sink.narrow |= __builtin_bit_cast(u32, v); }
ACCEL_INLINE void do_not_optimize(Sink& sink, f64 v) { sink.wide |= __builtin_bit_cast(u64, v); }
template <class R>
ACCEL_INLINE void do_not_optimize(Sink& sink, complex_of<R> v) {
  do_not_optimize(sink, v.re), do_not_optimize(sink, v.im);
}
template <class T>
ACCEL_INLINE void do_not_optimize(Sink& sink, T v) {
  sink.narrow |= (u32)v;
}
ACCEL_INLINE void show(const Sink& sink) { asm volatile("" : : "r"(sink.narrow), "r"(sink.wide)); }
