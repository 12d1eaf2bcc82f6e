// How the work of a nest is divided between the threads of a device. It depends on extents alone, as the order of additions
// does. The emitter includes this part as well, to find out which kernels the captured extents need.
constexpr int block_threads = 256, warp_threads = 32;

// Kernels of rows: a thread, a warp or a block for each item. `longest`: elements of the longest run of an item.
constexpr i64 longest_of_thread = 24, longest_of_warp = 1024, few_items = 4096;
static int threads_of_row(i64 items, i64 longest) {
  if (longest <= longest_of_thread) return 1;
  return longest <= longest_of_warp && (items >= few_items || longest <= 8 * warp_threads) ? warp_threads : block_threads;
}

// Whether a block caches the rows of its items in shared memory, which two blocks of a multiprocessor share. `row_bytes`: bytes
// of the rows that an item reads more than once.
constexpr i64 most_shared_bytes = 110 << 10;
static bool caches_rows(int threads, i64 row_bytes) {
  return threads > 1 && row_bytes > 0 && row_bytes * (block_threads / threads) <= most_shared_bytes;
}

// Few long rows are divided between blocks, into a power of two of parts.
constexpr i64 enough_blocks = 512, most_blocks = 4096, least_of_block = 2048;
static i64 parts_of_rows(i64 items, i64 longest) {
  i64 parts = 1;
  while (2 * parts * items <= most_blocks && longest / (2 * parts) >= least_of_block) parts *= 2;
  return parts;
}
static bool blocks_share_rows(i64 items, i64 longest) {
  return items > 0 && items < enough_blocks && parts_of_rows(items, longest) > 1;
}

// Few long columns are divided between threads; those of wide arrays are summed from the first row to the last, as NumPy does.
constexpr i64 wide = 8192, enough_threads = 1 << 18, least_of_thread = 32;
static i64 parts_of_columns(i64 items, i64 longest) {
  const i64 most = enough_threads / (items > 0 ? items : 1),
            parts = most < longest / least_of_thread ? most : longest / least_of_thread;
  return parts > 1 ? parts : 1;
}
static bool blocks_share_columns(i64 items, i64 longest) {
  return items > 0 && items < wide && parts_of_columns(items, longest) > 1;
}
// Whether eight threads share each of the other columns: long ones that are too few to occupy the device.
constexpr i64 most_shared_columns = 1 << 17, least_shared_rows = 256;
static bool threads_share_columns(i64 items, i64 longest) {
  return items < most_shared_columns && longest >= least_shared_rows;
}
