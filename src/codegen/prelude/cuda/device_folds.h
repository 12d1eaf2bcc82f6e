// Reductions in any order that depends on extents and the size of the group alone.
//
// The fold of elements [begin, end), at least one, by a group: thread k takes element begin + k and every size-th after it.
// Each thread gets the result.
template <class T, class G, class Element, class Combine>
ACCEL_DEVICE T fold_run(G group, i64 begin, i64 end, Element element, Combine combine) {
  const i64 own = begin + group.lane;
  T total = element(own < end ? own : begin);
#pragma unroll 4
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
template <class T, class G, class Element, class Combine>
ACCEL_DEVICE T fold(G group, T first, i64 n, Element element, Combine combine) {
  if constexpr (G::size == 1) {
    T total = first;
#pragma unroll 4
    for (i64 i = 0; i < n; ++i) total = combine(total, element(i));
    return total;
  } else {
    return n > 0 ? combine(first, fold_run<T>(group, 0, n, element, combine)) : first;
  }
}

// Element k of those at memory[0], memory[step] and so on.
template <class T>
ACCEL_DEVICE auto strided(const T* memory, i64 step) {
  return [=](i64 k) { return memory[k * step]; };
}
