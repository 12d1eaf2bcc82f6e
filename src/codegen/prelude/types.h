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

// 0, opaque to the compiler: a value combined with it is no constant. What clang makes of constants alone it executes where it
// likes, also before the events are cleared; of a variable it does so after the statements that may change memory.
#if defined(__clang__)
#define ACCEL_UNKNOWN
#else
#define ACCEL_UNKNOWN const
#endif
extern "C" ACCEL_UNKNOWN u64 unknown_zero __attribute__((visibility("hidden")));
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
