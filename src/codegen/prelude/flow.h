// Kernels with control flow: memory that is kept and exchanged, results of any exit, and putting back what a failed run wrote.

// Whether this run is not to be finished.
ACCEL_INLINE bool failed(const Frame* frame) { return (frame->status & ~frame->launch->accepted) != 0; }

// Reports at an exit; whether the run has failed.
static __attribute__((noinline)) bool must_stop(Frame* frame, int status) {
  report(frame, status);
  return failed(frame);
}

// Asked by loops now and then: whether the run is to be interrupted.
static __attribute__((noinline, cold)) bool interrupted(Frame* frame, int* turns) {
  *turns = 256;
  if (frame->runtime->poll == nullptr || frame->runtime->poll() == 0) return false;
  report(frame, accel_interrupted);
  return true;
}

// Gives a buffer memory for `bytes`. What it held is lost when it has to grow.
ACCEL_INLINE bool hold(Frame* frame, int buffer, i64 bytes) {
  if (__builtin_expect(frame->capacities[buffer] >= bytes && frame->buffers[buffer] != nullptr, 1)) return true;
  return hold_scratch(frame, buffer, bytes) != nullptr;
}
static void exchange(Frame* frame, int a, int b) {
  char* const memory = frame->buffers[a];
  frame->buffers[a] = frame->buffers[b];
  frame->buffers[b] = memory;
  const i64 bytes = frame->capacities[a];
  frame->capacities[a] = frame->capacities[b];
  frame->capacities[b] = bytes;
}
// Memory of a result: the caller's, or made by it now.
static char* result_memory(Frame* frame, int output, const i64* dims) {
  const AccelLaunch* launch = frame->launch;
  char* memory = (char*)launch->outputs[output];
  if (memory == nullptr && launch->runtime->allocate_output != nullptr)
    memory = (char*)launch->runtime->allocate_output(launch->context, output, dims);
  if (memory == nullptr) report(frame, accel_no_memory);
  return memory;
}
static bool hold_result(Frame* frame, int buffer, int output, const i64* dims) {
  frame->buffers[buffer] = result_memory(frame, output, dims);
  return frame->buffers[buffer] != nullptr;
}
static __attribute__((noinline)) bool give_value(Frame* frame, int output, const char* value, int bytes) {
  const i64 dims[] = {0};
  char* memory = result_memory(frame, output, dims);
  if (memory == nullptr) return false;
  for (int k = 0; k < bytes; ++k) memory[k] = value[k];
  return true;
}
template <class T>
ACCEL_INLINE bool give_scalar(Frame* frame, int output, T value) {
  return give_value(frame, output, (const char*)&value, sizeof value);
}
static bool give(Frame* frame, int output, const i64* dims, const char* from, i64 bytes) {
  char* memory = result_memory(frame, output, dims);
  if (memory == nullptr) return false;
  __builtin_memcpy(memory, from, (unsigned long)bytes);
  return true;
}

// Calls that the caller makes. They neither see nor change the flags of this kernel, whose events so far are kept in `status`.
static __attribute__((noinline)) bool call_boxed(Frame* frame, int* status, int events, int number, const void* const* operands,
                                                 const i64* dims) {
  *status |= fp_read() & events;
  fp_clear();
  report(frame, frame->runtime->call(frame->launch->context, number, operands, dims));
  fp_clear();
  return !failed(frame);
}
ACCEL_INLINE i64 extent_of(Frame* frame, int number, int result, int axis) {
  return frame->runtime->extent(frame->launch->context, number, result, axis);
}
ACCEL_INLINE bool receive(Frame* frame, int number, int result, void* memory, const i64* dims) {
  report(frame, frame->runtime->receive(frame->launch->context, number, result, memory, dims));
  return !failed(frame);
}

// Memory that Python sees, as it was before this run wrote to it.
struct Kept {
  char* memory;
  int buffer, rank, item;
  i64 shape[64], strides[64];
};
template <bool back>
static void copy_kept(const Kept& kept, char* outside, char*& inside, int axis) {
  if (axis == kept.rank) {
    __builtin_memcpy(back ? outside : inside, back ? inside : outside, (unsigned long)kept.item);
    inside += kept.item;
    return;
  }
  if (axis + 1 == kept.rank && kept.strides[axis] == kept.item) {
    const unsigned long bytes = (unsigned long)(kept.shape[axis] * kept.item);
    __builtin_memcpy(back ? outside : inside, back ? inside : outside, bytes);
    inside += bytes;
    return;
  }
  for (i64 k = 0; k < kept.shape[axis]; ++k) copy_kept<back>(kept, outside + k * kept.strides[axis], inside, axis + 1);
}
static bool keep_input(Frame* frame, Kept& kept, int buffer, int rank, int item, const i64* shape, const i64* strides) {
  if (kept.memory != nullptr) return true;
  i64 bytes = item;
  for (int k = 0; k < rank; ++k) bytes *= shape[k], kept.shape[k] = shape[k], kept.strides[k] = strides[k];
  kept.buffer = buffer, kept.rank = rank, kept.item = item;
  kept.memory = take_memory(frame, bytes);
  if (kept.memory == nullptr) return false;
  char* inside = kept.memory;
  copy_kept<false>(kept, frame->buffers[buffer], inside, 0);
  return true;
}
static void settle(Frame* frame, Kept* kept, int count) {
  for (int k = 0; k < count; ++k) {
    if (kept[k].memory == nullptr) continue;
    char* inside = kept[k].memory;
    if (failed(frame)) copy_kept<true>(kept[k], frame->buffers[kept[k].buffer], inside, 0);
    frame->runtime->release(kept[k].memory);
  }
}
