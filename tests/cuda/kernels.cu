// Kernels that use what CUDA text of accel uses, in ways that go wrong when the emulated driver does.
typedef long i64;
struct half_t {
  unsigned short bits;
};
__device__ inline float widen(half_t h) {
  _Float16 v;
  __builtin_memcpy(&v, &h.bits, 2);
  return v;
}
__device__ inline half_t narrow(float f) {
  half_t h;
  _Float16 v = f;
  __builtin_memcpy(&h.bits, &v, 2);
  return h;
}
__device__ inline double block_fold(double v, bool sum) {
  __shared__ double part[32];
  auto f = [=](double a, double b) { return sum ? a + b : fmax(a, b); };
  for (int d = 16; d; d >>= 1) v = f(v, __shfl_xor_sync(~0u, v, d));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
  __syncthreads();
  v = part[0];
  for (unsigned w = 1; w < blockDim.x / 32; ++w) v = f(v, part[w]);
  __syncthreads();
  return v;
}
extern "C" __global__ void softmax(const double* x, double* out, int columns) {
  extern __shared__ alignas(16) unsigned char dynamic_shared[];
  double* row = (double*)dynamic_shared;
  i64 at = (i64)blockIdx.x * columns;
  double top = -1.0 / 0.0, sum = 0;
  for (int j = threadIdx.x; j < columns; j += blockDim.x) top = fmax(top, row[j] = x[at + j]);
  top = block_fold(top, false);
  for (int j = threadIdx.x; j < columns; j += blockDim.x) sum += row[j] = exp(row[j] - top);
  sum = block_fold(sum, true);
  for (int j = threadIdx.x; j < columns; j += blockDim.x) out[at + j] = row[j] / sum;
}
__device__ inline double leaf(const double* a, i64 n, int lane) {  // eight lanes = NumPy's eight accumulators
  if (n < 8) {
    double s = -0.0;
    for (i64 i = 0; i < n; ++i) s += a[i];
    return s;
  }
  double r = a[lane];
  i64 i = 8;
  for (; i < n - n % 8; i += 8) r += a[i + lane];
  for (int d = 1; d < 8; d *= 2) r += __shfl_xor_sync(0xffu << (threadIdx.x & 24), r, d, 8);
  for (; i < n; ++i) r += a[i];
  return r;
}
extern "C" __global__ void pairwise_leaves(const double* a, double* parts, i64 n, int depth) {
  int node = (blockIdx.x * blockDim.x + threadIdx.x) / 8, lane = threadIdx.x % 8;
  if (node >= 1 << depth) return;
  for (int bit = depth - 1; bit >= 0; --bit) {
    i64 left = n / 2 - n / 2 % 8;
    if (node >> bit & 1) {
      a += left;
      n -= left;
    } else
      n = left;
  }
  double s;
  if (n <= 128)
    s = leaf(a, n, lane);
  else {
    i64 left = n / 2 - n / 2 % 8;
    double l = leaf(a, left, lane);
    s = l + leaf(a + left, n - left, lane);
  }
  if (lane == 0) parts[node] = s;
}
extern "C" __global__ void pairwise_tree(double* parts, double* spare, double* out, int count) {
  while (count > 1) {
    count /= 2;
    for (int i = threadIdx.x; i < count; i += blockDim.x) spare[i] = parts[2 * i] + parts[2 * i + 1];
    __syncthreads();
    double* t = parts;
    parts = spare;
    spare = t;
  }
  if (threadIdx.x == 0) *out = 0.0 + parts[0];
}
extern "C" __global__ void select_count(const double* x, int n, int* counts) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned vote = __ballot_sync(~0u, i < n && x[i] > 0);
  if (threadIdx.x % 32 == 0) atomicAdd(&total, __popc(vote));
  __syncthreads();
  if (threadIdx.x == 0) counts[blockIdx.x] = total;
}
extern "C" __global__ void select_scan(int* counts, int blocks) {  // exclusive, in place; counts[blocks] = total
  __shared__ int s[1024];
  __shared__ int carry;
  if (threadIdx.x == 0) carry = 0;
  for (int base = 0; base < blocks; base += blockDim.x) {
    int i = base + threadIdx.x, own = i < blocks ? counts[i] : 0;
    s[threadIdx.x] = own;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
      int add = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
      __syncthreads();
      s[threadIdx.x] += add;
      __syncthreads();
    }
    if (i < blocks) counts[i] = carry + s[threadIdx.x] - own;
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) carry += s[threadIdx.x];
    __syncthreads();
  }
  if (threadIdx.x == 0) counts[blocks] = carry;
}
extern "C" __global__ void select_write(const double* x, int n, const int* offsets, double* out) {
  __shared__ int before[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  bool keep = i < n && x[i] > 0;
  unsigned vote = __ballot_sync(~0u, keep);
  if (lane == 0) before[warp] = __popc(vote);
  __syncthreads();
  int at = offsets[blockIdx.x] + __popc(vote & ((1u << lane) - 1));
  for (int w = 0; w < warp; ++w) at += before[w];
  if (keep) out[at] = x[i];
}
extern "C" __global__ void mandelbrot(int* out, int w, int h, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= w || j >= h) return;
  double cr = -2.0 + i * (3.0 / w), ci = -1.0 + j * (2.0 / h), zr = 0, zi = 0;
  int k = 0;
again:
  if (k < rounds && zr * zr + zi * zi <= 4.0) {
    double t = zr * zr - zi * zi + cr;
    zi = 2 * zr * zi + ci;
    zr = t;
    ++k;
    goto again;
  }
  out[j * w + i] = k;
}
extern "C" __global__ void gather_check(const i64* index, int n, i64 size, unsigned* word, int sequence) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (*word) return;
  if (i < n && (index[i] < -size || index[i] >= size)) atomicCAS(word, 0u, (unsigned)sequence);
}
extern "C" __global__ void gather(const double* x, const i64* index, double* out, int n, i64 size, const unsigned* word) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n || *word) return;
  i64 j = index[i] < 0 ? index[i] + size : index[i];
  j = j < 0 ? 0 : j >= size ? size - 1 : j;
  out[i] = 2 * x[j];
}
extern "C" __global__ void scatter_claim(const i64* index, i64* winner, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicMax(&winner[index[i]], (i64)i);
}
extern "C" __global__ void scatter_store(const i64* index, const i64* winner, const double* v, double* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && winner[index[i]] == i) a[index[i]] = v[i];
}
extern "C" __global__ void misc(const double* x, half_t* h, int* rz, double* f, unsigned* flags, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int own = i < n;
  unsigned count = __reduce_add_sync(~0u, (unsigned)own);
  if (threadIdx.x % 32 == 0) atomicAdd(&flags[0], count);
  if (!own) return;
  auto twice = [=](float v) { return narrow(2 * v); };
  h[i] = twice(widen(narrow((float)x[i])));
  rz[i] = __double2int_rz(x[i]);
  f[i] = fma(x[i], x[i], rsqrt(4.0));
  atomicMax(&flags[1], (unsigned)i);
  atomicMax((int*)&flags[2], -i);
}
