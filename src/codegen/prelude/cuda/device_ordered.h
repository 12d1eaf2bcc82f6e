// Items that store in order: addresses are hashed to slots; items are sorted by the numbers of their slots.
struct Slot {
  u64 address;  // 0: unused
  u64 last;     // the number of the last item that stores there, plus one
};
ACCEL_DEVICE void clear_slot(const Ordered& ordered) {
  const i64 number = group_number<1>();
  if (number >= ordered.capacity) return;
  if (ordered.is_dense)
    ((u32*)ordered.slots)[number] = 0;
  else
    ((Slot*)ordered.slots)[number] = {0, 0};
}
ACCEL_DEVICE u64 claim_dense_slot(const Ordered& ordered, i64 item, const char* address) {
  const u64 number = (u64)(address - ordered.low) >> ordered.unit_bits;
  atomicMax((u32*)ordered.slots + number, (u32)item + 1);
  return number;
}
// By linear probing from the hash of the address (Fibonacci hashing: Knuth, The Art of Computer Programming 6.4).
ACCEL_DEVICE u64 claim_hashed_slot(const Ordered& ordered, i64 item, const char* address) {
  Slot* const slots = (Slot*)ordered.slots;
  const u64 own = (u64)address, mask = (u64)ordered.capacity - 1;
  u64 number = own * 0x9e3779b97f4a7c15ull >> 20 & mask;
  while (true) {
    u64 seen = *(volatile u64*)&slots[number].address;
    if (seen == 0) seen = atomicCAS((unsigned long long*)&slots[number].address, 0ull, (unsigned long long)own);
    if (seen == 0 || seen == own) break;
    number = (number + 1) & mask;
  }
  if (*(volatile u64*)&slots[number].last < (u64)item + 1)
    atomicMax((unsigned long long*)&slots[number].last, (unsigned long long)item + 1);
  return number;
}
ACCEL_DEVICE void claim_slot(const Ordered& ordered, i64 item, const char* address) {
  ordered.keys[item] =
      (u32)(ordered.is_dense ? claim_dense_slot(ordered, item, address) : claim_hashed_slot(ordered, item, address));
}
ACCEL_DEVICE bool is_last_of_slot(const Ordered& ordered, i64 item) {
  const u32 number = ordered.keys[item];
  if (ordered.is_dense) return ((const u32*)ordered.slots)[number] == (u32)item + 1;
  return ((const Slot*)ordered.slots)[number].last == (u64)item + 1;
}

// One pass of a stable radix sort: digits are counted by tile, the counts of earlier ones are added up, and items are stored
// where these say. Blocks have a thread for each digit, and each warp has a part of the block's tile.
constexpr int warps_of_block = digits / 32;
constexpr i64 items_of_warp = items_of_tile / warps_of_block;

ACCEL_DEVICE int digit_of(const Ordered& ordered, i64 k) { return (int)(ordered.keys[k] >> ordered.shift & (digits - 1)); }

// The threads of the warp whose item has the same digit.
ACCEL_DEVICE unsigned same_digit(int digit, bool is_item) {
  unsigned same = __ballot_sync(whole_warp, is_item);
#pragma unroll
  for (int bit = 0; bit < digit_bits; ++bit) {
    const unsigned with_bit = __ballot_sync(whole_warp, digit >> bit & 1);
    same &= (digit >> bit & 1) != 0 ? with_bit : ~with_bit;
  }
  return same;
}
// Calls step(k, digit, same): for each item of this warp's part of the tile, in order, by a thread of its own.
template <class Step>
ACCEL_DEVICE void for_items_of_warp(const Ordered& ordered, i64 items, Step step) {
  const i64 begin = blockIdx.x * items_of_tile + threadIdx.x / 32 * items_of_warp;
  for (i64 first = begin; first < begin + items_of_warp; first += 32) {
    const i64 k = first + threadIdx.x % 32;
    const bool is_item = k < items;
    const int digit = is_item ? digit_of(ordered, k) : 0;
    step(k, is_item, digit, same_digit(digit, is_item));
  }
}
ACCEL_DEVICE void count_digits(const Ordered& ordered, i64 items) {
  __shared__ int counts[digits];
  counts[threadIdx.x] = 0;
  __syncthreads();
  const i64 begin = blockIdx.x * items_of_tile, end = index_min(begin + items_of_tile, items);
  for (i64 k = begin + threadIdx.x; k < end; k += digits) atomicAdd(&counts[digit_of(ordered, k)], 1);
  __syncthreads();
  ordered.counts[threadIdx.x * tiles_of(items) + blockIdx.x] = counts[threadIdx.x];
}
ACCEL_DEVICE void add_up_digits(const Ordered& ordered, i64 items) {
  add_up_earlier(this_group<digits>(), ordered.counts, tiles_of(items) * digits);
}
ACCEL_DEVICE void scatter_items(const Ordered& ordered, i64 items) {
  __shared__ i64 next[warps_of_block][digits];  // where the next item of a warp with a digit goes
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int k = 0; k < warps_of_block; ++k) next[k][threadIdx.x] = 0;
  __syncthreads();
  auto is_first = [=](unsigned same) { return (same & ((1u << lane) - 1)) == 0; };
  for_items_of_warp(ordered, items, [&](i64, bool is_item, int digit, unsigned same) {
    if (is_item && is_first(same)) next[warp][digit] += __popc(same);
    __syncwarp();
  });
  __syncthreads();
  i64 sum = ordered.counts[threadIdx.x * tiles_of(items) + blockIdx.x];
  for (int k = 0; k < warps_of_block; ++k) {
    const i64 own = next[k][threadIdx.x];
    next[k][threadIdx.x] = sum;
    sum += own;
  }
  __syncthreads();
  for_items_of_warp(ordered, items, [&](i64 k, bool is_item, int digit, unsigned same) {
    const i64 to = next[warp][digit] + __popc(same & ((1u << lane) - 1));
    __syncwarp();
    if (is_item && is_first(same)) next[warp][digit] += __popc(same);
    __syncwarp();
    if (!is_item) return;
    ordered.sorted_keys[to] = ordered.keys[k];
    ordered.sorted_order[to] = ordered.shift == 0 ? (unsigned)k : ordered.order[k];
  });
}
// Calls run(item) for the items of one slot, in order: those of which this thread has the first.
template <class Run>
ACCEL_DEVICE void run_slot(const Ordered& ordered, i64 items, Run run) {
  const i64 begin = group_number<1>();
  if (begin >= items || (begin > 0 && ordered.keys[begin - 1] == ordered.keys[begin])) return;
  for (i64 k = begin; k < items && ordered.keys[k] == ordered.keys[begin]; ++k) run((i64)ordered.order[k]);
}
