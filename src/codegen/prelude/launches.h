// Functions of the host that start the kernels of a nest.
static void start_kernel(Frame* frame, int kernel, i64 blocks, int threads, void** arguments, i64 bytes = 0) {
  const AccelDeviceLaunch* launch = (const AccelDeviceLaunch*)frame->launch;
  if (blocks > 0) report(frame, launch->start(launch->kernels, kernel, blocks, threads, bytes, arguments));
}

// A thread for `each` items.
static void launch_elements(Frame* frame, int kernel, i64 items, i64 each, void** arguments) {
  const i64 of_block = block_threads * each;
  start_kernel(frame, kernel, (items + of_block - 1) / of_block, block_threads, arguments);
}
// A block for each item.
static void launch_blocks(Frame* frame, int kernel, i64 items, void** arguments) {
  start_kernel(frame, kernel, items, block_threads, arguments);
}
// A thread for each part of an item.
static void launch_parts(Frame* frame, int kernel, i64 items, void** arguments) {
  launch_elements(frame, kernel, items, 1, arguments);
}
// A thread, or eight, for each item: two kernels.
static void launch_columns(Frame* frame, int kernel, i64 items, i64 longest, void** arguments) {
  constexpr i64 of_block = block_threads / 8;
  if (!threads_share_columns(items, longest)) return launch_elements(frame, kernel, items, 1, arguments);
  start_kernel(frame, kernel + 1, (items + of_block - 1) / of_block, block_threads, arguments);
}
// Shared memory that kernels have besides rows, at most.
constexpr i64 own_shared_bytes = 4096;
// A thread, a warp or a block for each item: three kernels, then those of a warp and of a block that keep the rows that an item
// reads again, `row_bytes` bytes, in shared memory.
static void launch_rows(Frame* frame, int kernel, i64 items, i64 longest, i64 row_bytes, void** arguments) {
  const int threads = threads_of_row(items, longest), groups = block_threads / threads;
  const bool has_room = row_bytes * groups <= ((const AccelDeviceLaunch*)frame->launch)->shared_bytes - own_shared_bytes;
  const bool caches = has_room && caches_rows(threads, row_bytes);
  const int number = threads == 1 ? 0 : (threads == warp_threads ? 1 : 2) + (caches ? 2 : 0);
  start_kernel(frame, kernel + number, (items + groups - 1) / groups, block_threads, arguments,
               caches ? row_bytes * groups : 0);
}
