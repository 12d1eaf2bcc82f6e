// Functions of the host that start the kernels of a nest.
static void start_kernel(Frame* frame, int kernel, i64 blocks, int threads, void** arguments) {
  const AccelDeviceLaunch* launch = (const AccelDeviceLaunch*)frame->launch;
  if (blocks > 0) report(frame, launch->start(launch->kernels, kernel, blocks, threads, arguments));
}

// A thread for each item.
static void launch_elements(Frame* frame, int kernel, i64 items, void** arguments) {
  start_kernel(frame, kernel, (items + block_threads - 1) / block_threads, block_threads, arguments);
}
// A block for each item.
static void launch_blocks(Frame* frame, int kernel, i64 items, void** arguments) {
  start_kernel(frame, kernel, items, block_threads, arguments);
}
// A thread for each part of an item.
static void launch_columns(Frame* frame, int kernel, i64 items, void** arguments) {
  launch_elements(frame, kernel, items, arguments);
}
// A thread, a warp or a block for each item: three kernels.
static void launch_rows(Frame* frame, int kernel, i64 items, i64 longest, void** arguments) {
  const int threads = threads_of_row(items, longest), groups = block_threads / threads;
  const int number = threads == 1 ? 0 : threads == warp_threads ? 1 : 2;
  start_kernel(frame, kernel + number, (items + groups - 1) / groups, block_threads, arguments);
}
