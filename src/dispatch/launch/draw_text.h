#pragma once
// C++ text of the functions draw_* of rng_functions.inc: compiled together with NumPy's static library, after the prelude's
// parts "abi", "types" and "layers".

namespace accel {

// They leave the floating-point flags as they are.
constexpr const char* made_functions = R"(
extern "C" double random_uniform(void* bits, double low, double range);
extern "C" double random_standard_uniform(void* bits);
extern "C" double random_standard_normal(void* bits);
extern "C" double random_normal(void* bits, double loc, double scale);
extern "C" void random_bounded_uint64_fill(void* bits, u64 off, u64 range, long count, bool masked, u64* out);

static double draw_random(void* bits) { return random_standard_uniform(bits); }
static long draw_integer(void* bits, long low, long last) {
  u64 drawn = 0;
  random_bounded_uint64_fill(bits, (u64)low, (u64)last - (u64)low, 1, false, &drawn);
  return (long)drawn;
}

// RandomState.randint: `high` does not belong to the range.
static long draw_masked_integer(void* bits, long low, long high) {
  u64 drawn = 0;
  random_bounded_uint64_fill(bits, (u64)low, (u64)high - 1 - (u64)low, 1, true, &drawn);
  return (long)drawn;
}

// What such a function raises is taken back.
static __attribute__((noinline, cold)) double quietly(double (*function)(void*, double, double), void* bits, double a, double b) {
#if defined(__x86_64__)
  const unsigned flags = __builtin_ia32_stmxcsr();
  const double drawn = function(bits, a, b);
  __builtin_ia32_ldmxcsr(flags);
#else
  u64 flags;
  asm volatile("mrs %0, fpsr" : "=r"(flags) : : "memory");
  const double drawn = function(bits, a, b);
  asm volatile("msr fpsr, %0" : : "r"(flags) : "memory");
#endif
  return drawn;
}

static double draw_uniform(void* bits, double low, double high) {
  const double range = high - low;
  return are_ordinary(low, range) ? random_uniform(bits, low, range) : quietly(random_uniform, bits, low, range);
}

// Widths and bounds of the layers are learnt by trying the function, which draws all other numbers.
static Layers normal;
static bool knows_layers = false;

// A stream that begins with one number that has been drawn already.
struct Resumed {
  BitStream stream;
  const BitStream* rest;
  u64 first;
  long taken;
};
static u64 resumed_uint64(void* state) {
  Resumed* resumed = (Resumed*)state;
  return resumed->taken++ == 0 ? resumed->first : resumed->rest->next_uint64(resumed->rest->state);
}
static unsigned resumed_uint32(void* state) {
  const BitStream* rest = ((Resumed*)state)->rest;
  return rest->next_uint32(rest->state);
}
static double resumed_double(void* state) {
  Resumed* resumed = (Resumed*)state;
  ++resumed->taken;
  return resumed->rest->next_double(resumed->rest->state);
}
static double resume_normal(const BitStream* rest, u64 first, long* taken) {
  Resumed resumed = {{&resumed, resumed_uint64, resumed_uint32, resumed_double, resumed_uint64}, rest, first, 0};
  const double drawn = random_standard_normal(&resumed.stream);
  if (taken != nullptr) *taken = resumed.taken;
  return drawn;
}
static __attribute__((noinline, cold)) double rare_normal(const BitStream* stream, u64 bits) {
  return resume_normal(stream, bits, nullptr);
}

static double draw_standard_normal(void* bits) {
  return knows_layers ? draw_layered(&normal, (const BitStream*)bits) : random_standard_normal(bits);
}
static double draw_normal(void* bits, double loc, double scale) {
  if (!knows_layers || !are_ordinary(loc, scale)) return quietly(random_normal, bits, loc, scale);
  return loc + scale * draw_layered(&normal, (const BitStream*)bits);
}

// Numbers to learn from.
static u64 mixed_uint64(void* state) {
  u64 z = *(u64*)state += 0x9e3779b97f4a7c15ul;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ul;
  z = (z ^ z >> 27) * 0x94d049bb133111ebul;
  return z ^ z >> 31;
}
static unsigned mixed_uint32(void* state) { return (unsigned)mixed_uint64(state); }
static double mixed_double(void* state) { return (double)(mixed_uint64(state) >> 11) * 0x1p-53; }
static BitStream mixed_stream(u64* state) { return {state, mixed_uint64, mixed_uint32, mixed_double, mixed_uint64}; }

static bool is_quick(const BitStream* stream, u64 layer, u64 place) {
  long taken = 0;
  resume_normal(stream, layer | place << 9, &taken);
  return taken == 1;
}
static void learn_layers() {
  u64 state = 1;
  const BitStream stream = mixed_stream(&state);
  normal.rare = rare_normal;
  for (u64 k = 0; k < 256; ++k) {
    u64 low = 0, high = 1ul << 52;
    while (low < high) {
      const u64 middle = (low + high) / 2;
      is_quick(&stream, k, middle) ? void(low = middle + 1) : void(high = middle);
    }
    normal.layers[k] = {low, low > 1 ? resume_normal(&stream, k | 1ul << 9, nullptr) : 0.0};
  }
  // Whether the numbers are the same from now on, and what is left of the stream, too.
  knows_layers = true;
  u64 other_state = state;
  const BitStream other = mixed_stream(&other_state);
  for (int k = 0; k < 4096 && knows_layers; ++k) {
    const double loc = k % 2 == 0 ? 0 : mixed_double(&state) - mixed_double(&state), scale = mixed_double(&state) + 0x1p-9;
    other_state = state;
    const double drawn = draw_normal((void*)&stream, loc, scale), wanted = random_normal((void*)&other, loc, scale);
    knows_layers = __builtin_bit_cast(u64, drawn) == __builtin_bit_cast(u64, wanted) && state == other_state;
    other_state = state;
    const double plain = draw_standard_normal((void*)&stream), asked = random_standard_normal((void*)&other);
    knows_layers = knows_layers && __builtin_bit_cast(u64, plain) == __builtin_bit_cast(u64, asked) && state == other_state;
  }
}
)";

}  // namespace accel
