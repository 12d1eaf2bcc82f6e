// Hand-written kernels: what a device can do. Compiled with accel's options, so that each operation is rounded by itself.

typedef long long Index;
struct alignas(16) Two {
  double a, b;
};
struct alignas(16) TwoIndices {
  Index a, b;
};

#define EVERYONE 0xffffffffu

static __device__ inline Index thread_index() { return blockIdx.x * (Index)blockDim.x + threadIdx.x; }

extern "C" __global__ void empty() {}

// Each thread moves four packs that are a block apart.
extern "C" __global__ void copy_packs(const Two* from, Two* to, Index packs) {
  const Index first = blockIdx.x * (Index)blockDim.x * 4 + threadIdx.x;
  Two values[4];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (first + i * blockDim.x < packs) values[i] = from[first + i * blockDim.x];
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (first + i * blockDim.x < packs) to[first + i * blockDim.x] = values[i];
}

// The store, which no data of ours reaches, makes the loads necessary.
extern "C" __global__ void read_packs(const Two* from, double* never, Index packs) {
  const Index first = blockIdx.x * (Index)blockDim.x * 8 + threadIdx.x;
  Two values[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) values[i] = first + i * blockDim.x < packs ? from[first + i * blockDim.x] : Two{0, 0};
  double total = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) total += values[i].a + values[i].b;
  if (total == 1.2345e300) *never = total;
}

extern "C" __global__ void scaled(const double* a, const double* b, double* result, int count) {
  if (threadIdx.x < count) result[threadIdx.x] = a[threadIdx.x] * 2.0 + b[threadIdx.x];
}

// ---- k-means: two centres in two dimensions, two points a thread

static __device__ inline double distance(Two point, double x, double y) {
  const double dx = point.a - x, dy = point.b - y;
  return sqrt(dx * dx + dy * dy);
}

extern "C" __global__ void nearest_of_two(const Two* points, const double* centres, TwoIndices* result, Index pairs) {
  const Index i = thread_index();
  if (i >= pairs) return;
  const Two first = points[2 * i], second = points[2 * i + 1];
  const double x0 = centres[0], y0 = centres[1], x1 = centres[2], y1 = centres[3];
  TwoIndices nearest;
  nearest.a = distance(first, x1, y1) < distance(first, x0, y0);
  nearest.b = distance(second, x1, y1) < distance(second, x0, y0);
  result[i] = nearest;
}

// ---- Black-Scholes: two options a thread

// Abramowitz and Stegun 7.1.26.
static __device__ inline double error_function(double x) {
  const double a = fabs(x), t = 1.0 / (1.0 + 0.3275911 * a);
  const double sum = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
  const double y = 1.0 - sum * exp(-a * a);
  return x < 0 ? -y : y;
}

static __device__ inline double normal(double d) { return 0.5 * (1.0 + error_function(d / 1.4142135623730951)); }

static __device__ inline Two price_option(double price, double strike, double years, double rate, double volatility) {
  const double root = volatility * sqrt(years);
  const double d1 = (log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / root;
  const double discounted = strike * exp(-rate * years);
  const double call = price * normal(d1) - discounted * normal(d1 - root);
  return Two{call, call - price + discounted};
}

extern "C" __global__ void black_scholes(const Two* price, const Two* strike, const Two* years, double rate, double volatility,
                                         Two* call, Two* put, Index pairs) {
  const Index i = thread_index();
  if (i >= pairs) return;
  const Two p = price[i], s = strike[i], y = years[i];
  const Two first = price_option(p.a, s.a, y.a, rate, volatility), second = price_option(p.b, s.b, y.b, rate, volatility);
  call[i] = Two{first.a, second.a};
  put[i] = Two{first.b, second.b};
}

// ---- The pairwise sum of NumPy's. A span is halved at a multiple of 8 until it has at most 128 elements: a leaf. A path of
// bits leads to a leaf. Where a leaf lies above the end of the path, the paths that go on to the right of it hold -0.0, which
// no sum notices.

template <class I>
struct Span {
  I first, count;
  bool is_there;
};

template <class I>
static __device__ inline Span<I> follow(Span<I> span, unsigned path, int bits) {
  for (int bit = bits - 1; bit >= 0; --bit) {
    const bool goes_right = path >> bit & 1;
    if (span.count <= 128) {
      if (goes_right) span.is_there = false;
      continue;
    }
    const I left = span.count >> 4 << 3;
    if (goes_right) span.first += left;
    span.count = goes_right ? span.count - left : left;
  }
  return span;
}

// Sums of neighbours, of neighbours of those, ...: a tree over a power of two values in shared memory.
static __device__ inline void sum_tree(double* values, int count) {
  for (int apart = 1; apart < count; apart *= 2) {
    __syncthreads();
    for (int i = threadIdx.x * 2 * apart; i + apart < count; i += blockDim.x * 2 * apart) values[i] += values[i + apart];
  }
  __syncthreads();
}

// Each block sums the 256 leaves below one node, eight threads a leaf: thread j has elements j, j + 8, ...
extern "C" __global__ void sum_leaves(const double* x, double* partials, Index count, int block_bits, int leaf_bits) {
  __shared__ double sums[256];
  const int leaves = 1 << leaf_bits, lane = threadIdx.x & 7;
  const Span<Index> node = follow(Span<Index>{0, count, true}, blockIdx.x, block_bits);
  const unsigned elements = node.is_there ? (unsigned)node.count : 0;
  const double* below = x + node.first;
  for (int leaf = threadIdx.x >> 3; leaf < (leaves + 31) / 32 * 32; leaf += blockDim.x >> 3) {
    Span<unsigned> span = follow(Span<unsigned>{0, elements, true}, leaf, leaf_bits);
    if (leaf >= leaves || !span.is_there) span.count = 0;
    const double* first = below + span.first;
    const unsigned rows = span.count / 8;
    double values[16];
#pragma unroll
    for (int row = 0; row < 16; ++row) values[row] = row < rows ? first[row * 8 + lane] : -0.0;
    double sum = values[0];
#pragma unroll
    for (int row = 1; row < 16; ++row) sum += values[row];
    sum += __shfl_xor_sync(EVERYONE, sum, 1);
    sum += __shfl_xor_sync(EVERYONE, sum, 2);
    sum += __shfl_xor_sync(EVERYONE, sum, 4);
    for (unsigned rest = rows * 8; rest < span.count; ++rest) sum += first[rest];
    if (lane == 0 && leaf < leaves) sums[leaf] = sum;
  }
  sum_tree(sums, leaves);
  if (threadIdx.x == 0) partials[blockIdx.x] = sums[0];
}

// One block. Threads sum neighbouring partials in registers, at most 16, where there are more than threads.
extern "C" __global__ void sum_partials(const double* partials, double* result, int count) {
  __shared__ double sums[1024];
  const int each = count > 1024 ? count / 1024 : 1;
  if (threadIdx.x * each < count) {
    double values[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) values[i] = i < each ? partials[threadIdx.x * each + i] : -0.0;
#pragma unroll
    for (int apart = 1; apart < 16; apart *= 2)
#pragma unroll
      for (int i = 0; i < 16; i += 2 * apart) values[i] += values[i + apart];
    sums[threadIdx.x] = values[0];
  }
  sum_tree(sums, count > 1024 ? 1024 : count);
  if (threadIdx.x == 0) *result = sums[0];
}

// ---- softmax of rows of float32

// Of the block's values; all threads get it.
template <class F>
static __device__ inline float combine_block(float value, F combine, float* shared) {
  for (int apart = 16; apart; apart /= 2) value = combine(value, __shfl_xor_sync(EVERYONE, value, apart));
  if ((threadIdx.x & 31) == 0) shared[threadIdx.x >> 5] = value;
  __syncthreads();
  value = shared[0];
  for (int warp = 1; warp < blockDim.x >> 5; ++warp) value = combine(value, shared[warp]);
  __syncthreads();
  return value;
}

static __device__ inline float greater(float a, float b) { return a > b ? a : b; }
static __device__ inline float total(float a, float b) { return a + b; }

#define LEAST __int_as_float(0xff800000)  // -infinity

// A block of 256 threads a row, of at most 4,096 elements: 16 in the registers of each thread.
extern "C" __global__ void softmax_rows(const float* x, float* result, int columns) {
  __shared__ float shared[8];
  const float* row = x + blockIdx.x * (Index)columns;
  float values[16], most = LEAST, sum = 0;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const int column = threadIdx.x + i * 256;
    values[i] = column < columns ? row[column] : LEAST;
    most = greater(most, values[i]);
  }
  most = combine_block(most, greater, shared);
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    values[i] = expf(values[i] - most);
    sum += values[i];
  }
  sum = combine_block(sum, total, shared);
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const int column = threadIdx.x + i * 256;
    if (column < columns) result[blockIdx.x * (Index)columns + column] = values[i] / sum;
  }
}

// softmax(x @ y) of small matrices in one kernel: a block of 128 threads a row, a thread a column.
extern "C" __global__ void softmax_product(const float* x, const float* y, float* result, int inner, int columns) {
  __shared__ float shared[4];
  const int column = threadIdx.x;
  const float* row = x + blockIdx.x * inner;
  float value = 0;
  if (column < columns) {
#pragma unroll 4
    for (int k = 0; k < inner; ++k) value += row[k] * y[k * columns + column];
  } else {
    value = LEAST;
  }
  const float most = combine_block(value, greater, shared);
  value = expf(value - most);
  const float sum = combine_block(value, total, shared);
  if (column < columns) result[blockIdx.x * columns + column] = value / sum;
}
