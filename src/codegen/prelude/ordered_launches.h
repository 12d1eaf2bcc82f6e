// Functions of the host that start the kernels of a nest whose items store in order.
constexpr i64 most_units_of_item = 4;  // a dense table is at most as large as a hashed one

static void add_axis(Ordered* ordered, i64 extent, i64 stride) {
  const i64 step = (extent - 1) * stride;
  if (step < 0) ordered->low += step;
  ordered->distance += step < 0 ? -step : step;
}
static bool take_slots(Frame* frame, i64 items, Ordered* ordered) {
  const i64 units = (ordered->distance >> ordered->unit_bits) + 1;
  ordered->is_dense =
      ordered->low != nullptr && units / most_units_of_item <= items && units < most_slots && items < most_slots;
  ordered->capacity = ordered->is_dense ? units : 2;
  while (!ordered->is_dense && ordered->capacity < 2 * items) ordered->capacity *= 2;
  if (ordered->capacity > most_slots) return report(frame, accel_no_memory), false;
  ordered->slots = take_memory(frame, ordered->capacity * (ordered->is_dense ? bytes_of_dense_slot : bytes_of_slot));
  ordered->keys = (unsigned*)take_memory(frame, items * 4);
  return !stopped(frame);
}
static bool take_order(Frame* frame, i64 items, Ordered* ordered) {
  ordered->sorted_keys = (unsigned*)take_memory(frame, items * 4);
  ordered->order = (unsigned*)take_memory(frame, items * 4);
  ordered->sorted_order = (unsigned*)take_memory(frame, items * 4);
  ordered->counts = (i64*)take_memory(frame, tiles_of(items) * digits * 8);
  return !stopped(frame);
}
static void release_ordered(Frame* frame, const Ordered* ordered) {
  void* const all[] = {ordered->slots, ordered->keys,         ordered->sorted_keys,
                       ordered->order, ordered->sorted_order, ordered->counts};
  for (void* memory : all)
    if (memory != nullptr) frame->runtime->release(memory);
}
// The first two kernels: an empty table, and a slot for each address.
static void launch_claims(Frame* frame, int kernel, i64 items, const Ordered* ordered, void** arguments) {
  launch_elements(frame, kernel, ordered->capacity, 1, arguments);
  launch_elements(frame, kernel + 1, items, 1, arguments);
}
// The last item of each address stores.
static void launch_last_stores(Frame* frame, int kernel, i64 items, Ordered* ordered, void** arguments) {
  if (items > 0 && take_slots(frame, items, ordered)) {
    launch_claims(frame, kernel, items, ordered, arguments);
    launch_elements(frame, kernel + 2, items, 1, arguments);
  }
  release_ordered(frame, ordered);
}
// Items are sorted by their addresses, those of one address stay in order; a thread runs them.
static void launch_updates(Frame* frame, int kernel, i64 items, Ordered* ordered, void** arguments) {
  if (items > 0 && take_slots(frame, items, ordered) && take_order(frame, items, ordered)) {
    launch_claims(frame, kernel, items, ordered, arguments);
    const auto has_digit = [=] { return ordered->shift == 0 || (ordered->capacity - 1) >> ordered->shift > 0; };
    for (ordered->shift = 0; has_digit() && !stopped(frame); ordered->shift += digit_bits) {
      start_kernel(frame, kernel + 2, tiles_of(items), block_threads, arguments);
      start_kernel(frame, kernel + 3, 1, block_threads, arguments);
      start_kernel(frame, kernel + 4, tiles_of(items), block_threads, arguments);
      unsigned *const keys = ordered->keys, *const order = ordered->order;
      ordered->keys = ordered->sorted_keys, ordered->order = ordered->sorted_order;
      ordered->sorted_keys = keys, ordered->sorted_order = order;
    }
    launch_elements(frame, kernel + 5, items, 1, arguments);
  }
  release_ordered(frame, ordered);
}
