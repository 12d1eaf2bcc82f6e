// Counts of the elements of an array by value (bins), and sums of the weights that belong to them. Elements are valid bins.
constexpr int count_threads = 256, count_warps = count_threads / 32;

// The least and the largest element that a block sees.
ACCEL_DEVICE void find_limits(const char* x, i64 step, i64 n, i64* limits) {
  __shared__ i64 least[count_threads], most[count_threads];
  const int own = (int)threadIdx.x;
  least[own] = most[own] = load_i64(x);
  for (i64 k = (i64)blockIdx.x * count_threads + own; k < n; k += (i64)gridDim.x * count_threads) {
    const i64 element = load_i64(x + k * step);
    least[own] = index_min(least[own], element);
    most[own] = index_max(most[own], element);
  }
  for (int half = count_threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (own >= half) continue;
    least[own] = index_min(least[own], least[own + half]);
    most[own] = index_max(most[own], most[own + half]);
  }
  if (own > 0) return;
  limits[2 * blockIdx.x] = least[0];
  limits[2 * blockIdx.x + 1] = most[0];
}

// Zeros: counts, and sums as well.
ACCEL_DEVICE void clear_bins(i64* bins, i64 count) {
  const i64 k = (i64)blockIdx.x * count_threads + threadIdx.x;
  if (k < count) bins[k] = 0;
}

// Counts the elements of a block, then adds its counts to those of all.
ACCEL_DEVICE void count_in_block(u32* counts, const char* x, i64 step, i64 n, i64 bins, i64* to) {
  for (i64 bin = threadIdx.x; bin < bins; bin += count_threads) counts[bin] = 0;
  __syncthreads();
  for (i64 k = (i64)blockIdx.x * count_threads + threadIdx.x; k < n; k += (i64)gridDim.x * count_threads)
    atomicAdd(&counts[load_i64(x + k * step)], 1u);
  __syncthreads();
  for (i64 bin = threadIdx.x; bin < bins; bin += count_threads)
    if (counts[bin] > 0) atomicAdd((unsigned long long*)&to[bin], (unsigned long long)counts[bin]);
}
ACCEL_DEVICE void count_in_memory(const char* x, i64 step, i64 n, i64* to) {
  for (i64 k = (i64)blockIdx.x * count_threads + threadIdx.x; k < n; k += (i64)gridDim.x * count_threads)
    atomicAdd((unsigned long long*)&to[load_i64(x + k * step)], 1ull);
}

// Adds the weights of the warp's elements to its sums: those of a bin by the thread that has its first element.
ACCEL_DEVICE void add_weights(const i64* bins, const f64* weights, f64* sums) {
  const int lane = (int)threadIdx.x % 32;
  const i64 own = bins[lane];
  bool is_first = own >= 0;
  f64 sum = 0;
  for (int other = 0; other < 32; ++other) {
    if (bins[other] != own) continue;
    is_first = is_first && other >= lane;
    sum += weights[other];
  }
  if (is_first) sums[own] += sum;
}
// The sums of the block's part of the elements, warp by warp at first.
ACCEL_DEVICE void sum_in_block(f64* sums, const char* x, i64 step, i64 n, const char* weights, i64 weights_step, i64 part,
                               i64 bins, f64* to) {
  __shared__ i64 bins_of[count_warps][32];
  __shared__ f64 weights_of[count_warps][32];
  const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
  for (i64 k = threadIdx.x; k < bins * count_warps; k += count_threads) sums[k] = 0;
  __syncthreads();
  const i64 begin = blockIdx.x * part, end = index_min(begin + part, n);
  for (i64 first = begin + warp * 32; first < end; first += count_threads) {
    const i64 k = first + lane;
    bins_of[warp][lane] = k < end ? load_i64(x + k * step) : -1;
    weights_of[warp][lane] = k < end ? load_f64(weights + k * weights_step) : 0;
    __syncwarp();
    add_weights(bins_of[warp], weights_of[warp], sums + warp * bins);
    __syncwarp();
  }
  __syncthreads();
  for (i64 bin = threadIdx.x; bin < bins; bin += count_threads) {
    f64 sum = 0;
    for (int k = 0; k < count_warps; ++k) sum += sums[k * bins + bin];
    to[blockIdx.x * bins + bin] = sum;
  }
}
ACCEL_DEVICE void add_blocks(const f64* sums, i64 blocks, i64 bins, f64* to) {
  const i64 bin = (i64)blockIdx.x * count_threads + threadIdx.x;
  if (bin >= bins) return;
  f64 sum = 0;
  for (i64 k = 0; k < blocks; ++k) sum += sums[k * bins + bin];
  to[bin] = sum;
}

// The number of sorted elements less than a bin.
ACCEL_DEVICE i64 count_before(const i64* keys, i64 n, i64 bin) {
  i64 low = 0, high = n;
  while (low < high) {
    const i64 middle = (low + high) / 2;
    if (keys[middle] < bin)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}
// The sum of the weights of a bin, which the block's threads share. `positions`: of the sorted elements in their array.
ACCEL_DEVICE void sum_sorted(const i64* keys, const i64* positions, i64 n, const char* weights, i64 weights_step, f64* to) {
  __shared__ f64 sums[count_threads];
  const i64 begin = count_before(keys, n, blockIdx.x), end = count_before(keys, n, (i64)blockIdx.x + 1);
  f64 sum = 0;
  for (i64 k = begin + threadIdx.x; k < end; k += blockDim.x) sum += load_f64(weights + positions[k] * weights_step);
  sums[threadIdx.x] = sum;
  for (int half = (int)blockDim.x / 2; half > 0; half /= 2) {
    __syncthreads();
    if ((int)threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) to[blockIdx.x] = sums[0];
}
