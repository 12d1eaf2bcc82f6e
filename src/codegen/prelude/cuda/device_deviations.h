// Sums of the squares of deviations from a mean. Means and sums of parts are combined as Chan, Golub and LeVeque do (Updating
// formulae and a pairwise algorithm for computing sample variances, 1979): no large numbers cancel.
template <class T>
struct Deviations {
  i64 count = 0;
  T mean = 0, squares = 0;

  // As NumPy has it where the sum of the elements is beyond the dtype: all deviations from an infinite mean are infinite.
  ACCEL_METHOD T sum() const { return !isnan(squares) && isinf(mean * (T)count) ? (T)__builtin_inf() : squares; }
};
template <class T>
ACCEL_DEVICE Deviations<T> single(T a) {
  return {1, a, a - a};  // NaN when it is infinite
}
// Sums of finite elements may be infinite: then so are the squares.
template <class T>
ACCEL_DEVICE Deviations<T> joined(Deviations<T> a, Deviations<T> b) {
  if (a.count == 0) return b;
  if (b.count == 0) return a;
  const i64 count = a.count + b.count;
  const T apart = b.mean - a.mean, weight = (T)b.count;
  if (!isfinite(apart)) return {count, a.mean + b.mean, a.squares + b.squares + (isnan(apart) ? (T)0 : absolute(apart))};
  return {count, a.mean + apart * weight / (T)count, a.squares + b.squares + apart * apart * ((T)a.count * weight / (T)count)};
}

// Elements first, first + step, ... before end, by one thread.
template <class T, class Element>
ACCEL_DEVICE Deviations<T> deviations_of(i64 first, i64 end, i64 step, Element element) {
  constexpr int width = 8;
  Deviations<T> total;
  i64 i = first;
#pragma unroll 1
  for (; i + (width - 1) * step < end; i += width * step) {
    T all[width], sum = 0, squares = 0;
#pragma unroll
    for (int k = 0; k < width; ++k) all[k] = element(i + k * step);
#pragma unroll
    for (int k = 0; k < width; ++k) sum += all[k];
    const T mean = sum * (T)(1.0 / width);
#pragma unroll
    for (int k = 0; k < width; ++k) squares += (all[k] - mean) * (all[k] - mean);
    total = joined(total, Deviations<T>{width, mean, squares});
  }
#pragma unroll 1
  for (; i < end; i += step) total = joined(total, single(element(i)));
  return total;
}

// The deviations of the elements of all threads of a group, from those of each thread's own; each thread gets them.
template <class T, class G>
ACCEL_DEVICE Deviations<T> joined_of_group(G group, Deviations<T> own) {
  const auto of_thread = [&](int offset) {
    return Deviations<T>{value_across(own.count, offset), value_across(own.mean, offset), value_across(own.squares, offset)};
  };
  if constexpr (G::size == 1) {
    return own;
  } else {
    constexpr bool is_beside = G::size == 8;  // its threads are in eight warps
    constexpr int slots = is_beside ? 8 * items_side_by_side : G::size / 32, number = is_beside ? 8 : slots;
    if constexpr (!is_beside) {
      __syncwarp();
      for (int offset = 1; offset < 32; offset *= 2) {
        const Deviations<T> other = of_thread(offset);
        own = (group.lane & offset) == 0 ? joined(own, other) : joined(other, own);
      }
    }
    if constexpr (G::size == 32) return own;
    __shared__ alignas(16) unsigned char memory[slots * sizeof(Deviations<T>)];
    const int step = is_beside ? items_side_by_side : 1;
    Deviations<T>* const all = (Deviations<T>*)memory + (is_beside ? threadIdx.x % items_side_by_side : 0);
    group.sync();
    if (is_beside || group.lane % 32 == 0) all[(is_beside ? group.lane : group.lane / 32) * step] = own;
    group.sync();
    own = all[0];
    for (int k = 1; k < number; ++k) own = joined(own, all[k * step]);
    return own;
  }
}

// Elements [begin, end), by a group: each thread gets the result.
template <class T, class G, class Element>
ACCEL_DEVICE Deviations<T> deviations_of_run(G group, i64 begin, i64 end, Element element) {
  return joined_of_group(group, deviations_of<T>(begin + group.lane, end, G::size, element));
}
// The deviations of the elements of `count` parts, which are at memory[0], memory[step] and so on.
template <class T, class G>
ACCEL_DEVICE Deviations<T> joined_deviations(G group, const Deviations<T>* memory, i64 step, i64 count) {
  Deviations<T> total;
  for (i64 k = group.lane; k < count; k += G::size) total = joined(total, memory[k * step]);
  return joined_of_group(group, total);
}
