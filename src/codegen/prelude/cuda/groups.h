#define ACCEL_DEVICE static __device__ __forceinline__
#define ACCEL_METHOD __device__ __forceinline__
// Threads that compute one item of a kernel together: one thread, a warp, or a block of several warps.
template <class T, class Exchange>
ACCEL_DEVICE T exchange_bits(T value, Exchange exchange) {
  if constexpr (sizeof(T) > 8) {
    u64 halves[2];
    __builtin_memcpy(halves, &value, 16);
    halves[0] = exchange(halves[0]), halves[1] = exchange(halves[1]);
    __builtin_memcpy(&value, halves, 16);
  } else if constexpr (sizeof(T) == 8) {
    u64 bits;
    __builtin_memcpy(&bits, &value, 8);
    bits = exchange(bits);
    __builtin_memcpy(&value, &bits, 8);
  } else {
    u32 bits = 0;
    __builtin_memcpy(&bits, &value, sizeof(T));
    bits = exchange(bits);
    __builtin_memcpy(&value, &bits, sizeof(T));
  }
  return value;
}
constexpr unsigned whole_warp = 0xffffffffu;
// The value that the thread `offset` away (by exclusive or) in the warp has.
template <class T>
ACCEL_DEVICE T value_across(T value, int offset, unsigned threads = whole_warp) {
  return exchange_bits(value, [=](auto bits) { return __shfl_xor_sync(threads, bits, offset); });
}
// The value that the first thread of the warp has.
template <class T>
ACCEL_DEVICE T value_of_first(T value) {
  return exchange_bits(value, [](auto bits) { return __shfl_sync(whole_warp, bits, 0); });
}

template <int threads>
struct Group {
  static constexpr int size = threads;
  int lane;  // number of this thread in the group

  // Waits until all threads are here, and shows them what each has stored.
  ACCEL_METHOD void sync() const {
    if constexpr (threads == 32)
      __syncwarp();
    else
      __syncthreads();
  }
};
// A thread by itself.
template <>
struct Group<1> {
  static constexpr int size = 1;
  static constexpr int lane = 0;

  ACCEL_METHOD void sync() const {}
};
typedef Group<1> Alone;
// Eight threads for each of 32 neighbouring items: a block has the items side by side, one for each thread of a warp.
template <>
struct Group<8> {
  static constexpr int size = 8;
  int lane;

  ACCEL_METHOD void sync() const { __syncthreads(); }
};
constexpr int items_side_by_side = 32;

template <int threads>
ACCEL_DEVICE Group<threads> this_group() {
  if constexpr (threads == 1)
    return {};
  else if constexpr (threads == 8)
    return {(int)(threadIdx.x / items_side_by_side)};
  else
    return {(int)(threadIdx.x % threads)};
}
// Number of the group in the grid.
template <int threads>
ACCEL_DEVICE i64 group_number() {
  if constexpr (threads == 8)
    return (i64)blockIdx.x * items_side_by_side + threadIdx.x % items_side_by_side;
  else
    return (i64)blockIdx.x * (blockDim.x / threads) + threadIdx.x / threads;
}

// A block's first threads' values, one of each warp, combined in pairs of neighbours, then these, and so on.
template <class G, class T, class Combine>
ACCEL_DEVICE T combine_warps(G group, T value, int warps, Combine combine) {
  constexpr int most = G::size / 32;
  __shared__ alignas(16) unsigned char memory[most * sizeof(T)];
  T* const slots = (T*)memory;
  group.sync();
  if (group.lane % 32 == 0) slots[group.lane / 32] = value;
  group.sync();
  T all[most];
#pragma unroll
  for (int k = 0; k < most; ++k) all[k] = slots[k < warps ? k : 0];
#pragma unroll
  for (int width = 1; width < most; width *= 2) {
#pragma unroll
    for (int k = 0; k + width < most; k += 2 * width)
      if (width < warps) all[k] = combine(all[k], all[k + width]);
  }
  return all[0];
}

// The values of lanes 0, step, 2 * step ..., `count` of them, combined in pairs of neighbours, then these, and so on. count and
// step are powers of two. Every thread of the group gets the result.
template <int step, class G, class T, class Combine>
ACCEL_DEVICE T combine_lanes(G group, T value, int count, Combine combine) {
  constexpr int in_warp = 32 / step;
  for (int width = 1; width < count && width < in_warp; width *= 2) value = combine(value, value_across(value, width * step));
  if constexpr (G::size == 32)
    return value_of_first(value);
  else
    return combine_warps(group, value, count > in_warp ? count / in_warp : 1, combine);
}

// The first of n elements that part `part` of `parts` has.
ACCEL_DEVICE i64 part_begin(i64 n, i64 part, i64 parts) { return n / parts * part + index_min(part, n % parts); }
