// Products of a matrix with a vector on several threads. A BLAS works out rows in groups, and what is left over in other ways:
// all threads but the last get whole groups. Used when the loop has these bits for products of the greatest size that is split,
// which is tried once; larger ones are left to the threads that a BLAS has of its own.
constexpr i64 row_group = 32, most_split_elements = 1 << 18;
struct RowsCall {
  const AccelImport* loop;
  char* const* args;
  const iptr *dims, *strides;
  Frame* frame;
};
// Groups of rows; what is left over belongs to the last one.
static void call_groups(const RowsCall& call, i64 first, i64 last) {
  const i64 begin = first * row_group, end = last == call.dims[1] / row_group ? call.dims[1] : last * row_group;
  char* const args[] = {call.args[0] + begin * call.strides[3], call.args[1], call.args[2] + begin * call.strides[7]};
  const iptr dims[] = {1, end - begin, call.dims[2], 1};
  if (call.loop->loop(call.loop->context, args, dims, call.strides, call.loop->auxdata) != 0) report(call.frame, accel_error);
}
static void rows_region(void* arguments, i64 begin, i64 end) {
  const RowsCall& call = *(const RowsCall*)arguments;
  fp_clear();
  call_groups(call, begin, end);
  report(call.frame, fp_read());
}

// Whether products by groups of rows have the bits of the whole.
template <class T>
static bool has_split_bits(const RowsCall& whole, i64 rows) {
  const i64 size = (i64)sizeof(T);
  char* const pieces = whole.args[2] + size * rows;
  char* const args[] = {whole.args[0], whole.args[1], pieces};
  const RowsCall split = {whole.loop, args, whole.dims, whole.strides, whole.frame};
  const i64 groups = rows / row_group;
  call_groups(whole, 0, groups);
  for (i64 k = 0; k < groups; ++k) call_groups(split, k, k + 1);
  return __builtin_memcmp(whole.args[2], pieces, (unsigned long)(size * rows)) == 0;
}
template <class T>
static bool is_split_exactly(Frame* frame, const AccelImport* loop) {
  const i64 size = (i64)sizeof(T), most_rows = 523;
  char* const memory = (char*)frame->runtime->allocate(size * (2 * most_split_elements + 2 * most_rows));
  if (memory == nullptr) return false;
  u64 state = 1;
  for (i64 k = 0; k < 2 * most_split_elements; ++k) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    *((T*)memory + k) = (T)((i64)state >> 40) * (T)0x1p-23;
  }
  bool same = true;
  const i64 tried_rows[] = {65, 67, 130, 263, most_rows};
  for (const i64 rows : tried_rows) {
    const i64 tried_columns[] = {37, 100, most_split_elements / rows};
    for (const i64 columns : tried_columns) {
      char* const args[] = {memory, memory + size * most_split_elements, memory + size * 2 * most_split_elements};
      const iptr dims[] = {1, rows, columns, 1}, strides[] = {0, 0, 0, size * columns, size, size, size, size, size};
      same = same && has_split_bits<T>({loop, args, dims, strides, frame}, rows);
    }
  }
  frame->runtime->release(memory);
  return same;
}
template <class T>
struct Split {
  static bool is_tried, is_exact;
};
template <class T>
bool Split<T>::is_tried = false;
template <class T>
bool Split<T>::is_exact = false;

template <class T>
static void multiply_rows(Frame* frame, int* status, int import, char* const* args, const iptr* dims, const iptr* strides) {
  const iptr size = (iptr)sizeof(T), rows = dims[1], columns = dims[2], work = 2 * rows * columns;
  const bool plain = strides[4] == size && strides[5] == size && strides[7] >= size && strides[3] >= size * columns;
  if (!plain || rows < 2 * row_group || work < frame->serial_work || rows * columns > most_split_elements)
    return call_loop(frame, status, import, args, dims, strides);
  *status |= fp_read();
  const AccelImport* const loop = frame->imports + import;
  if (!Split<T>::is_tried) {
    const auto control = fp_control();
    Split<T>::is_exact = is_split_exactly<T>(frame, loop);
    Split<T>::is_tried = true;
    fp_set_control(control);
  }
  if (!Split<T>::is_exact) return run_loop(frame, import, args, dims, strides);
  RowsCall call = {loop, args, dims, strides, frame};
  run_parallel(frame, status, 15, rows_region, &call, rows / row_group, 1, work);
}
