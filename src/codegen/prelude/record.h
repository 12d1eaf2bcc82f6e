// Kernels that record events: which operation had which. Flags are cleared before a piece of the text that holds operations of
// one site and read behind it.
static __attribute__((noinline, cold)) void note_events(const Frame* frame, int site, int events) {
  const AccelLaunch* launch = frame->launch;
  unsigned char* seen = launch->events + site;
  if ((events & ~__atomic_load_n(seen, __ATOMIC_RELAXED)) != 0) {
    __atomic_fetch_or(seen, (unsigned char)events, __ATOMIC_RELAXED);
    __atomic_store_n(launch->events + launch->site_count, (unsigned char)1, __ATOMIC_RELAXED);
  }
  if ((events & launch->forbidden[site]) != 0) report((Frame*)frame, accel_unclear);
}
ACCEL_INLINE int record(const Frame* frame, int site, int events) {
  if (__builtin_expect(events != 0, 0)) note_events(frame, site, events);
  return events;
}
// Those of a site's events that somebody would hear of and that are not noted yet.
ACCEL_INLINE int open_events(const Frame* frame, int site, int events) {
  return events & frame->launch->heard[site] & ~__atomic_load_n(frame->launch->events + site, __ATOMIC_RELAXED);
}
// What has been noted since the last time, in the order of the sites.
static __attribute__((noinline, cold)) void flush_noted(Frame* frame) {
  const AccelLaunch* launch = frame->launch;
  for (int site = 0; site < launch->site_count; ++site) {
    if (launch->events[site] == 0) continue;
    frame->runtime->log_events(launch->context, site, launch->events[site]);
    if (launch->once) launch->heard[site] &= ~launch->events[site];
    launch->events[site] = 0;
  }
  launch->events[launch->site_count] = 0;
}
ACCEL_INLINE void flush_events(Frame* frame) {
  if (__builtin_expect(frame->launch->events[frame->launch->site_count] != 0, 0)) flush_noted(frame);
}
// The value is there now, with its events.
template <class T>
ACCEL_INLINE void finish(const T& value) {
  asm volatile("" : : "m"(value) : "memory");
}
// Memory that somebody may look at.
ACCEL_INLINE void show_memory(const void* memory) { asm volatile("" : : "r"(memory) : "memory"); }
