// Kernels that are wrong on purpose: the emulated driver says how.
extern "C" __global__ void bug_out(double* a, int n) { a[n] = 1; }
extern "C" __global__ void bug_slack(char* a, int n) { a[n] = 1; }
extern "C" __global__ void bug_barrier(int* a) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  a[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void bug_race(int* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i % 7] = i;
}
extern "C" __global__ void bug_lost(int* a) { *a += 1; }
extern "C" __global__ void bug_hang(int* a) {
  if (threadIdx.x < 16) a[0] = __shfl_sync(~0u, a[1], 0);
}
extern "C" __global__ void bug_cast(const double* x, int* a) { a[0] = (int)x[0]; }
extern "C" __global__ void bug_align(const char* x, double* a) { a[0] = *(const double*)(x + 4); }
extern "C" __global__ void bug_shared(int* a, int at) {
  __shared__ int s[8];
  s[at] = 1;
  a[0] = s[at];
}
extern "C" __global__ void bug_stale(int* a) {
  __shared__ int s[32];
  a[threadIdx.x] = s[threadIdx.x];
}
