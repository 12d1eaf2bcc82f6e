#pragma once
// The calling thread's floating-point state: control bits (rounding, flushing of subnormals) and exception flags.

#if defined(__x86_64__)
#include <immintrin.h>
#else
#include <cfenv>
#endif

namespace accel {

#if defined(__x86_64__)

using FloatControl = unsigned;
using FloatFlags = unsigned;
constexpr unsigned float_flag_bits = 0x3f;

inline FloatControl float_control() { return _mm_getcsr() & ~float_flag_bits; }
inline void add_float_flags(FloatFlags flags) { _mm_setcsr(_mm_getcsr() | flags); }

// glibc raises overflow and underflow (feraiseexcept) in the flags of the x87 unit, whose bits are in MXCSR's order.
inline FloatFlags x87_flags() {
  unsigned short word = 0;
  asm volatile("fnstsw %0" : "=a"(word) : : "memory");
  return word & float_flag_bits;
}
inline void clear_x87_flags() {
  if (x87_flags() != 0) asm volatile("fnclex" : : : "memory");
}

// Puts a worker thread under the caller's control bits, with no flag set; restores the thread's own state at the end.
class BorrowedFloatControl {
 public:
  explicit BorrowedFloatControl(FloatControl control) : own_(_mm_getcsr()) {
    clear_x87_flags();
    _mm_setcsr(control);
  }
  ~BorrowedFloatControl() {
    clear_x87_flags();
    _mm_setcsr(own_);
  }
  BorrowedFloatControl(const BorrowedFloatControl&) = delete;
  BorrowedFloatControl& operator=(const BorrowedFloatControl&) = delete;
  FloatFlags flags() const { return (_mm_getcsr() & float_flag_bits) | x87_flags(); }

 private:
  unsigned own_;
};

#else

using FloatControl = fenv_t;
using FloatFlags = int;

inline FloatControl float_control() {
  fenv_t environment;
  fegetenv(&environment);
  return environment;
}
inline void add_float_flags(FloatFlags flags) { feraiseexcept(flags); }

class BorrowedFloatControl {
 public:
  explicit BorrowedFloatControl(const FloatControl& control) {
    fegetenv(&own_);
    fesetenv(&control);
    feclearexcept(FE_ALL_EXCEPT);
  }
  ~BorrowedFloatControl() { fesetenv(&own_); }
  BorrowedFloatControl(const BorrowedFloatControl&) = delete;
  BorrowedFloatControl& operator=(const BorrowedFloatControl&) = delete;
  FloatFlags flags() const { return fetestexcept(FE_ALL_EXCEPT); }

 private:
  fenv_t own_;
};

#endif

}  // namespace accel
