// Accumulations: element k of the result is the combination of the elements up to k. put(k, value) stores it.
//
// By one thread, in NumPy's order.
template <class T, class Source, class Combine, class Put>
ACCEL_DEVICE void accumulate_alone(i64 n, Source source, Combine combine, Put put) {
  if (n <= 0) return;
  T total = source(0);
  put(0, total);
  for (i64 k = 1; k < n; ++k) {
    total = combine(total, source(k));
    put(k, total);
  }
}

// The value that the thread `distance` before this one in the warp has.
template <class T>
ACCEL_DEVICE T value_before(T value, int distance) {
  return exchange_bits(value, [=](auto bits) { return __shfl_up_sync(whole_warp, bits, distance); });
}

// Elements [begin, end), by a block, after `before` if there is something before them. Each thread has some neighbouring
// elements at a time; what the threads before it have is combined within the warp, then over the warps. Threads without
// elements come last, so that nothing depends on them.
template <class T, class G, class Source, class Combine, class Put>
ACCEL_DEVICE void accumulate_run(G group, i64 begin, i64 end, const T* before, bool has_before, Source source, Combine combine,
                                 Put put) {
  constexpr int each = 8, warps = G::size / 32;
  __shared__ alignas(16) unsigned char memory[warps * sizeof(T)];
  T* const totals = (T*)memory;
  const int lane = group.lane % 32, warp = group.lane / 32;
  T earlier = {};
  if (has_before) earlier = *before;
  for (i64 first = begin; first < end; first += each * G::size) {
    const i64 own = first + group.lane * each;
    T values[each], total = {};
#pragma unroll
    for (int k = 0; k < each; ++k)
      if (own + k < end) total = values[k] = k == 0 ? source(own) : combine(total, source(own + k));
    for (int width = 1; width < 32; width *= 2) {
      const T other = value_before(total, width);
      if (lane >= width) total = combine(other, total);
    }
    group.sync();
    if (lane == 31) totals[warp] = total;
    group.sync();
    T offset = earlier;
    bool has_offset = has_before;
    for (int k = 0; k < warp; ++k, has_offset = true) offset = has_offset ? combine(offset, totals[k]) : totals[k];
    const T in_warp = value_before(total, 1);
    if (lane > 0) offset = has_offset ? combine(offset, in_warp) : in_warp, has_offset = true;
#pragma unroll
    for (int k = 0; k < each; ++k)
      if (own + k < end) put(own + k, has_offset ? combine(offset, values[k]) : values[k]);
    for (int k = 0; k < warps; ++k, has_before = true) earlier = has_before ? combine(earlier, totals[k]) : totals[k];
  }
}
// What the parts up to each one come to, in place.
template <class T, class G, class Combine>
ACCEL_DEVICE void accumulate_partials(G group, T* partials, i64 parts, Combine combine) {
  accumulate_run<T>(
      group, 0, parts, partials, false, [=](i64 k) { return partials[k]; }, combine,
      [=](i64 k, T value) { partials[k] = value; });
}
