// Normal numbers as most of NumPy's are drawn: of 64 random bits the lowest 8 choose a layer, the next one is the sign, and 52
// others times the layer's width are the number, if they are below the layer's bound. There is no branch on the sign, which is
// unpredictable. Functions of dispatch/launch/draw_text.h use this too: they find out widths and bounds, and draw all other
// numbers.

// numpy/random/bitgen.h
struct BitStream {
  void* state;
  u64 (*next_uint64)(void*);
  u32 (*next_uint32)(void*);
  f64 (*next_double)(void*);
  u64 (*next_raw)(void*);
};
struct Layer {
  u64 bound;
  f64 width;
};
struct Layers {
  Layer layers[256];
  f64 (*rare)(const BitStream* stream, u64 bits);  // the number that is drawn from these bits, and perhaps more
};
ACCEL_INLINE f64 draw_layered(const Layers* layers, const BitStream* stream) {
  const u64 bits = stream->next_uint64(stream->state), mantissa = bits >> 9 & 0xfffffffffffffu;
  const Layer& layer = layers->layers[bits & 255];
  if (__builtin_expect(mantissa >= layer.bound, 0)) return layers->rare(stream, bits);
  return (f64)(i64)mantissa * __builtin_bit_cast(f64, __builtin_bit_cast(u64, layer.width) | (bits >> 8 & 1) << 63);
}
// Whether multiples of random numbers of ordinary size by `scale`, added to `loc`, have no events.
ACCEL_INLINE bool are_ordinary(f64 loc, f64 scale) {
  const u64 least = __builtin_bit_cast(u64, 0x1p-900), most = __builtin_bit_cast(u64, 0x1p900);
  const u64 size = __builtin_bit_cast(u64, __builtin_fabs(scale));
  return __builtin_bit_cast(u64, __builtin_fabs(loc)) <= most && size - least <= most - least;
}
