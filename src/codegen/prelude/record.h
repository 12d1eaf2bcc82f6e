// Kernels that record events: which operation had which. Flags are cleared before each piece of text with operations of one
// site, and read after it. Events found are noted in a row: a byte for each site, and a last one for whether there are any.
static __attribute__((noinline, cold)) void note_events(const Frame* frame, unsigned char* row, int site, int events) {
  const AccelLaunch* launch = frame->launch;
  unsigned char* seen = row + site;
  if ((events & ~__atomic_load_n(seen, __ATOMIC_RELAXED)) != 0) {
    __atomic_fetch_or(seen, (unsigned char)events, __ATOMIC_RELAXED);
    __atomic_store_n(row + launch->site_count, (unsigned char)1, __ATOMIC_RELAXED);
  }
  if ((events & launch->forbidden[site]) != 0) report((Frame*)frame, accel_unclear);
}
ACCEL_INLINE int record(const Frame* frame, unsigned char* row, int site, int events) {
  if (__builtin_expect(events != 0, 0)) note_events(frame, row, site, events);
  return events;
}
// Those of a site's events that are of interest and not noted yet.
ACCEL_INLINE int open_events(const Frame* frame, const unsigned char* row, int site, int events) {
  return events & frame->launch->heard[site] & ~__atomic_load_n(row + site, __ATOMIC_RELAXED);
}
// What has been noted since the last time, in the order of the sites.
static __attribute__((noinline, cold)) void flush_row(Frame* frame, unsigned char* row) {
  const AccelLaunch* launch = frame->launch;
  for (int site = 0; site < launch->site_count; ++site) {
    if (row[site] == 0) continue;
    frame->runtime->log_events(launch->context, site, row[site]);
    if (launch->once) launch->heard[site] &= ~row[site];
    row[site] = 0;
  }
  row[launch->site_count] = 0;
}
ACCEL_INLINE void flush_events(Frame* frame) {
  unsigned char* row = frame->launch->events;
  if (__builtin_expect(row[frame->launch->site_count] != 0, 0)) flush_row(frame, row);
}

// Loops that run tile by tile have a row for each iteration. False: there is no memory for these.
constexpr i64 most_bytes_of_rows = i64(1) << 24;
ACCEL_INLINE unsigned char* event_row(const Frame* frame, i64 iteration) {
  return frame->event_rows + iteration * (frame->launch->site_count + 1);
}
static bool begin_rows(Frame* frame, i64 count) {
  if (count > most_bytes_of_rows / (frame->launch->site_count + 1)) return report(frame, accel_unclear), false;
  const i64 bytes = count * (frame->launch->site_count + 1);
  frame->event_rows = (unsigned char*)take_memory(frame, bytes);
  if (frame->event_rows == nullptr) return false;
  for (i64 k = 0; k < bytes; ++k) frame->event_rows[k] = 0;
  return true;
}
static void end_rows(Frame* frame, i64 count) {
  flush_events(frame);
  for (i64 k = 0; k < count; ++k)
    if (event_row(frame, k)[frame->launch->site_count] != 0) flush_row(frame, event_row(frame, k));
  frame->runtime->release((char*)frame->event_rows);
}
// The events of a site that are heard and that no iteration's row has noted yet.
static int open_in_rows(const Frame* frame, i64 count, int site, int events) {
  int open = 0;
  events &= frame->launch->heard[site];
  for (i64 k = 0; k < count && open != events; ++k) open |= open_events(frame, event_row(frame, k), site, events);
  return open;
}

// The value is there now, with its events.
template <class T>
ACCEL_INLINE void finish(const T& value) {
  asm volatile("" : : "m"(value) : "memory");
}
// Makes the compiler assume that the memory is read.
ACCEL_INLINE void show_memory(const void* memory) { asm volatile("" : : "r"(memory) : "memory"); }
