// Functions of the host that start the kernels of a nest. How work is divided depends on extents alone, as the order of
// additions does.
static void start_kernel(Frame* frame, int kernel, i64 blocks, int threads, void** arguments) {
  const AccelDeviceLaunch* launch = (const AccelDeviceLaunch*)frame->launch;
  if (blocks > 0) report(frame, launch->start(launch->module, kernel, blocks, threads, arguments));
}
constexpr int block_threads = 256, warp_threads = 32;

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

// Kernels of rows: a thread, a warp, a block for each item. `longest`: elements of the longest run of an item.
constexpr i64 longest_of_thread = 24, longest_of_warp = 1024, few_items = 4096;
static void launch_rows(Frame* frame, int kernel, i64 items, i64 longest, void** arguments) {
  if (longest <= longest_of_thread) return launch_elements(frame, kernel, items, arguments);
  const bool by_warps = longest <= longest_of_warp && (items >= few_items || longest <= 8 * warp_threads);
  if (!by_warps) return launch_blocks(frame, kernel + 2, items, arguments);
  constexpr int warps = block_threads / warp_threads;
  start_kernel(frame, kernel + 1, (items + warps - 1) / warps, block_threads, arguments);
}

// Few long rows are divided between blocks, into a power of two of parts.
constexpr i64 enough_blocks = 512, most_blocks = 4096, least_of_block = 2048;
static i64 parts_of_rows(i64 items, i64 longest) {
  i64 parts = 1;
  while (2 * parts * items <= most_blocks && longest / (2 * parts) >= least_of_block) parts *= 2;
  return parts;
}
static bool blocks_share_rows(i64 items, i64 longest) { return items > 0 && items < enough_blocks && parts_of_rows(items, longest) > 1; }

// Few long columns are divided between threads; those of wide arrays are summed from the first row to the last, as NumPy does.
constexpr i64 wide = 8192, enough_threads = 1 << 18, least_of_thread = 32;
static i64 parts_of_columns(i64 items, i64 longest) {
  return index_max(index_min(enough_threads / index_max(items, 1), longest / least_of_thread), 1);
}
static bool blocks_share_columns(i64 items, i64 longest) {
  return items > 0 && items < wide && parts_of_columns(items, longest) > 1;
}
