// Products of a matrix with a vector on accel's threads: the threads of a BLAS would compete with them for processors. A BLAS
// computes rows in groups, and the remaining rows with other code. OpenBLAS gives each of its threads as many rows
// (driver/level2/gemv_thread.c) where there are at least `shared_elements` (interface/gemv.c), and so decides which rows are
// left over. Used when the loop has the bits of this, which is tried once for each layout and number of threads. Every other
// product goes from the last row to the first: iterative methods multiply by the same matrix again and again, and the caches of
// the processors hold the rows that were read last.
constexpr i64 row_group = 32, most_piece_elements = 1 << 18, shared_elements = 460800;
struct RowsCall {
  const AccelImport* loop;
  char* const* args;
  const iptr *dims, *strides;
  Frame* frame;
  i64 parts;       // of a BLAS
  bool backwards;  // from the last group to the first
  i64 rows() const { return dims[1]; }
  i64 part_begin(i64 part) const {
    const i64 each = rows() / parts, longer = rows() % parts;
    return part * each + index_min(part, longer);
  }
  // What is left over of a part belongs to its last group.
  i64 groups_of(i64 part) const { return (part_begin(part + 1) - part_begin(part)) / row_group; }
};
static void call_rows(const RowsCall& call, i64 begin, i64 end) {
  char* const args[] = {call.args[0] + begin * call.strides[3], call.args[1], call.args[2] + begin * call.strides[7]};
  const iptr dims[] = {1, end - begin, call.dims[2], 1};
  if (call.loop->loop(call.loop->context, args, dims, call.strides, call.loop->auxdata) != 0) report(call.frame, accel_error);
}
// Groups first to last of all parts, so many at once that a BLAS does not share them.
static void call_groups(const RowsCall& call, i64 first, i64 last) {
  const i64 at_once = index_max(most_piece_elements / (row_group * index_max(call.dims[2], 1)), 1);
  for (i64 part = 0, before = 0; part < call.parts && before < last; ++part) {
    const i64 groups = call.groups_of(part), begin = call.part_begin(part), end = call.part_begin(part + 1);
    const i64 until = index_min(last - before, groups);
    for (i64 k = index_max(first - before, 0); k < until; k += at_once) {
      const i64 next = index_min(k + at_once, until);
      call_rows(call, begin + k * row_group, next == groups ? end : begin + next * row_group);
    }
    before += groups;
  }
}
static i64 count_groups(const RowsCall& call) {
  i64 groups = 0;
  for (i64 part = 0; part < call.parts; ++part) groups += call.groups_of(part);
  return groups;
}
static void rows_region(void* arguments, i64 begin, i64 end) {
  const RowsCall& call = *(const RowsCall*)arguments;
  fp_clear();
  if (call.backwards)
    for (i64 k = end; k-- > begin;) call_groups(call, k, k + 1);
  else
    call_groups(call, begin, end);
  report(call.frame, fp_read());
}

// Whether products by groups of rows have the bits of the whole. `args[2]` has room for both.
static bool has_split_bits(const RowsCall& whole, i64 size) {
  char* const pieces = whole.args[2] + size * whole.rows();
  char* const args[] = {whole.args[0], whole.args[1], pieces};
  const RowsCall split = {whole.loop, args, whole.dims, whole.strides, whole.frame, whole.parts, false};
  const i64 groups = count_groups(whole);
  call_rows(whole, 0, whole.rows());
  for (i64 k = 0; k < groups; ++k) call_groups(split, k, k + 1);
  return __builtin_memcmp(whole.args[2], pieces, (unsigned long)(size * whole.rows())) == 0;
}
template <class T>
static bool is_split_exactly(Frame* frame, const AccelImport* loop, bool by_rows, i64 parts) {
  const i64 tried_rows[] = {65, 67, 130, 263, 523, 1030, 2083}, size = (i64)sizeof(T), most_rows = 2083;
  const i64 most_elements = shared_elements + 40 * most_rows;
  char* const memory = (char*)frame->runtime->allocate(size * (most_elements + shared_elements + 2 * most_rows));
  if (memory == nullptr) return false;
  char* const vector = memory + size * most_elements;
  u64 state = 1;
  for (i64 k = 0; k < most_elements + shared_elements; ++k) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    *((T*)memory + k) = (T)((i64)state >> 40) * (T)0x1p-23;
  }
  bool same = true;
  for (const i64 rows : tried_rows) {
    if (rows < parts * row_group) continue;
    const i64 least = (shared_elements + rows - 1) / rows;
    const i64 shared[] = {least, least + 2, least + 37}, alone[] = {37, 100, least - 1};
    for (const i64 columns : parts > 1 ? shared : alone) {
      char* const args[] = {memory, vector, vector + size * shared_elements};
      const iptr dims[] = {1, rows, columns, 1}, row = by_rows ? size * columns : size, column = by_rows ? size : size * rows;
      const iptr strides[] = {0, 0, 0, row, column, size, size, size, size};
      same = same && has_split_bits({loop, args, dims, strides, frame, parts, false}, size);
    }
  }
  frame->runtime->release(memory);
  return same;
}
// Answers of is_split_exactly: one thread or several, by columns or by rows.
template <class T>
struct Split {
  struct Answer {
    i64 parts;  // 0: not computed yet
    bool exact;
  };
  static Answer answers[2][2];
};
template <class T>
typename Split<T>::Answer Split<T>::answers[2][2] = {};

template <class T>
static bool may_split(Frame* frame, const AccelImport* loop, bool by_rows, i64 parts) {
  typename Split<T>::Answer& answer = Split<T>::answers[parts > 1][by_rows];
  if (answer.parts != parts) {
    const auto control = fp_control();
    answer = {parts, is_split_exactly<T>(frame, loop, by_rows, parts)};
    fp_set_control(control);
  }
  return answer.exact;
}

template <class T>
static void multiply_rows(Frame* frame, int* status, int import, char* const* args, const iptr* dims, const iptr* strides) {
  const iptr size = (iptr)sizeof(T), rows = dims[1], columns = dims[2], work = 2 * rows * columns;
  const bool by_rows = strides[4] == size && strides[3] >= size * columns;
  const bool by_columns = !by_rows && strides[3] == size && strides[4] >= size * rows;
  const bool plain = (by_rows || by_columns) && strides[5] == size && strides[7] >= size;
  if (!plain || rows < 2 * row_group || work < frame->serial_work) return call_loop(frame, status, import, args, dims, strides);
  const AccelImport* const loop = frame->imports + import;
  const bool asks = rows * columns >= shared_elements && frame->runtime->blas_threads != nullptr;
  const i64 parts = rows * columns < shared_elements ? 1 : asks ? frame->runtime->blas_threads(loop->loop) : 0;
  *status |= fp_read();
  if (parts == 0 || rows < parts * row_group || row_group * columns > most_piece_elements ||
      !may_split<T>(frame, loop, by_rows, parts))
    return run_loop(frame, import, args, dims, strides);
  static u64 products = 0;
  const bool backwards = by_rows && __atomic_fetch_add(&products, 1, __ATOMIC_RELAXED) % 2 != 0;
  RowsCall call = {loop, args, dims, strides, frame, parts, backwards};
  run_parallel(frame, status, 15, rows_region, &call, count_groups(call), backwards ? -1 : 1, work);
}
