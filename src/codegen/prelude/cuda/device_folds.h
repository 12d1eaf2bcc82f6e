// Reductions in any order that depends on extents and the size of the group alone.
//
// The fold of elements [begin, end), at least one, by a group: thread k takes element begin + k and every size-th after it.
// Each thread gets the result. `side_by_side`: elements to compute at a time.
template <class T, int side_by_side, class G, class Element, class Combine>
ACCEL_DEVICE T fold_run(G group, i64 begin, i64 end, Element element, Combine combine) {
  const i64 own = begin + group.lane;
  T total = element(own < end ? own : begin);
#pragma unroll side_by_side
  for (i64 i = own + G::size; i < end; i += G::size) total = combine(total, element(i));
  if constexpr (G::size > 1) {
    const i64 taking = end - begin;  // threads from this one on have no elements
    const int lane = group.lane;
    __syncwarp();
    for (int width = 1; width < 32; width *= 2) {
      const T other = value_across(total, width);
      if ((lane & ~(2 * width - 1)) + width < taking) total = combine(total, other);
    }
    if constexpr (G::size == 32) {
      total = value_of_first(total);
    } else {
      constexpr int warps = G::size / 32;
      __shared__ alignas(16) unsigned char memory[warps * sizeof(T)];
      T* const slots = (T*)memory;
      group.sync();
      if (lane % 32 == 0) slots[lane / 32] = total;
      group.sync();
      total = slots[0];
      for (int k = 1; k < warps && k * 32 < taking; ++k) total = combine(total, slots[k]);
    }
  }
  return total;
}
template <class T, int side_by_side, class G, class Element, class Combine>
ACCEL_DEVICE T fold(G group, T first, i64 n, Element element, Combine combine) {
  if constexpr (G::size == 1) {
    T total = first;
#pragma unroll side_by_side
    for (i64 i = 0; i < n; ++i) total = combine(total, element(i));
    return total;
  } else {
    return n > 0 ? combine(first, fold_run<T, side_by_side>(group, 0, n, element, combine)) : first;
  }
}

// Element k of those at memory[0], memory[step] and so on.
template <class T>
ACCEL_DEVICE auto strided(const T* memory, i64 step) {
  return [=](i64 k) { return memory[k * step]; };
}

// Memory of a block for the elements that a fold takes next. A static variable of a template would be one
// for each of its instances.
constexpr int fold_bytes = 32 << 10;
ACCEL_DEVICE unsigned char* fold_memory() {
  __shared__ alignas(16) unsigned char memory[fold_bytes];
  return memory;
}
// From the first element to the last, by one thread of eight: all of them load the next elements into shared memory meanwhile.
template <class T, int side_by_side, class Element, class Combine>
ACCEL_DEVICE T fold(Group<8> group, T first, i64 n, Element element, Combine combine) {
  constexpr int deep = sizeof(T) > 8 ? 32 : 64, own = deep / 8, columns = items_side_by_side;
  static_assert(2 * deep * columns * sizeof(T) <= fold_bytes);
  T* const rows = (T*)fold_memory() + threadIdx.x % columns;
  T next[own];
  const auto load = [&](i64 begin) {
    const i64 first_own = begin + group.lane * own;
    if (begin + deep <= n) {  // without conditions, so that all loads come before the operations on them
#pragma unroll
      for (int k = 0; k < own; ++k) next[k] = element(first_own + k);
    } else {
#pragma unroll
      for (int k = 0; k < own; ++k)
        if (first_own + k < n) next[k] = element(first_own + k);
    }
  };
  const auto keep = [&](int half) {
#pragma unroll
    for (int k = 0; k < own; ++k) rows[(half * deep + group.lane * own + k) * columns] = next[k];
  };
  T total = first;
  group.sync();  // the memory may have been another fold's
  load(0);
  keep(0);
  group.sync();
  int half = 0;
  for (i64 begin = 0; begin < n; begin += deep, half ^= 1) {
    load(begin + deep);
    const int count = n - begin < deep ? (int)(n - begin) : deep;
    if (group.lane == 0)
      for (int k = 0; k < count; ++k) total = combine(total, rows[(half * deep + k) * columns]);
    keep(half ^ 1);
    group.sync();
  }
  if (group.lane == 0) rows[0] = total;
  group.sync();
  return rows[0];
}
