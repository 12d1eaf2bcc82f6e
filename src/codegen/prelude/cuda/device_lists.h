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

// Among the threads of a group that have a flag: how many come before this one, and how many there are.
struct Rank {
  int before, all;
};
template <class G>
ACCEL_DEVICE Rank rank_of(G group, bool flag) {
  const unsigned bits = __ballot_sync(whole_warp, flag);
  const int lane = group.lane % 32, in_warp = __popc(bits & ((1u << lane) - 1));
  if constexpr (G::size == 32) {
    return {in_warp, __popc(bits)};
  } else {
    constexpr int warps = G::size / 32;
    __shared__ int counts[warps];
    group.sync();
    if (lane == 0) counts[group.lane / 32] = __popc(bits);
    group.sync();
    Rank rank = {in_warp, 0};
#pragma unroll
    for (int k = 0; k < warps; ++k) {
      if (k < group.lane / 32) rank.before += counts[k];
      rank.all += counts[k];
    }
    return rank;
  }
}

// Stores base + k for each k of [begin, end) that counts at out[next] and on. Returns the position after them. The list has
// room for `count` elements: as many count, unless another thread changes what decides it.
template <class G, class Counts>
ACCEL_DEVICE i64 list_run(G group, char* memory, i64 count, i64 next, i64 base, i64 begin, i64 end, Counts counts) {
  i64* const out = (i64*)memory;
  if constexpr (G::size == 1) {
    for (i64 k = begin; k < end && next < count; ++k)
      if (counts(k)) out[next++] = base + k;
    return next;
  } else {
    for (i64 first = begin; first < end; first += G::size) {
      const i64 k = first + group.lane;
      const bool is_listed = k < end && counts(k) != 0;
      const Rank rank = rank_of(group, is_listed);
      if (is_listed && next + rank.before < count) out[next + rank.before] = base + k;
      next += rank.all;
    }
    return next;
  }
}

// Stores `base` where a list of `count` elements has room left: another thread has changed what decides how many there are.
// What reads the list finds no other index than one of the array's.
template <class G>
ACCEL_DEVICE void fill_rest(G group, char* memory, i64 next, i64 count, i64 base) {
  i64* const out = (i64*)memory;
  for (i64 k = next + group.lane; k < count; k += G::size) out[k] = base;
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
