// One launch of the kernel as its functions see it.
struct Frame {
  const AccelRuntime* runtime;
  const AccelImport* imports;
  const i64* symbols;
  char** buffers;
  int status;
  i64* capacities;  // bytes of each buffer's memory
  i64 serial_work;
  // Kernels with control flow:
  const AccelLaunch* launch;
  int exit;
  struct Panel* panels;  // prelude part "dot"
  AccelPoll poll;
  unsigned char* event_rows;  // prelude part "record"
  i64 sliced;                 // when the last slice of a loop has begun
  bool has_asked;             // whether the run is interrupted, and cannot hand its state over there
};

ACCEL_INLINE void report(Frame* frame, int status) {
  if (status != 0) __atomic_fetch_or(&frame->status, status, __ATOMIC_RELAXED);
}
ACCEL_INLINE bool stopped(const Frame* frame) {
  return (frame->status & (accel_error | accel_no_memory | accel_interrupted)) != 0;
}
ACCEL_INLINE char* take_memory(Frame* frame, i64 bytes) {
  char* memory = (char*)frame->runtime->allocate(index_max(bytes, 1));
  if (memory == nullptr) report(frame, accel_no_memory);
  return memory;
}
// Memory of a temp, released by drop_temp or at the end of the launch.
static bool take_temp(Frame* frame, int buffer, i64 bytes) {
  frame->buffers[buffer] = take_memory(frame, bytes);
  return frame->buffers[buffer] != nullptr;
}
static void drop_temp(Frame* frame, int buffer) {
  if (frame->buffers[buffer] != nullptr) frame->runtime->release(frame->buffers[buffer]);
  frame->buffers[buffer] = nullptr;
}
// Scratch of the calling thread, which lives until the end of the launch.
static char* allocate_scratch(Frame* frame, int buffer, i64 bytes) {
  if (frame->buffers[buffer] != nullptr && frame->capacities[buffer] >= bytes) return frame->buffers[buffer];
  drop_temp(frame, buffer);
  frame->capacities[buffer] = bytes;
  take_temp(frame, buffer, bytes);
  return frame->buffers[buffer];
}
ACCEL_INLINE i64 serial_work_of(const AccelRuntime* runtime) {
  return runtime->serial_work != nullptr ? runtime->serial_work() : 0;
}
// Runs a region over [0, n). `events` are those of the whole nest: the caller's flags so far are added to `status` and are
// clear afterwards. A nest without events does not read the flags, which may be left from earlier code.
static void run_parallel(Frame* frame, int* status, int events, AccelRegion region, void* arguments, i64 n, i64 grain,
                         i64 work) {
  if (events != 0) *status |= fp_read() & events;
  if (n > 0 && frame->runtime->parallel_for(region, arguments, n, grain, work) != 0) report(frame, accel_interrupted);
  if (events != 0) fp_clear();
}
// Poll of loops within a nest, on any thread: whether the run, which can only fail, is interrupted.
static __attribute__((noinline, cold)) bool interrupted(Frame* frame) {
  AccelPoll state = {};
  if (frame->runtime->poll == nullptr || frame->runtime->poll(0, &state) == 0) return false;
  report(frame, accel_interrupted);
  return true;
}
static void run_loop(Frame* frame, int import, char* const* args, const iptr* dims, const iptr* strides) {
  const AccelImport* entry = frame->imports + import;
  if (dims[0] > 0 && entry->loop(entry->context, args, dims, strides, entry->auxdata) != 0) report(frame, accel_error);
}
// Calls a loop of NumPy's. It may clear the flags, so they are saved in `status` first; what the loop raises stays in the
// flags.
static void call_loop(Frame* frame, int* status, int import, char* const* args, const iptr* dims, const iptr* strides) {
  *status |= fp_read();
  run_loop(frame, import, args, dims, strides);
}
// Calls a loop of linear algebra, which reports that there is no solution by the invalid flag and leaves no other flag.
static void call_solver(Frame* frame, int* status, int import, char* const* args, const iptr* dims, const iptr* strides) {
  *status |= fp_read();
  fp_clear();
  run_loop(frame, import, args, dims, strides);
  if (fp_read() == 0) return;
  report(frame, accel_error);
  fp_clear();
}
