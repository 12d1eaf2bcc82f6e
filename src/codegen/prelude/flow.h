// Kernels with control flow: memory that is allocated and exchanged, results of any exit, and restoring what a failed run
// wrote.

// Whether this run is not to be finished.
ACCEL_INLINE bool failed(const Frame* frame) { return (frame->status & ~frame->launch->accepted) != 0; }

// Reports at an exit; whether the run has failed.
static __attribute__((noinline)) bool must_stop(Frame* frame, int status) {
  report(frame, status);
  return failed(frame);
}

// Memory that other threads may change during a poll. clang takes what a restricted pointer leads to for unchanged by calls
// that cannot have the pointer.
ACCEL_INLINE void expose([[maybe_unused]] const char* memory) {
#if defined(__clang__)
  asm volatile("" : : "r"(memory));
#endif
}

constexpr i64 poll_turns = 1 << 16;  // before the first poll of a run: some 50 microseconds
// Turns that `work` element operations count for: very many are followed by a poll.
ACCEL_INLINE i64 turns_of(i64 work) { return work >= 0 && work < (1 << 24) ? work : 1 << 24; }
// Poll of loops for interruption: returns the number of turns, iterations of few statements, until the next poll; 0: the run
// has to leave here, through an exit. `leaves`: 1 when that exit only raises, 2 when it has the whole state and the run may go
// on from there, 3 when it has the whole state and ends the run.
static __attribute__((noinline, cold)) i64 turns_before_exit(Frame* frame, int leaves) {
  if (frame->runtime->poll == nullptr) return 1 << 30;
  frame->has_asked = leaves < 2;
  return frame->runtime->poll(leaves, &frame->poll) != 0 ? 0 : frame->poll.turns;
}
// As turns_before_exit, for a run that can only fail.
static __attribute__((noinline, cold)) i64 turns_before_failure(Frame* frame) {
  if (frame->runtime->poll == nullptr) return 1 << 30;
  frame->has_asked = true;
  if (frame->runtime->poll(0, &frame->poll) == 0) return frame->poll.turns;
  report(frame, accel_interrupted);
  return 0;
}
// At an exit for interrupted runs, when all outputs are written: whether the run continues, as the caller only had to see them.
static __attribute__((noinline, cold)) bool goes_on(Frame* frame, int exit) {
  return frame->runtime->go_on != nullptr && frame->runtime->go_on(frame->launch->context, exit) != 0;
}
// The counter at the end of a strip of a counted loop, after which the loop polls.
ACCEL_INLINE i64 end_of_strip(i64 counter, i64 length) {
  i64 end = 0;
  return __builtin_add_overflow(counter, length, &end) ? (length > 0 ? 0x7fffffffffffffff : -0x7fffffffffffffff - 1) : end;
}

// Gives a buffer memory for `bytes`. Its content is lost when it has to grow.
ACCEL_INLINE bool allocate_buffer(Frame* frame, int buffer, i64 bytes) {
  if (__builtin_expect(frame->capacities[buffer] >= bytes && frame->buffers[buffer] != nullptr, 1)) return true;
  return allocate_scratch(frame, buffer, bytes) != nullptr;
}
// allocate_buffer as a call: shorter text where a long function allocates each of many buffers once.
static __attribute__((noinline)) bool allocate_buffer_by_call(Frame* frame, int buffer, i64 bytes) {
  return allocate_buffer(frame, buffer, bytes);
}
// Enlarges a buffer and preserves its content by copy(to, from, bytes). It gets more room than asked for, so that repeated
// growth takes time linear in the final size.
template <class Copy>
static __attribute__((noinline)) bool enlarge(Frame* frame, int buffer, i64 bytes, Copy copy) {
  const i64 room = bytes < 256 ? 512 : 2 * bytes;
  char* const memory = take_memory(frame, room);
  if (memory == nullptr) return false;
  char* const old = frame->buffers[buffer];
  if (old != nullptr) {
    copy(memory, old, frame->capacities[buffer]);
    frame->runtime->release(old);
  }
  frame->buffers[buffer] = memory;
  frame->capacities[buffer] = room;
  return true;
}
template <class Copy>
ACCEL_INLINE bool grow_by(Frame* frame, int buffer, i64 bytes, Copy copy) {
  if (__builtin_expect(frame->capacities[buffer] >= bytes && frame->buffers[buffer] != nullptr, 1)) return true;
  return enlarge(frame, buffer, bytes, copy);
}
ACCEL_INLINE bool grow(Frame* frame, int buffer, i64 bytes) {
  return grow_by(frame, buffer, bytes,
                 [](char* to, const char* from, i64 size) { __builtin_memcpy(to, from, (unsigned long)size); });
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
static bool allocate_result(Frame* frame, int buffer, int output, const i64* dims) {
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
// Numbers that exits read from memory. Outputs from `first` on are those of table `parent` with changes [begin, end): pairs of
// an output, counted from `first`, and its slot.
struct ExitTable {
  int parent, first, count, begin, end;
};
template <class T>
ACCEL_INLINE void put(char* home, T value) {
  __builtin_memcpy(home, &value, sizeof value);
}
static __attribute__((noinline, cold)) bool give_by_table(Frame* frame, const ExitTable* tables, int which, const u16* changes,
                                                          const char (*home)[16], const u8* bytes) {
  constexpr u16 not_yet = 65535, of_no_number = 65534;
  const int first = tables[which].first, count = tables[which].count;
  u16* const from = (u16*)__builtin_alloca(sizeof(u16) * (unsigned long)count);
  for (int k = 0; k < count; ++k) from[k] = not_yet;
  for (; which >= 0; which = tables[which].parent)
    for (int k = tables[which].begin; k < tables[which].end; k += 2)
      if (from[changes[k]] == not_yet) from[changes[k]] = changes[k + 1];
  for (int k = 0; k < count; ++k)
    if (from[k] != of_no_number && !give_value(frame, first + k, home[from[k]], bytes[from[k]])) return false;
  return true;
}
static bool give(Frame* frame, int output, const i64* dims, const char* from, i64 bytes) {
  char* memory = result_memory(frame, output, dims);
  if (memory == nullptr) return false;
  __builtin_memcpy(memory, from, (unsigned long)bytes);
  return true;
}

// Calls that the caller makes. They neither see nor change the flags of this kernel, whose events so far are saved in `status`.
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
static bool receive_output(Frame* frame, int buffer, int number, int result, int output, const i64* dims) {
  char* memory = (char*)frame->runtime->receive_output(frame->launch->context, number, result, output, dims);
  if (memory == nullptr) report(frame, accel_error);
  frame->buffers[buffer] = memory;
  return memory != nullptr;
}
// A number that one of NumPy's C functions draws. Its events are not reported, neither by NumPy.
template <class R, class... A>
static __attribute__((noinline, cold)) bool draw_boxed(Frame* frame, int* status, int events, int number, R* drawn,
                                                       const A&... operands) {
  const void* const addresses[] = {&operands..., nullptr};
  const i64 dims[] = {0};
  return call_boxed(frame, status, events, number, addresses, dims) && receive(frame, number, 0, drawn, nullptr);
}
template <class R, class... A>
static __attribute__((noinline)) bool draw_slowly(Frame* frame, int* status, int events, int number, R* drawn, A... operands) {
  const AccelDraw* const entry = frame->launch->draws + number;
  if (entry->stream == nullptr) {
    report(frame, frame->runtime->open_draw(frame->launch->context, number));
    if (failed(frame)) return false;
    if (entry->stream == nullptr) return draw_boxed(frame, status, events, number, drawn, operands...);
  }
  const auto control = events != 0 ? fp_control() : 0;
  *drawn = ((R (*)(void*, A...))entry->function)(entry->stream, operands...);
  if (events != 0 && fp_control() != control) fp_set_control(control);
  return true;
}
ACCEL_INLINE f64 draw_normal(const AccelDraw* entry) {
  return draw_layered((const Layers*)entry->layers, (const BitStream*)entry->stream);
}
ACCEL_INLINE f64 draw_normal(const AccelDraw* entry, f64 loc, f64 scale) { return loc + scale * draw_normal(entry); }
ACCEL_INLINE bool are_ordinary() { return true; }

template <class R, class... A>
ACCEL_INLINE bool draw(Frame* frame, int* status, int events, const AccelDraw* draws, int number, R* drawn, A... operands) {
  const AccelDraw* const entry = draws + number;
  if (__builtin_expect(entry->stream == nullptr || !entry->quiet, 0))
    return draw_slowly(frame, status, events, number, drawn, operands...);
  if constexpr (__is_same(R, f64) && (sizeof...(A) == 0 || sizeof...(A) == 2)) {
    if (entry->layers != nullptr && are_ordinary(operands...)) {
      *drawn = draw_normal(entry, operands...);
      return true;
    }
  }
  *drawn = ((R (*)(void*, A...))entry->function)(entry->stream, operands...);
  return true;
}

// Backup of memory that Python sees, from before this run wrote to it: axes by decreasing stride, then runs of `item` bytes.
struct Backup {
  char* memory;
  int buffer, rank;
  i64 item, bytes;
  i64 shape[64], strides[64];
  char room[1024] __attribute__((aligned(64)));
};
// Describes the positions of the elements with as few axes as possible.
static void describe_backup(Backup& backup, int rank, i64 item, const i64* shape, const i64* strides) {
  backup.rank = 0, backup.item = backup.bytes = item;
  for (int k = 0; k < rank; ++k) {
    backup.bytes *= shape[k];
    if (shape[k] == 1) continue;
    int at = backup.rank++;
    for (; at > 0 && __builtin_llabs(backup.strides[at - 1]) < __builtin_llabs(strides[k]); --at)
      backup.shape[at] = backup.shape[at - 1], backup.strides[at] = backup.strides[at - 1];
    backup.shape[at] = shape[k], backup.strides[at] = strides[k];
  }
  int last = 0;
  for (int k = 1; k < backup.rank; ++k) {
    const bool joined = backup.strides[last] == backup.shape[k] * backup.strides[k];
    if (!joined) ++last;
    backup.shape[last] = joined ? backup.shape[last] * backup.shape[k] : backup.shape[k],
    backup.strides[last] = backup.strides[k];
  }
  if (backup.rank > 0) backup.rank = last + 1;
  if (backup.rank > 0 && backup.strides[backup.rank - 1] == item) backup.item *= backup.shape[--backup.rank];
}
template <bool back>
ACCEL_INLINE void copy_run(char* outside, char* inside, i64 bytes) {
  __builtin_memcpy(back ? outside : inside, back ? inside : outside, (unsigned long)bytes);
}
template <bool back, int item>
ACCEL_INLINE void copy_items(char* outside, char* inside, i64 count, i64 stride) {
  for (i64 k = 0; k < count; ++k) copy_run<back>(outside + k * stride, inside + k * item, item);
}
template <bool back>
static void copy_backup(const Backup& backup, char* outside, char*& inside, int axis) {
  if (axis == backup.rank) {
    copy_run<back>(outside, inside, backup.item);
    inside += backup.item;
    return;
  }
  const i64 count = backup.shape[axis], stride = backup.strides[axis];
  if (axis + 1 == backup.rank && (backup.item == 8 || backup.item == 4)) {
    backup.item == 8 ? copy_items<back, 8>(outside, inside, count, stride)
                     : copy_items<back, 4>(outside, inside, count, stride);
    inside += count * backup.item;
    return;
  }
  for (i64 k = 0; k < count; ++k) copy_backup<back>(backup, outside + k * stride, inside, axis + 1);
}
// Backs up [begin, end) of the outermost axis, or of the bytes where there is no axis.
struct BackupCopy {
  const Backup* backup;
  char* outside;
};
static void back_up_part(void* arguments, i64 begin, i64 end) {
  const BackupCopy* copy = (const BackupCopy*)arguments;
  const Backup& backup = *copy->backup;
  if (backup.rank == 0) return copy_run<false>(copy->outside + begin, backup.memory + begin, end - begin);
  char* inside = backup.memory + backup.bytes / backup.shape[0] * begin;
  for (i64 k = begin; k < end; ++k) copy_backup<false>(backup, copy->outside + k * backup.strides[0], inside, 1);
}
static void drop_backup(Frame* frame, Backup& backup) {
  if (backup.memory != backup.room) frame->runtime->release(backup.memory);
  backup.memory = nullptr;
}
static __attribute__((noinline)) bool back_up_input(Frame* frame, Backup& backup, int buffer, int rank, int item,
                                                    const i64* shape, const i64* strides) {
  if (backup.memory != nullptr) return true;
  backup.buffer = buffer;
  describe_backup(backup, rank, item, shape, strides);
  backup.memory = backup.bytes <= (i64)sizeof backup.room ? backup.room : take_memory(frame, backup.bytes);
  if (backup.memory == nullptr) return false;
  if (backup.bytes == 0) return true;
  BackupCopy copy = {&backup, frame->buffers[buffer]};
  const i64 count = backup.rank > 0 ? backup.shape[0] : backup.bytes, work = backup.bytes / 8;
  if (work < frame->serial_work) return back_up_part(&copy, 0, count), true;
  if (frame->runtime->parallel_for(back_up_part, &copy, count, backup.rank > 0 ? 1 : 65536, work) == 0) return true;
  report(frame, accel_interrupted);
  drop_backup(frame, backup);
  return false;
}
// A call that may do anything. What the run has written so far is final, so the backups are renewed after the call. Requires
// that the run has not failed.
static __attribute__((noinline)) bool call_python(Frame* frame, Backup* backups, int count, int number,
                                                  const void* const* operands, const i64* dims) {
  fp_clear();
  const int status = frame->runtime->call(frame->launch->context, number, operands, dims);
  fp_clear();
  report(frame, status);
  for (int k = 0; k < count; ++k) {
    if (backups[k].memory == nullptr) continue;
    if (status == accel_left) drop_backup(frame, backups[k]);
    if (status != 0 || backups[k].bytes == 0) continue;
    BackupCopy copy = {&backups[k], frame->buffers[backups[k].buffer]};
    back_up_part(&copy, 0, backups[k].rank > 0 ? backups[k].shape[0] : backups[k].bytes);
  }
  return status == 0;
}
// From here on the run cannot fail: what it writes is not restored.
ACCEL_INLINE void commit(Frame* frame) {
  if (frame->runtime->commit != nullptr) frame->runtime->commit();
}
static void settle(Frame* frame, Backup* backups, int count) {
  for (int k = 0; k < count; ++k) {
    if (backups[k].memory == nullptr) continue;
    char* inside = backups[k].memory;
    if (failed(frame) && backups[k].bytes > 0) copy_backup<true>(backups[k], frame->buffers[backups[k].buffer], inside, 0);
    drop_backup(frame, backups[k]);
  }
}

// A loop whose iterations threads share.
struct LoopRun {
  Frame* frame;
  const void* temps;  // what its functions need of the control flow's
  int status;         // of all of them
  int left;           // whether one came to a side exit
  i64 first;          // the iteration that the region calls 0
};
ACCEL_INLINE bool is_over(const LoopRun* run) {
  return __atomic_load_n(&run->left, __ATOMIC_RELAXED) != 0 ||
         (__atomic_load_n(&run->status, __ATOMIC_RELAXED) & ~run->frame->launch->accepted) != 0;
}
// A frame for a part of the loop, with buffers, capacities and symbols of its own.
static Frame frame_of(const LoopRun* run, char** buffers, i64* capacities, int count, i64* symbols, int room) {
  Frame own = *run->frame;
  for (int k = 0; k < count; ++k) buffers[k] = own.buffers[k], capacities[k] = own.capacities[k];
  for (int k = 0; k < room; ++k) symbols[k] = own.symbols[k];
  own.buffers = buffers, own.capacities = capacities, own.symbols = symbols, own.status = 0;
  return own;
}
static void drop_backups(Frame* frame, Backup* backups, int count) {
  for (int k = 0; k < count; ++k)
    if (backups[k].memory != nullptr) drop_backup(frame, backups[k]);
}
// Iterations of a loop between two polls: some 40 ms of work, estimated from the previous slice.
ACCEL_INLINE i64 first_slice(i64 n, i64 work) {
  return work < 0 || work > (1 << 22) ? index_max((i64)((f64)n / __builtin_fabs((f64)work) * (1 << 22)), 1) : n;
}
ACCEL_INLINE i64 next_slice(i64 slice, i64 nanoseconds) {
  return nanoseconds < 16000000 ? slice * 4 : nanoseconds > 60000000 ? index_max(slice / 2, 1) : slice;
}
// Runs [first, first + n); whether all are done. `puts_back`: it can be done again from the start, so it stops where the run is
// interrupted.
static bool run_slice(LoopRun* run, AccelRegion region, i64 n, i64 work, bool puts_back) {
  Frame* const frame = run->frame;
  const bool stopped = frame->runtime->parallel_for(region, run, n, 1, work) != 0 || (run->status & accel_interrupted) != 0;
  run->status = stopped && !puts_back ? run->status | accel_interrupted : run->status & ~accel_interrupted;
  const bool ends = run->left != 0 || (stopped && puts_back);
  const bool left = ends && (run->status & (accel_error | accel_no_memory | accel_interrupted)) == 0;
  return !left;
}
// Runs [0, n), or fewer iterations where one comes to a side exit or the run is to leave (`leaves`: see turns_before_exit).
// Returns how many are done. With backups, a side exit restores memory and none are done.
static __attribute__((noinline)) i64 run_loop(LoopRun* run, AccelRegion region, Backup* backups, int count, i64 n, i64 work,
                                              int leaves) {
  Frame* const frame = run->frame;
  const bool asks = leaves > 0 && frame->runtime->poll != nullptr && frame->runtime->now != nullptr;
  auto flags = fp_control();
  i64 done = 0;
  bool left = false;
  for (i64 slice = asks ? first_slice(n, work) : n; done < n;) {
    const i64 size = slice < n - done ? slice : n - done, start = asks ? frame->runtime->now() : 0;
    run->first = done;
    if (count == 0) flags = fp_control();
    left = !run_slice(run, region, size, (i64)((f64)work / (f64)n * (f64)size), leaves > 0 && count > 0);
    if (!left && count == 0) report(frame, run->status);
    if (left || (run->status & ~frame->launch->accepted) != 0) break;
    done += size;
    if (done < n && turns_before_exit(frame, leaves) == 0) break;
    slice = next_slice(slice, asks ? frame->runtime->now() - start : 0);
  }
  for (int k = 0; k < count; ++k) {
    char* inside = backups[k].memory;
    if (left && backups[k].bytes > 0) copy_backup<true>(backups[k], frame->buffers[backups[k].buffer], inside, 0);
    drop_backup(frame, backups[k]);
  }
  if (!left && count > 0) report(frame, run->status);
  if (left) fp_set_control(flags);
  return left && count > 0 ? 0 : done;
}
// How many of the next `count` iterations of a loop that runs tile by tile, each of `work` element operations, run before the
// next poll. `last`: the length of the previous slice, 0 at first.
static __attribute__((noinline)) i64 long_slice(Frame* frame, i64 last, i64 count, i64 work) {
  if (frame->runtime->now == nullptr) return count;
  const i64 now = frame->runtime->now();
  const i64 slice = last == 0 ? index_max((1 << 22) / index_max(work, 1), 1) : next_slice(last, now - frame->sliced);
  frame->sliced = now;
  return slice < count ? slice : count;
}
ACCEL_INLINE i64 slice_of(Frame* frame, i64 last, i64 count, i64 work) {
  i64 all = 0;
  const bool is_short = last == 0 && !__builtin_mul_overflow(count, work, &all) && all < (1 << 22);
  return is_short ? count : long_slice(frame, last, count, work);
}
ACCEL_INLINE i64 count_of(i64 first, i64 end, i64 step) {
  return step > 0 ? (end > first ? (end - first - 1) / step + 1 : 0) : (end < first ? (first - end - 1) / -step + 1 : 0);
}
