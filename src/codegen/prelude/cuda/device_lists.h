// Lists of the elements that count: `counts(k)` is not 0.
//
// How many of the elements [begin, end) count.
template <class G, class Counts>
ACCEL_DEVICE i64 count_run(G group, i64 begin, i64 end, Counts counts) {
  i64 number = 0;
  for (i64 k = begin + group.lane; k < end; k += G::size) number += counts(k) != 0;
  if constexpr (G::size == 1)
    return number;
  else
    return combine_lanes<1>(group, number, G::size, [](i64 a, i64 b) { return a + b; });
}

// A thread looks at this many elements at a time, a group's width apart: the waits of a block for each other are fewer.
constexpr int elements_at_once = 8;

// Of the flags of a group, those of all threads' first elements before those of their second ones, and so on: how many set ones
// come before each of this thread's, and how many there are.
struct Ranks {
  int before[elements_at_once], all;
};
template <class G>
ACCEL_DEVICE Ranks ranks_of(G group, const bool (&flags)[elements_at_once]) {
  const int lane = group.lane % 32, warp = group.lane / 32;
  Ranks ranks;
  int counts[elements_at_once];
#pragma unroll
  for (int k = 0; k < elements_at_once; ++k) {
    const unsigned bits = __ballot_sync(whole_warp, flags[k]);
    ranks.before[k] = __popc(bits & ((1u << lane) - 1)), counts[k] = __popc(bits);
  }
  if constexpr (G::size == 32) {
    ranks.all = 0;
#pragma unroll
    for (int k = 0; k < elements_at_once; ++k) ranks.before[k] += ranks.all, ranks.all += counts[k];
  } else {
    constexpr int warps = G::size / 32, places = elements_at_once * warps;
    __shared__ int of_warps[places], sums[places + 1];
    if (lane == 0)
#pragma unroll
      for (int k = 0; k < elements_at_once; ++k) of_warps[k * warps + warp] = counts[k];
    group.sync();
    if (warp == 0) {
      constexpr int each = places / 32;
      int sum = 0, own[each];
#pragma unroll
      for (int k = 0; k < each; ++k) own[k] = of_warps[lane * each + k], sum += own[k];
      int before = sum;
#pragma unroll
      for (int width = 1; width < 32; width *= 2) {
        const int other = __shfl_up_sync(whole_warp, before, width);
        if (lane >= width) before += other;
      }
      if (lane == 31) sums[places] = before;
      before -= sum;
#pragma unroll
      for (int k = 0; k < each; ++k) sums[lane * each + k] = before, before += own[k];
    }
    group.sync();
#pragma unroll
    for (int k = 0; k < elements_at_once; ++k) ranks.before[k] += sums[k * warps + warp];
    ranks.all = sums[places];
  }
  return ranks;
}

// Calls put(next, base + k) for each k of [begin, end) that counts, with growing `next`, and returns the last one plus one. The
// list has `count` elements: as many count, unless another thread changes what decides it.
template <class G, class Counts, class Put>
ACCEL_DEVICE i64 list_run(G group, i64 count, i64 next, i64 base, i64 begin, i64 end, Counts counts, Put put) {
  if constexpr (G::size == 1) {
    for (i64 k = begin; k < end && next < count; ++k)
      if (counts(k)) put(next++, base + k);
    return next;
  } else {
    for (i64 first = begin; first < end; first += elements_at_once * G::size) {
      bool flags[elements_at_once];
#pragma unroll
      for (int step = 0; step < elements_at_once; ++step) {
        const i64 k = first + step * G::size + group.lane;
        flags[step] = k < end && counts(k) != 0;
      }
      const Ranks ranks = ranks_of(group, flags);
#pragma unroll
      for (int step = 0; step < elements_at_once; ++step) {
        const i64 to = next + ranks.before[step];
        if (flags[step] && to < count) put(to, base + first + step * G::size + group.lane);
      }
      next += ranks.all;
    }
    return next;
  }
}

// Puts `base` where a list of `count` elements has room left: another thread has changed what decides how many there are.
// What reads the list finds no other index than one of the array's.
template <class G, class Put>
ACCEL_DEVICE void fill_rest(G group, i64 next, i64 count, i64 base, Put put) {
  for (i64 k = next + group.lane; k < count; k += G::size) put(k, base);
}

// Replaces each number by the sum of those before it.
template <int threads>
ACCEL_DEVICE void add_up_earlier(Group<threads> group, i64* numbers, i64 count) {
  __shared__ i64 sums[threads];
  const i64 begin = part_begin(count, group.lane, threads), end = part_begin(count, group.lane + 1, threads);
  i64 sum = 0;
  for (i64 k = begin; k < end; ++k) sum += numbers[k];
  sums[group.lane] = sum;
  group.sync();
  sum = 0;
  for (int k = 0; k < group.lane; ++k) sum += sums[k];
  for (i64 k = begin; k < end; ++k) {
    const i64 own = numbers[k];
    numbers[k] = sum;
    sum += own;
  }
}
